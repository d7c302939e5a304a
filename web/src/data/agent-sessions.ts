import type { AgentSession } from '@baton/protocol'
import { type QueryKey, queryOptions, useQuery } from '@tanstack/react-query'
import { api, isBatonError, queries, readAll } from './api.ts'

export const sessionQuery = (id: string) =>
  queryOptions({ queryKey: ['session', id], queryFn: () => api.getAgentSession({ session_id: id }) })

const newest = 500

/** The newest sessions of the workspace, for chips on rows and the agents screen. */
export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => readAll('listAgentSessions', {}, newest),
})

/** All sessions that need input, however old. */
export const waitingSessionsQuery = queryOptions({
  queryKey: ['sessions', 'waiting'],
  queryFn: () => readAll('listAgentSessions', { state: 'awaitingInput' }, 500),
})

export const issueSessionsQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['sessions', 'issue', issueId],
    queryFn: () => readAll('listAgentSessions', { issue_id: issueId }),
  })

const none = new Map<string, AgentSession>()
/** `sessions` are sorted newest first. */
const latestByIssue = (sessions: AgentSession[]) => {
  const latest = new Map<string, AgentSession>()
  for (const session of sessions) {
    if (session.issue && !latest.has(session.issue.id)) latest.set(session.issue.id, session)
  }
  return latest
}

/** The latest session of each issue that has one. */
export const useLatestSessions = () => useQuery({ ...sessionsQuery, select: latestByIssue }).data ?? none

/** Reads a session again, and its activities if they are on the screen. */
export async function refreshSession(id: string) {
  const session = await api.getAgentSession({ session_id: id }).catch((error) => {
    if (isBatonError(error, 'RESOURCE_NOT_FOUND')) return null
    throw error
  })
  if (session) queries.setQueryData(['session', id], session)
  // Each list by itself: the one of its issue may have been read since the session began.
  for (const [queryKey, sessions] of queries.getQueriesData<AgentSession[]>({ queryKey: ['sessions'] })) {
    if (sessions?.some((one) => one.id === id)) {
      const after = sessions.flatMap((one) => (one.id === id ? (session ?? []) : one))
      queries.setQueryData(queryKey, after)
    } else if (session && belongs(session, queryKey, sessions)) {
      await queries.invalidateQueries({ queryKey, exact: true })
    }
  }
  await queries.refetchQueries({ queryKey: ['activities', id], type: 'active' })
}

/** Whether a list that has not got the session should be read again. */
function belongs({ id, state, issue }: AgentSession, [, kind, issueId]: QueryKey, sessions: AgentSession[] = []) {
  if (kind === 'issue') return issue?.id === issueId
  if (kind === 'waiting') return state === 'awaitingInput'
  const oldest = sessions[newest - 1]
  return !oldest || id > oldest.id
}
