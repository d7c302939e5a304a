import { useEffect } from 'react'
import { Comments } from '../comments/comments.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { refreshIssue, useIssue } from './store.ts'

/** An issue with everything about it: on a page of its own, or beside a list. */
export function IssueDetail({ code }: { code: string; inPanel?: boolean }) {
  const issue = useIssue(code)
  useEffect(() => void refreshIssue(code), [code])
  if (!issue) return null
  return (
    <div className="space-y-4 p-4">
      <h2 className="text-xl font-semibold">{issue.title}</h2>
      <Markdown text={issue.description} />
      <Comments targetType="issue" targetId={issue.id} />
    </div>
  )
}
