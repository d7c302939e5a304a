import type { ModelStatus as Status } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { modelQuery } from '../data/agents.ts'
import { Dot, type Tone } from '../ui/pill.tsx'
import { Time } from '../ui/time.tsx'
import { AsideSection } from './aside-section.tsx'

/** The language model of built-in and personal agents and its health, for managers. NoModel is shown if there is none. */
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
  const { model, url_host, last_success_at: success, last_failure_at: failure, last_failure: reason } = status
  const isFailing = failure !== null && (success === null || success < failure)
  const tone: Tone = isFailing ? 'bad' : success ? 'ok' : 'neutral'
  return (
    <div className="text-xs text-ink-2">
      <p className="wrap-anywhere">
        <span className="font-medium text-ink">{model}</span> at {url_host}
      </p>
      <p className="flex items-baseline gap-1.5">
        <Dot tone={tone} />
        <span className={isFailing ? 'text-bad-ink' : undefined}>
          {isFailing ? (
            <>
              Failing: {reason} · <Time at={failure} />
            </>
          ) : success ? (
            <>
              Answered <Time at={success} />
            </>
          ) : (
            'Not used yet'
          )}
        </span>
      </p>
      {isFailing && success && (
        <p className="pl-3">
          Last answered <Time at={success} />
        </p>
      )}
      {!isFailing && failure && (
        <p className="pl-3 text-ink-3">
          Last failed <Time at={failure} />: {reason}
        </p>
      )}
    </div>
  )
}
