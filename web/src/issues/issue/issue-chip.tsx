import { useNavigate } from '@tanstack/react-router'
import { CircleDot } from 'lucide-react'
import { useIssue, useLoadIssues } from '../../data/issues.ts'
import type { IssueLinkProps } from '../../ui/markdown-issue-link.ts'
import { StatusIcon, statusLabel } from '../fields/values.tsx'

/** A link to an issue in a text: a chip with the issue's current status. */
export function IssueChip({ code, path, text }: IssueLinkProps) {
  const navigate = useNavigate()
  useLoadIssues()
  const issue = useIssue(code)
  return (
    <a
      href={path}
      title={issue && `${issue.code} ${issue.title}`}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        void navigate({ href: path })
      }}
      className="chip"
    >
      {issue ? (
        <>
          <StatusIcon status={issue.status} />
          <span className="sr-only">{statusLabel(issue.status)}: </span>
        </>
      ) : (
        <CircleDot size={14} aria-hidden className="text-ink-3" />
      )}
      <span className="truncate">{text ?? (issue ? `${issue.code} ${issue.title}` : code)}</span>
    </a>
  )
}
