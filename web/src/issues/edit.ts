import type { Issue, IssueChange } from '@baton/protocol'
import { api, messageOf } from '../api.ts'
import { say } from '../ui/toast.tsx'
import { changeLocally, knownIssue, putIssue } from './store.ts'

/**
 * Changes issues at once on the screen, then on the server. Refused: it is taken back and said why. Done: `done` says
 * what happened, with a way to undo it.
 */
export async function editIssues(ids: readonly string[], change: IssueChange, done?: string): Promise<boolean> {
  const before = ids.map((id) => knownIssue(id)).filter((issue): issue is Issue => issue !== undefined)
  const takeBack = before.map(({ id }) => changeLocally(id, change as Partial<Issue>))
  const outcomes = await Promise.allSettled(before.map(({ id }) => api.updateIssue({ issue_id: id, ...change })))
  let refused: unknown
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') {
      putIssue(outcome.value)
    } else {
      takeBack[index]?.()
      refused = outcome.reason
    }
  }
  if (refused) {
    say(messageOf(refused), { tone: 'bad' })
    return false
  }
  if (done) say(done, { action: { label: 'Undo', run: () => void undo(before, change) } })
  return true
}

const undo = async (before: Issue[], change: IssueChange) => {
  const fields = Object.keys(change) as (keyof IssueChange & keyof Issue)[]
  for (const issue of before) {
    await editIssues([issue.id], Object.fromEntries(fields.map((field) => [field, issue[field]])))
  }
}
