import type {
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  EndpointHealth,
  PingResult,
  Replay,
  TestEvent,
} from '@baton/protocol'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, queries } from './api.ts'
import type { DeliverySearch } from './delivery-search.ts'

/** A receiver of events: the webhook of an agent app, or one of the workspace. Deliveries work the same for both. */
export interface Endpoint {
  kind: 'agent-apps' | 'webhooks'
  /** Id of the app or webhook. */
  id: string
  /** Only `baton listen` receives its deliveries: the URL of the app is a placeholder. */
  usesListener: boolean
  /** Sends a Ping, or the example of an event. */
  test: (event?: TestEvent) => Promise<PingResult>
  enable: () => Promise<unknown>
  disable: () => Promise<unknown>
  health: () => Promise<EndpointHealth>
  deliveries: (query: DeliveryQuery & { agent_session_id?: string }) => Promise<Page>
  delivery: (id: string) => Promise<DeliveryDetail>
  redeliver: (id: string) => Promise<Delivery>
  replays: () => Promise<{ data: Replay[] }>
  startReplay: (wanted: WantedReplay) => Promise<unknown>
  /** How many events a replay would take up. */
  countReplay: (wanted: WantedReplay) => Promise<number>
  stopReplay: (id: string) => Promise<unknown>
}
/** Apps replay failed deliveries only. */
interface WantedReplay {
  since: string
  which: 'failed' | 'missed' | 'all'
}
interface Page {
  data: Delivery[]
  next_cursor: string | null
}

const shownReplays = 5

export const appEndpoint = (id: string, usesListener: boolean): Endpoint => ({
  kind: 'agent-apps',
  id,
  usesListener,
  test: (event) => api.testAppWebhook({ app_id: id, ...event }),
  enable: () => api.enableAppWebhook({ app_id: id }),
  disable: () => api.disableAppWebhook({ app_id: id }),
  health: () => api.getAppWebhookHealth({ app_id: id }),
  deliveries: (query) => api.listAppDeliveries({ app_id: id, ...query }),
  delivery: (delivery_id) => api.getAppDelivery({ app_id: id, delivery_id }),
  redeliver: (delivery_id) => api.redeliverToApp({ app_id: id, delivery_id }),
  replays: () => api.listAppReplays({ app_id: id, limit: shownReplays }),
  startReplay: ({ since }) => api.startAppReplay({ app_id: id, since }),
  countReplay: async ({ since }) => (await api.startAppReplay({ app_id: id, since, dry_run: true })).matched,
  stopReplay: (replay_id) => api.stopAppReplay({ app_id: id, replay_id }),
})

export const webhookEndpoint = (id: string): Endpoint => ({
  kind: 'webhooks',
  id,
  usesListener: false,
  test: (event) => api.testWebhook({ webhook_id: id, ...event }),
  enable: () => api.enableWebhook({ webhook_id: id }),
  disable: () => api.disableWebhook({ webhook_id: id }),
  health: () => api.getWebhookHealth({ webhook_id: id }),
  deliveries: ({ agent_session_id: _, ...query }) => api.listWebhookDeliveries({ webhook_id: id, ...query }),
  delivery: (delivery_id) => api.getWebhookDelivery({ webhook_id: id, delivery_id }),
  redeliver: (delivery_id) => api.redeliverToWebhook({ webhook_id: id, delivery_id }),
  replays: () => api.listWebhookReplays({ webhook_id: id, limit: shownReplays }),
  startReplay: (wanted) => api.startWebhookReplay({ webhook_id: id, ...wanted }),
  countReplay: async (wanted) => (await api.startWebhookReplay({ webhook_id: id, ...wanted, dry_run: true })).matched,
  stopReplay: (replay_id) => api.stopWebhookReplay({ webhook_id: id, replay_id }),
})

/** Poll interval while an attempt is due soon. */
const soonMs = 1500
const laterMs = 15_000

export const healthQuery = (endpoint: Endpoint) =>
  queryOptions({
    queryKey: [endpoint.kind, endpoint.id, 'health'],
    queryFn: endpoint.health,
    refetchInterval: laterMs,
  })

export const replaysQuery = (endpoint: Endpoint) =>
  queryOptions({
    queryKey: [endpoint.kind, endpoint.id, 'replays'],
    queryFn: endpoint.replays,
    select: ({ data }) => data,
    refetchInterval: ({ state }) => (state.data?.data.some((replay) => replay.state === 'running') ? soonMs : laterMs),
  })

/** The next attempt is due within a minute. */
const isDueSoon = ({ status, next_attempt_at }: Pick<Delivery, 'status' | 'next_attempt_at'>) =>
  status === 'pending' && next_attempt_at !== null && Date.parse(next_attempt_at) < Date.now() + 60_000

export const deliveriesQuery = (endpoint: Endpoint, { status, type, agent_session_id }: DeliverySearch) =>
  infiniteQueryOptions({
    queryKey: [endpoint.kind, endpoint.id, 'deliveries', { status, type, agent_session_id }],
    queryFn: ({ pageParam }) =>
      endpoint.deliveries({
        limit: 50,
        ...(status && { status }),
        ...(type && { type }),
        ...(agent_session_id && { agent_session_id }),
        ...(pageParam && { cursor: pageParam }),
      }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: ({ state }) => (state.data?.pages.some(({ data }) => data.some(isDueSoon)) ? soonMs : laterMs),
  })

export const deliveryQuery = (endpoint: Endpoint, id: string, awaited: boolean) =>
  queryOptions({
    queryKey: [endpoint.kind, endpoint.id, 'delivery', id],
    queryFn: () => endpoint.delivery(id),
    staleTime: 0,
    refetchInterval: ({ state }) => (awaited || (state.data && isDueSoon(state.data)) ? soonMs : laterMs),
  })

/** Reads all data about the endpoint again. */
export const refreshEndpoint = ({ kind, id }: Pick<Endpoint, 'kind' | 'id'>) =>
  Promise.all([
    queries.invalidateQueries({ queryKey: [kind, id] }),
    queries.invalidateQueries({ queryKey: [kind], exact: true }),
  ])
