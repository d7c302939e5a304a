import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { knownIssue, refreshIssue, useIssue } from '../../data/issues.ts'
import { IconButton } from '../../ui/button.tsx'
import { StatusIcon, statusLabel } from '../fields/values.tsx'

/** One issue on a line, linked to its page. */
export function IssueLine({ id, onRemove, removeLabel }: { id: string; onRemove?: () => void; removeLabel?: string }) {
  const issue = useIssue(id)
  useEffect(() => {
    if (!knownIssue(id)) void refreshIssue(id).catch(() => {})
  }, [id])
  if (!issue) return null
  return (
    <li className="group/line flex h-8 items-center gap-1 rounded hover:bg-hover">
      <Link
        to="/issue/$code"
        params={{ code: issue.code }}
        className="flex h-full min-w-0 flex-1 items-center gap-2 rounded px-2"
      >
        <StatusIcon status={issue.status} />
        <span className="sr-only">{statusLabel(issue.status)}</span>
        <span className="tabular min-w-13 shrink-0 text-xs text-ink-3">{issue.code}</span>
        <span className="min-w-0 truncate">{issue.title}</span>
      </Link>
      {onRemove && (
        <IconButton
          label={`${removeLabel} ${issue.code}`}
          icon={X}
          onClick={onRemove}
          className="opacity-0 group-hover/line:opacity-100 focus-visible:opacity-100"
        />
      )}
    </li>
  )
}

/** Issues with the same relation. */
export const Group = ({ title, count, children }: { title: string; count?: ReactNode; children: ReactNode }) => (
  <section aria-label={title} className="border-t pt-1">
    <div className="flex h-7 items-center gap-2">
      <h2 className="text-xs font-medium text-ink-2">{title}</h2>
      {count}
    </div>
    <ul className="-mx-2">{children}</ul>
  </section>
)
