import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { api, isBatonError } from '../data/api.ts'
import { CenteredPage } from '../login/centered-page.tsx'
import { cx } from '../ui/class-names.ts'
import { Failed, Skeletons } from '../ui/states.tsx'
import { AppConsent } from './app-consent.tsx'
import { ProgramConsent } from './program-consent.tsx'

export function ConsentScreen() {
  const { request: id } = useSearch({ from: '/person/oauth/consent' })
  const { data, error } = useQuery({
    queryKey: ['consent', id],
    queryFn: () => api.getConsentRequest({ request_id: id ?? '' }),
    enabled: id !== undefined,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!id || isBatonError(error, 'RESOURCE_NOT_FOUND')) {
    return (
      <CenteredPage
        title="Request expired"
        hint="A request lasts 10 minutes and works only for the user who started it."
      >
        <p className="text-base text-ink-2">Go back to the app and start again.</p>
      </CenteredPage>
    )
  }
  return (
    <main className="h-full overflow-y-auto bg-canvas">
      <div
        className={cx(
          'mx-auto w-full px-4 py-8 sm:py-12',
          data?.app && data.can_approve ? 'max-w-[920px]' : 'max-w-[620px]',
        )}
      >
        {data ? (
          data.app ? (
            <AppConsent request={data} />
          ) : (
            <ProgramConsent request={data} />
          )
        ) : error ? (
          <Failed error={error} />
        ) : (
          <Skeletons />
        )}
      </div>
    </main>
  )
}
