import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { api, isBatonError } from '../data/api.ts'
import { Front } from '../login/front.tsx'
import { Failed, Skeletons } from '../ui/states.tsx'
import { AppConsent } from './app-consent.tsx'
import { ProgramConsent } from './program-consent.tsx'

/** Who may touch what: decided here, so everything that matters stands on one page in plain words. */
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
      <Front title="This request is over" hint="Requests to connect last 10 minutes, and belong to whoever began them.">
        <p className="text-base text-ink-2">Go back to where you came from and start again.</p>
      </Front>
    )
  }
  return (
    <main className="h-full overflow-y-auto bg-canvas">
      <div className="mx-auto w-full max-w-[620px] px-4 py-8 sm:py-12">
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
