import type { ModelStatus as Status } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { modelQuery } from '../data/agents.ts'
import { Dot, type Tone } from '../ui/pill.tsx'
import { Time } from '../ui/time.tsx'
import { AsideSection } from './aside-section.tsx'

/** What agents inside the service think with, and how it has been answering: for managers. Without one, NoModel says so. */
export function ModelStatus() {
  const { data: status } = useQuery(modelQuery)
  if (!status?.configured) return null
  return (
    <AsideSection title="Language model">
      <Health status={status} />
    </AsideSection>
  )
}

function Health({ status }: { status: Status }) {
  const { model, url_host, last_success_at: success, last_failure_at: failure, last_failure: why } = status
  const failsNow = failure !== null && (success === null || success < failure)
  const tone: Tone = failsNow ? 'bad' : success ? 'ok' : 'neutral'
  return (
    <div className="text-xs text-ink-2">
      <p className="wrap-anywhere">
        <span className="font-medium text-ink">{model}</span> at {url_host}
      </p>
      <p className="flex items-baseline gap-1.5">
        <Dot tone={tone} />
        <span className={failsNow ? 'text-bad-ink' : undefined}>
          {failsNow ? (
            <>
              Fails: {why} · <Time at={failure} />
            </>
          ) : success ? (
            <>
              Answered <Time at={success} />
            </>
          ) : (
            'Has not been asked yet'
          )}
        </span>
      </p>
      {failsNow && success && (
        <p className="pl-3">
          Last answered <Time at={success} />
        </p>
      )}
      {!failsNow && failure && (
        <p className="pl-3 text-ink-3">
          Last failed <Time at={failure} />: {why}
        </p>
      )}
    </div>
  )
}
