import type { Issue } from '@baton/protocol'
import { issueSessionsQuery } from '../data/agent-sessions.ts'
import { api, isBatonError, queries } from '../data/api.ts'
import { knownIssue, putAnswer } from '../data/issues.ts'
import { teamMembersQuery } from '../data/workspaces.ts'
import { isolated } from '../ui/isolated.ts'
import { messageOf } from '../ui/problem.ts'
import { createStore, useStore } from '../ui/store.ts'
import { showToast } from '../ui/toast.tsx'
import { anchorOf, revealSession } from './reveal.ts'

interface Delegation {
  issues: Issue[]
  /** Null removes the delegation. */
  agent: { id: string; name: string } | null
  /** Assignee for the issues that have none. */
  assigneeId?: string | undefined
  me: string
  /** Lets the user choose an assignee, then delegates again. */
  askAssignee: (issue: Issue) => void
}

/** One request per issue, so that a refusal does not affect the others. Messages appear after the last answer. */
export async function delegateIssues({ issues, agent, assigneeId, me, askAssignee }: Delegation) {
  const toChange = issues
    .map((issue) => knownIssue(issue.id) ?? issue)
    .filter(({ delegate_id }) => delegate_id !== (agent?.id ?? null))
  const outcomes = await Promise.allSettled(
    toChange.map((issue) =>
      whilePending(issue.id, agent ? 'Delegating…' : 'Removing delegation…', async () => {
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
  const done = toChange.filter((_, index) => outcomes[index]?.status === 'fulfilled')
  await showDone(done, toChange.length, agent)
  const unowned = refused.find((reason) => reason instanceof NeedsAssignee)
  const problem = refused.find((reason) => !(reason instanceof NeedsAssignee)) ?? (assigneeId ? unowned : undefined)
  if (problem) showRefused(toChange.length, refused.length, problem)
  else if (unowned) askAssignee(unowned.issue)
}

/** Users outside the team cannot become the assignee. If the lookup fails, the server decides. */
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

async function showDone(done: Issue[], requested: number, agent: Delegation['agent']) {
  const [first] = done
  if (!first) return
  if (requested === 1) {
    if (!agent) return showToast('Delegation removed')
    const sessionId = await openedSession(first.id, agent.id)
    if (sessionId) revealSession(sessionId)
    const link = sessionId && {
      label: 'View session',
      href: `/issue/${knownIssue(first.id)?.code ?? first.code}#${anchorOf(sessionId)}`,
    }
    return showToast(`Delegated to ${isolated(agent.name)}`, link ? { link } : {})
  }
  const issues = done.length === 1 ? first.code : `${done.length} issues`
  showToast(agent ? `${issues} delegated to ${isolated(agent.name)}` : `${issues}: delegation removed`)
}

/** The session that the delegation opened. Without it the message has no link. */
async function openedSession(issueId: string, agentId: string) {
  const sessions = await queries.fetchQuery({ ...issueSessionsQuery(issueId), staleTime: 0 }).catch(() => [])
  return sessions.find(({ app_user_id, ended_at, comment }) => app_user_id === agentId && !ended_at && !comment)?.id
}

function showRefused(asked: number, refused: number, problem: unknown) {
  const why = messageOf(problem)
  showToast(asked === 1 ? why : `${refused} of ${asked} issues not changed: ${why}`, { tone: 'bad' })
}

/** Requests without an answer yet: the text to show, by issue id. */
const pending = createStore<ReadonlyMap<string, string>>(new Map())

async function whilePending<T>(issueId: string, text: string, work: () => Promise<T>): Promise<T> {
  pending.set(new Map(pending.get()).set(issueId, text))
  try {
    return await work()
  } finally {
    const rest = new Map(pending.get())
    rest.delete(issueId)
    pending.set(rest)
  }
}

/** "Delegating…" while the request runs, else undefined. */
export const usePendingDelegation = (issueId: string) => useStore(pending, (issues) => issues.get(issueId))
