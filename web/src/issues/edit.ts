import type { Issue, IssueChange } from '@baton/protocol'
import { api, messageOf } from '../api.ts'
import { say } from '../ui/toast.tsx'
import { changeLocally, knownIssue, putIssue } from './store.ts'

/** The same for all of them, or what each of them needs. */
type Change = IssueChange | ((issue: Issue) => IssueChange)

/**
 * Changes issues at once on the screen, then on the server. Refused: it is taken back and said why. Done: `done` says
 * what happened, with a way to undo it.
 */
export async function editIssues(ids: readonly string[], change: Change, done?: string): Promise<boolean> {
  const before = ids.map((id) => knownIssue(id)).filter((issue) => issue !== undefined)
  const edits = before.map((issue) => ({ issue, change: typeof change === 'function' ? change(issue) : change }))
  let refused: unknown
  await Promise.all(
    edits.map(async ({ issue, change }) => {
      const settle = changeLocally(issue.id, change as Partial<Issue>)
      try {
        putIssue(await api.updateIssue({ issue_id: issue.id, ...change }))
      } catch (error) {
        refused = error
      }
      settle()
    }),
  )
  if (refused) {
    say(messageOf(refused), { tone: 'bad' })
    return false
  }
  if (done) say(done, { undo: () => void undo(edits) })
  return true
}

const undo = (edits: { issue: Issue; change: IssueChange }[]) => {
  const were = new Map(
    edits.map(({ issue, change }) => {
      const fields = Object.keys(change) as (keyof IssueChange & keyof Issue)[]
      return [issue.id, Object.fromEntries(fields.map((field) => [field, issue[field]]))]
    }),
  )
  return editIssues([...were.keys()], ({ id }) => were.get(id) ?? {})
}
