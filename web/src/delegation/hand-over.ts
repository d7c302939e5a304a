import type { Issue } from '@baton/protocol'
import { api, isBatonError, queries } from '../data/api.ts'
import { knownIssue, putAnswer } from '../data/issues.ts'
import { teamMembersQuery } from '../data/workspaces.ts'
import { messageOf } from '../ui/problem.ts'
import { createStore, useStore } from '../ui/store.ts'
import { say } from '../ui/toast.tsx'

interface HandOver {
  issues: Issue[]
  /** Null takes the issues back. */
  agent: { id: string; name: string } | null
  /** Who stays accountable for those that have nobody. */
  assigneeId?: string | undefined
  me: string
  /** Asks who that is, and begins anew with the answer. */
  askAssignee: (issue: Issue) => void
}

/** Each by itself, so that one refusal does not keep the others; said when all have been answered. */
export async function handOver({ issues, agent, assigneeId, me, askAssignee }: HandOver) {
  const wanted = issues
    .map((issue) => knownIssue(issue.id) ?? issue)
    .filter(({ delegate_id }) => delegate_id !== (agent?.id ?? null))
  const outcomes = await Promise.allSettled(
    wanted.map((issue) =>
      whileHandingOver(issue.id, agent ? 'Handing over…' : 'Taking back…', async () => {
        const assignee_id = issue.assignee_id ?? assigneeId
        if (agent && !assignee_id && (await isOutside(issue, me))) throw new NeedsAssignee(issue)
        await putAnswer(
          api
            .updateIssue({
              issue_id: issue.id,
              delegate_id: agent?.id ?? null,
              ...(agent && !issue.assignee_id && assigneeId && { assignee_id: assigneeId }),
            })
            .catch((error) => {
              throw isBatonError(error, 'DELEGATION_REQUIRES_ASSIGNEE') ? new NeedsAssignee(issue) : error
            }),
        )
      }),
    ),
  )
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  const done = wanted.filter((_, index) => outcomes[index]?.status === 'fulfilled')
  sayDone(done, agent?.name)
  const unowned = refused.find((reason) => reason instanceof NeedsAssignee)
  const problem = refused.find((reason) => !(reason instanceof NeedsAssignee)) ?? (assigneeId ? unowned : undefined)
  if (problem) sayRefused(wanted.length, refused.length, problem)
  else if (unowned) askAssignee(unowned.issue)
}

/** 3.4.3: from outside the team one cannot become the assignee oneself. What cannot be looked up the server will say. */
async function isOutside(issue: Issue, me: string) {
  if (!issue.team_id) return false
  const members = await queries.fetchQuery(teamMembersQuery(issue.team_id)).catch(() => null)
  return members !== null && !members.some(({ id }) => id === me)
}

class NeedsAssignee extends Error {
  readonly issue: Issue
  constructor(issue: Issue) {
    super(`${issue.code} needs an assignee from its team. Choose one, then delegate it.`)
    this.issue = issue
  }
}

function sayDone(done: Issue[], agent: string | undefined) {
  const [first] = done
  const count = done.length
  if (!first) return
  if (count === 1) say(agent ? `${first.code} is with ${agent} now.` : `Took ${first.code} back.`)
  else say(agent ? `${count} issues are with ${agent} now.` : `Took ${count} issues back.`)
}

function sayRefused(asked: number, refused: number, problem: unknown) {
  const why = messageOf(problem)
  say(asked === 1 ? why : `${refused} of ${asked} stay as they were: ${why}`, { tone: 'bad' })
}

/** Issues on their way to an agent: not done before the server says so. By issue, what stands there meanwhile. */
const underWay = createStore<ReadonlyMap<string, string>>(new Map())

async function whileHandingOver<T>(issueId: string, words: string, work: () => Promise<T>): Promise<T> {
  underWay.set(new Map(underWay.get()).set(issueId, words))
  try {
    return await work()
  } finally {
    const rest = new Map(underWay.get())
    rest.delete(issueId)
    underWay.set(rest)
  }
}

/** "Handing over…" while the issue is on its way, else nothing. */
export const useHandingOver = (issueId: string) => useStore(underWay, (issues) => issues.get(issueId))
