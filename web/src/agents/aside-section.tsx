import { type ReactNode, useId } from 'react'
import { Failed, Skeletons } from '../ui/states.tsx'

interface Props {
  title: string
  /** At the right of the title. */
  action?: ReactNode
  /** Until it is there: rows, or why not. */
  waitsFor?: { data: unknown; error: unknown; refetch: () => unknown }
  children: ReactNode
}

/** A part of what stands beside the sessions. */
export function AsideSection({ title, action, waitsFor, children }: Props) {
  const id = useId()
  return (
    <section aria-labelledby={id} className="border-b p-4 last:border-b-0">
      <div className="flex min-h-6 items-center gap-2 pb-1">
        <h2 id={id} className="flex-1 font-semibold">
          {title}
        </h2>
        {action}
      </div>
      {!waitsFor || waitsFor.data !== undefined ? (
        children
      ) : waitsFor.error ? (
        <Failed error={waitsFor.error} onRetry={() => void waitsFor.refetch()} />
      ) : (
        <Skeletons rows={2} className="px-0" />
      )}
    </section>
  )
}
