import type { Issue, IssueChange, IssueUpdate } from '@baton/protocol'
import { api } from '../../data/api.ts'
import { changeLocally, knownIssue, putAnswer } from '../../data/issues.ts'
import { messageOf } from '../../ui/problem.ts'
import { showToast } from '../../ui/toast.tsx'

/** One change for all issues, or a function that computes it for each. */
type Change = IssueUpdate | ((issue: Issue) => IssueUpdate)

/**
 * Changes issues on the screen at once, then on the server, one request each. A refused change is reverted and the
 * reason shown, unless `onRefused` returns true. On success the message `done` is shown with an Undo.
 */
export async function editIssues(
  ids: readonly string[],
  change: Change,
  done?: string,
  onRefused: (error: unknown) => boolean = () => false,
): Promise<boolean> {
  const before = ids.map((id) => knownIssue(id)).filter((issue) => issue !== undefined)
  const edits = before.map((issue) => ({ issue, change: typeof change === 'function' ? change(issue) : change }))
  const outcomes = await Promise.allSettled(
    edits.map(async ({ issue, change }) => {
      const { if_updated_at: _, ...fields } = change
      const settle = changeLocally(issue.id, fields as Partial<Issue>)
      try {
        await putAnswer(api.updateIssue({ issue_id: issue.id, ...change }))
      } finally {
        settle()
      }
    }),
  )
  const accepted = edits.filter((_, index) => outcomes[index]?.status === 'fulfilled')
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  const undoAccepted = () => void undo(accepted)
  if (refused.length > 0 && !onRefused(refused[0])) {
    const why = messageOf(refused[0])
    const message = edits.length === 1 ? why : `${refused.length} of ${edits.length} were not changed: ${why}`
    const others = { undo: undoAccepted, action: { label: 'Undo the others', run: undoAccepted } }
    showToast(message, { tone: 'bad', ...(done && accepted.length > 0 ? others : {}) })
  } else if (done && refused.length === 0) showToast(done, { undo: undoAccepted })
  return refused.length === 0
}

const undo = (edits: { issue: Issue; change: IssueUpdate }[]) => {
  const previous = new Map(
    edits.map(({ issue, change }) => {
      const { if_updated_at: _, ...changed } = change
      const fields = Object.keys(changed) as (keyof IssueChange & keyof Issue)[]
      return [issue.id, Object.fromEntries(fields.map((field) => [field, issue[field]]))]
    }),
  )
  return editIssues([...previous.keys()], ({ id }) => previous.get(id) ?? {})
}
