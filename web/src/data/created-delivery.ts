import type { AgentSession } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { queryOptions } from '@tanstack/react-query'
import { installationsQuery } from './agent-apps.ts'
import { api, queries } from './api.ts'

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
