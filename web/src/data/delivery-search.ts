import type { DeliveryQuery } from '@baton/protocol'

export const statuses = [
  'pending',
  'held',
  'succeeded',
  'failed',
  'canceled',
] as const satisfies DeliveryQuery['status'][]
export const eventTypes = [
  'AgentSessionEvent',
  'PermissionChange',
  'OAuthApp',
  'Issue',
  'Comment',
  'Project',
  'Ping',
] as const satisfies DeliveryQuery['type'][]

/** Filters of a list of deliveries, stored in the URL. */
export interface DeliverySearch {
  status?: (typeof statuses)[number]
  type?: (typeof eventTypes)[number]
  agent_session_id?: string
}

export function parseDeliverySearch(search: Record<string, unknown>): DeliverySearch {
  const status = statuses.find((one) => one === search.status)
  const type = eventTypes.find((one) => one === search.type)
  const session = search.agent_session_id
  return {
    ...(status && { status }),
    ...(type && { type }),
    ...(typeof session === 'string' && session && { agent_session_id: session }),
  }
}
