import type { ConsentRequest } from '@baton/protocol'
import { Avatar } from '../ui/avatar.tsx'

/** The requesting app or program, its developer, and the host the browser returns to. */
export function ConsentHeader({ request, title }: { request: ConsentRequest; title: string }) {
  const { app, client_name, developer, redirect_host, compat } = request
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
                  <bdi>{developer.name}</bdi>
                </a>
              ) : (
                <bdi>{developer.name}</bdi>
              )}
              {' · '}
            </>
          )}
          {compat === 'linear' && <>uses Linear’s API{' · '}</>}
          returns to <strong className="font-semibold text-ink">{redirect_host}</strong>
        </p>
      </div>
    </header>
  )
}
