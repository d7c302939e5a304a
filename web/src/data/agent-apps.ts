import type { AgentApp, AppSetup, Installation } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, queries, readAll, rereadKey } from './api.ts'
import { useMe } from './me.ts'

export const appsQuery = queryOptions({
  queryKey: ['agent-apps'],
  queryFn: () => readAll('listAgentApps'),
})

export const appQuery = (id: string) =>
  queryOptions({
    queryKey: ['agent-apps', id],
    queryFn: () => api.getAgentApp({ app_id: id }),
    // The live stream does not report listeners, nor that the service disabled the webhook.
    refetchInterval: 5000,
  })

export const installationsQuery = queryOptions({
  queryKey: ['installations'],
  queryFn: () => readAll('listInstallations'),
})

/** Null if it is not installed; undefined while that is loading. */
export function useInstallation(appId: string): Installation | null | undefined {
  const { data } = useQuery(installationsQuery)
  return data && (data.find(({ app_id }) => app_id === appId) ?? null)
}

/** An app that posts thoughts has tokens; an A2A agent needs none. */
const isSetUp = ({ tokens_fetched_at: _, ...steps }: AppSetup) => Object.values(steps).every((at) => at !== null)

/** Polled until the setup is complete. */
export const setupQuery = (id: string) =>
  queryOptions({
    queryKey: ['agent-apps', id, 'setup'],
    queryFn: () => api.getAppSetup({ app_id: id }),
    refetchInterval: ({ state }) => (state.data && isSetUp(state.data) ? false : 2000),
  })

/** What the app's agents reported, by month, and its budget. Reports have no live hint here, so it is polled. */
export const usageQuery = (id: string) =>
  queryOptions({
    queryKey: ['agent-apps', id, 'usage'],
    queryFn: () => api.getAppUsage({ app_id: id }),
    refetchInterval: 30_000,
  })

/** An app is installed through OAuth, maybe in another browser: the polled setup shows it first. */
export function useInstalledElsewhere(appId: string, missingHere: boolean) {
  const installed = Boolean(useQuery(setupQuery(appId)).data?.installed_at)
  useEffect(() => {
    if (installed && missingHere) void queries.invalidateQueries({ queryKey: ['installations'] })
  }, [installed, missingHere])
}

/** Reads all data about apps again. */
export const refreshApps = () => Promise.all([rereadKey('agent-apps'), rereadKey('installations')])

/** The user who registered an app manages its secrets, webhook and deliveries, like managers; other changes are for managers only. */
export function useCanManageApp({ owner_user_id }: Pick<AgentApp, 'owner_user_id'>) {
  const { isManager, user } = useMe()
  return isManager || owner_user_id === user.id
}
