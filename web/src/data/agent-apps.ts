import type { AgentApp, AppSetup, Installation } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, lookAgain, queries, readAll } from './api.ts'
import { useMe } from './me.ts'

export const appsQuery = queryOptions({
  queryKey: ['agent-apps'],
  queryFn: () => readAll('listAgentApps'),
})

export const appQuery = (id: string) =>
  queryOptions({
    queryKey: ['agent-apps', id],
    queryFn: () => api.getAgentApp({ app_id: id }),
    // Who listens, and whether the service disabled it, is told by nobody.
    refetchInterval: 5000,
  })

export const installationsQuery = queryOptions({
  queryKey: ['installations'],
  queryFn: () => readAll('listInstallations'),
})

/** Null: it is not installed. Undefined: that is not known yet. */
export function useInstallation(appId: string): Installation | null | undefined {
  const { data } = useQuery(installationsQuery)
  return data && (data.find(({ app_id }) => app_id === appId) ?? null)
}

const isSetUp = ({ installed_at, first_delivered_at, first_thought_at }: AppSetup) =>
  installed_at !== null && first_delivered_at !== null && first_thought_at !== null

/** Looks again and again until all of it is there. */
export const setupQuery = (id: string) =>
  queryOptions({
    queryKey: ['agent-apps', id, 'setup'],
    queryFn: () => api.getAppSetup({ app_id: id }),
    refetchInterval: ({ state }) => (state.data && isSetUp(state.data) ? false : 2000),
  })

/** It is installed through OAuth, maybe in another browser: the set-up is the first to know. */
export function useInstalledElsewhere(appId: string, unknownHere: boolean) {
  const installed = Boolean(useQuery(setupQuery(appId)).data?.installed_at)
  useEffect(() => {
    if (installed && unknownHere) void queries.invalidateQueries({ queryKey: ['installations'] })
  }, [installed, unknownHere])
}

/** Everything about apps is read again. */
export const refreshApps = () => Promise.all([lookAgain('agent-apps'), lookAgain('installations')])

/** Whoever registered an app looks after its secrets, webhook and deliveries, as managers do; the rest is theirs. */
export function useMayLookAfter({ owner_user_id }: Pick<AgentApp, 'owner_user_id'>) {
  const { isManager, user } = useMe()
  return isManager || owner_user_id === user.id
}
