import type { AgentActivity, AgentSession } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { installationsQuery } from './agent-apps.ts'
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

/** All activities of a session in order. Requests only those after the last known one. */
export const activitiesQuery = (id: string) =>
  queryOptions({
    queryKey: ['activities', id],
    queryFn: async ({ client }): Promise<AgentActivity[]> => {
      const known = client.getQueryData<AgentActivity[]>(['activities', id]) ?? []
      const read = [...known]
      for (;;) {
        const after_seq = read.at(-1)?.seq ?? 0
        const { data, has_more } = await api.listActivities({ session_id: id, after_seq, limit: limits.activitiesPage })
        read.push(...data)
        if (!has_more) return markSuperseded(read)
      }
    },
  })

/** An app's next activity supersedes an ephemeral one; activities read earlier do not have `superseded_by_seq` yet. */
const markSuperseded = (activities: AgentActivity[]) => {
  const next = (from: number) => activities.slice(from + 1).find(({ author }) => author.kind === 'app')?.seq
  return activities.map((activity, index) => {
    const by = activity.ephemeral && activity.superseded_by_seq === null ? next(index) : undefined
    return by === undefined ? activity : { ...activity, superseded_by_seq: by }
  })
}

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

/** The app of the session's agent, and the delivery that announced the session to it. For managers. */
export const createdDeliveryQuery = (session: AgentSession) =>
  queryOptions({
    queryKey: ['session', session.id, 'delivery'],
    queryFn: async () => {
      const installations = await queries.fetchQuery(installationsQuery)
      const appId = installations.find(({ app_user_id }) => app_user_id === session.app_user_id)?.app_id
      if (!appId) return null
      const { data } = await api.listAppDeliveries({
        app_id: appId,
        agent_session_id: session.id,
        limit: limits.pageMax,
      })
      return { appId, deliveryId: data.find(({ action }) => action === 'created')?.id ?? null }
    },
  })
