import { type ReactNode, useId } from 'react'
import { Failed, Skeletons } from '../ui/states.tsx'

interface Props {
  title: string
  /** Shown to the right of the title. */
  action?: ReactNode
  /** Until it has data, a placeholder or its error is shown instead of the children. */
  query?: { data: unknown; error: unknown; refetch: () => unknown }
  children: ReactNode
}

/** A section of the column next to the sessions. */
export function AsideSection({ title, action, query, children }: Props) {
  const id = useId()
  return (
    <section aria-labelledby={id} className="border-b p-4 last:border-b-0">
      <div className="flex min-h-6 items-center gap-2 pb-1">
        <h2 id={id} className="flex-1 font-semibold">
          {title}
        </h2>
        {action}
      </div>
      {!query || query.data !== undefined ? (
        children
      ) : query.error ? (
        <Failed error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeletons rows={2} className="px-0" />
      )}
    </section>
  )
}
