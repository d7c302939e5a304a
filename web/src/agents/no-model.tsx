import { useQuery } from '@tanstack/react-query'
import { instanceQuery } from '../data/instance.ts'
import { useMe } from '../data/me.ts'
import { cx } from '../ui/class-names.ts'
import { DocsLink } from '../ui/docs-link.tsx'

/** Notice that personal agents need a language model. Renders nothing if the instance has one. */
export function NoModel({ className }: { className?: string }) {
  const { isManager } = useMe()
  const { data: instance } = useQuery(instanceQuery)
  if (!instance || instance.has_model) return null
  return (
    <p className={cx('rounded border border-warn/40 bg-warn-wash px-2.5 py-1.5 text-xs text-warn-ink', className)}>
      Personal agents need a language model. This instance has none.{' '}
      {isManager ? (
        <DocsLink page="running#settings">How to set one up</DocsLink>
      ) : (
        'Ask your administrator to set one up.'
      )}
    </p>
  )
}
