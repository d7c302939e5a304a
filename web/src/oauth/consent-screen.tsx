import type { ConsentRequest } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { api, isBatonError } from '../data/api.ts'
import { Front } from '../login/front.tsx'
import { Avatar } from '../ui/avatar.tsx'
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

/** Who asks, who made it, and where the browser goes afterwards. */
export function Asking({ request, title }: { request: ConsentRequest; title: string }) {
  const { app, client_name, developer, redirect_host } = request
  return (
    <header className="flex items-start gap-4">
      <Avatar name={app?.name ?? client_name} agent src={app?.icon} size={48} />
      <div className="min-w-0">
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {app?.description && <p className="text-base text-ink-2">{app.description}</p>}
        <p className="mt-1 text-ink-2">
          {developer && (
            <>
              Made by{' '}
              {developer.url ? (
                <a
                  href={developer.url}
                  target="_blank"
                  rel="noreferrer noopener"
                  className="underline underline-offset-2"
                >
                  {developer.name}
                </a>
              ) : (
                developer.name
              )}
              {' · '}
            </>
          )}
          returns to <strong className="font-semibold text-ink">{redirect_host}</strong>
        </p>
      </div>
    </header>
  )
}
