import type { AgentSession } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, isBatonError, queries, readAll } from './api.ts'

export const sessionQuery = (id: string) =>
  queryOptions({ queryKey: ['session', id], queryFn: () => api.getAgentSession({ session_id: id }) })

/** The newest sessions of the workspace, for chips on rows and the agents screen. */
export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => readAll('listAgentSessions', {}, 500),
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
  let isNew = true
  queries.setQueriesData<AgentSession[]>({ queryKey: ['sessions'] }, (sessions) => {
    if (!sessions?.some((one) => one.id === id)) return sessions
    isNew = false
    return session ? sessions.map((one) => (one.id === id ? session : one)) : sessions.filter((one) => one.id !== id)
  })
  if (isNew && session) await queries.invalidateQueries({ queryKey: ['sessions'] })
  await queries.refetchQueries({ queryKey: ['activities', id], type: 'active' })
}
