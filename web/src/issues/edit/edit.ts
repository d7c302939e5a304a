import type { Issue, IssueChange } from '@baton/protocol'
import { api } from '../../data/api.ts'
import { changeLocally, knownIssue, putAnswer } from '../../data/issues.ts'
import { messageOf } from '../../ui/problem.ts'
import { say } from '../../ui/toast.tsx'

/** The same for all of them, or what each of them needs. */
type Change = IssueChange | ((issue: Issue) => IssueChange)

// What goes with a project or a team is named in the change, so that undoing it brings that back too.

export const toProject = (issue: Issue, project_id: string | null): IssueChange =>
  project_id === issue.project_id ? { project_id } : { project_id, milestone_id: null }

export const toTeam = (issue: Issue, team_id: string): IssueChange =>
  team_id === issue.team_id ? { team_id } : { team_id, personal: false, cycle_id: null }

/**
 * Changes issues at once on the screen, then on the server, each by itself. Refused: it is taken back and said why.
 * Done: `done` says what happened, with a way to undo it.
 */
export async function editIssues(ids: readonly string[], change: Change, done?: string): Promise<boolean> {
  const before = ids.map((id) => knownIssue(id)).filter((issue) => issue !== undefined)
  const edits = before.map((issue) => ({ issue, change: typeof change === 'function' ? change(issue) : change }))
  const outcomes = await Promise.allSettled(
    edits.map(async ({ issue, change }) => {
      const settle = changeLocally(issue.id, change as Partial<Issue>)
      try {
        await putAnswer(api.updateIssue({ issue_id: issue.id, ...change }))
      } finally {
        settle()
      }
    }),
  )
  const taken = edits.filter((_, index) => outcomes[index]?.status === 'fulfilled')
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  const undoTaken = () => void undo(taken)
  if (refused.length > 0) {
    const why = messageOf(refused[0])
    const words = edits.length === 1 ? why : `${refused.length} of ${edits.length} stay as they were: ${why}`
    const others = { undo: undoTaken, action: { label: 'Undo the others', run: undoTaken } }
    say(words, { tone: 'bad', ...(done && taken.length > 0 ? others : {}) })
  } else if (done) say(done, { undo: undoTaken })
  return refused.length === 0
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
