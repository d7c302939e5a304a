import { useIssue } from './store.ts'

export function IssueDetail({ code }: { code: string; inPanel?: boolean }) {
  return <div className="p-4">{useIssue(code)?.title}</div>
}
