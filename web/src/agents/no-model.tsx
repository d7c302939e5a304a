import { useQuery } from '@tanstack/react-query'
import { instanceQuery } from '../data/instance.ts'
import { useMe } from '../data/me.ts'
import { cx } from '../ui/class-names.ts'

/** That personal agents cannot work yet, and what to do about it; nothing while they can. */
export function NoModel({ className }: { className?: string }) {
  const { isManager } = useMe()
  const { data: instance } = useQuery(instanceQuery)
  if (!instance || instance.has_model) return null
  return (
    <p className={cx('rounded border border-warn/40 bg-warn-wash px-2.5 py-1.5 text-xs text-warn-ink', className)}>
      Personal agents need a language model, and this instance has none yet.{' '}
      {isManager ? (
        <a
          href="/docs/running#settings"
          target="_blank"
          rel="noreferrer"
          className="font-medium underline underline-offset-2"
        >
          Which settings it takes
        </a>
      ) : (
        'Ask whoever runs it to set one up.'
      )}
    </p>
  )
}
