import { queryOptions } from '@tanstack/react-query'
import { api, queries, readAll } from './api.ts'

export const connectionsQuery = queryOptions({
  queryKey: ['git-connections'],
  queryFn: () => readAll('listGitConnections'),
})

/** The live stream does not report requests of the git host. */
const whileOpenMs = 5000

export const connectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['git-connections', id],
    queryFn: () => api.getGitConnection({ connection_id: id }),
    refetchInterval: whileOpenMs,
  })

export const gitDeliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['git-connections', id, 'deliveries'],
    queryFn: () => readAll('listGitDeliveries', { connection_id: id }),
    refetchInterval: whileOpenMs,
  })

export const automationQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['git-automation', teamId],
    queryFn: () => api.getGitAutomation({ team_id: teamId }),
  })

export const refreshConnections = () => queries.invalidateQueries({ queryKey: ['git-connections'] })

export const whyManagers = 'Git connections change issues of the workspace, so only owners and admins can manage them.'
