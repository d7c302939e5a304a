import type { Issue } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useState } from 'react'
import { api } from '../../data/api.ts'
import { putIssue } from '../../data/issues.ts'
import { useAction } from '../../ui/action.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import { showToast } from '../../ui/toast.tsx'
import { PriorityIcon, StatusIcon } from '../fields/values.tsx'
import { pastedIssues } from './pasted-issues.ts'

interface Props {
  parent: Issue
  text: string
  onClose: () => void
}

const countOf = (count: number) => (count === 1 ? '1 sub-issue' : `${count} sub-issues`)

/** The issues in pasted text, of which those that are checked become sub-issues. */
export default function PastePreview({ parent, text, onClose }: Props) {
  const [all] = useState(() => pastedIssues(text))
  const issues = all.slice(0, limits.batchIssues)
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set())
  const chosen = issues.filter((_, index) => !left.has(index))
  const toggle = (index: number) => {
    const next = new Set(left)
    if (!next.delete(index)) next.add(index)
    setLeft(next)
  }
  const { run, busy, problem } = useAction(async () => {
    const { id, team_id, project_id, personal } = parent
    const { data } = await api.createIssues({
      issues: chosen.map((issue) => ({
        ...issue,
        parent_id: id,
        ...(team_id && { team_id }),
        ...(project_id && { project_id }),
        ...(personal && { personal }),
      })),
    })
    data.forEach(putIssue)
    showToast(`${countOf(data.length)} created`)
    onClose()
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title="Create sub-issues"
      description={`From the text that you pasted into ${parent.code}.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={busy} disabled={chosen.length === 0} onClick={() => void run()}>
            Create {countOf(chosen.length)}
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        {all.length > issues.length && (
          <Notice tone="warn">
            Only the first {limits.batchIssues} of {all.length} lines can be created at once.
          </Notice>
        )}
        <ul aria-label="Sub-issues" className="divide-y rounded border">
          {issues.map((issue, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines keep their order
            <li key={index}>
              <label className="flex items-start gap-2.5 px-3 py-1.5 hover:bg-hover">
                <input
                  type="checkbox"
                  checked={!left.has(index)}
                  onChange={() => toggle(index)}
                  className="mt-0.5 size-4 shrink-0 accent-(--accent-ink)"
                />
                <span className="mt-0.5 flex gap-1.5">
                  <StatusIcon status={issue.status ?? 'backlog'} />
                  {issue.priority && <PriorityIcon priority={issue.priority} />}
                </span>
                <span className="min-w-0">
                  <span className="block break-words">{issue.title}</span>
                  {issue.description && (
                    <span className="line-clamp-2 block text-xs break-words text-ink-3">{issue.description}</span>
                  )}
                </span>
              </label>
            </li>
          ))}
        </ul>
        {problem && <Notice tone="bad">{problem}</Notice>}
      </div>
    </Dialog>
  )
}
