import type { ReactNode } from 'react'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'

interface Props {
  /** When the figures were counted; null before the first time. Undefined where they are always current. */
  asOf?: string | null
  /** Why there is nothing to show; null if there is something. */
  nothing: string | null
  children: ReactNode
}

/** The charts of a report, or why there are none. */
export function Report({ asOf, nothing, children }: Props) {
  if (asOf === null)
    return <Empty title="Not counted yet">Figures of a new workspace appear here within two minutes.</Empty>
  return (
    <div className="insight-report">
      {nothing ? (
        <Empty title="Nothing in this range">{nothing}</Empty>
      ) : (
        <div className="insight-grid">{children}</div>
      )}
      {asOf && (
        <p className="mt-3 text-xs text-ink-3">
          Counted <Time at={asOf} />. Days are in UTC.
        </p>
      )}
    </div>
  )
}
