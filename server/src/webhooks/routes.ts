import { api } from '@baton/protocol'
import { readEndpoint } from '../delivery/endpoints.ts'
import { readHealth } from '../delivery/track-record.ts'
import { listDeliveries, readDelivery, redeliver } from '../events/deliveries.ts'
import { actorOf } from '../events/record.ts'
import { listReplays, readReplay, started } from '../events/replay.ts'
import { sendTest } from '../events/test-events.ts'
import { route, uncached } from '../http/route.ts'
import {
  createWebhook,
  deleteWebhook,
  finishWebhookRotation,
  listWebhooks,
  rotateWebhookSecret,
  showSecret,
  startWebhookReplay,
  stopWebhookReplay,
  switchWebhook,
  updateWebhook,
} from './webhooks.ts'

export const webhookRoutes = [
  route(api.listWebhooks, ({ ctx, caller, query }) => listWebhooks(ctx, caller, query)),
  route(api.createWebhook, async ({ ctx, caller, body }) => uncached(await createWebhook(ctx, caller, body))),
  route(api.getWebhook, ({ ctx, caller, params }) => readEndpoint(ctx.db, caller.workspaceId, params.webhook_id)),
  route(api.updateWebhook, ({ ctx, caller, params, body }) => updateWebhook(ctx, caller, params.webhook_id, body)),
  route(api.deleteWebhook, ({ ctx, caller, params }) => deleteWebhook(ctx, caller, params.webhook_id)),
  route(api.getWebhookSecret, async ({ ctx, caller, params }) =>
    uncached(await showSecret(ctx, caller, params.webhook_id)),
  ),
  route(api.rotateWebhookSecret, async ({ ctx, caller, params, body }) =>
    uncached(await rotateWebhookSecret(ctx, caller, params.webhook_id, body)),
  ),
  route(api.finishWebhookRotation, async ({ ctx, caller, params }) =>
    uncached(await finishWebhookRotation(ctx, caller, params.webhook_id)),
  ),
  route(api.testWebhook, async ({ ctx, caller, params, body }) => {
    await readEndpoint(ctx.db, caller.workspaceId, params.webhook_id)
    return sendTest(ctx, caller.workspaceId, params.webhook_id, actorOf(caller), body)
  }),
  route(api.enableWebhook, ({ ctx, caller, params }) => switchWebhook(ctx, caller, params.webhook_id, 'enabled')),
  route(api.disableWebhook, ({ ctx, caller, params }) => switchWebhook(ctx, caller, params.webhook_id, 'disabled')),

  route(api.getWebhookHealth, async ({ ctx, caller, params }) => {
    await readEndpoint(ctx.db, caller.workspaceId, params.webhook_id)
    return readHealth(ctx, params.webhook_id)
  }),
  route(api.listWebhookDeliveries, async ({ ctx, caller, params, query }) => {
    await readEndpoint(ctx.db, caller.workspaceId, params.webhook_id)
    return listDeliveries(ctx, params.webhook_id, query)
  }),
  route(api.getWebhookDelivery, async ({ ctx, caller, params }) => {
    await readEndpoint(ctx.db, caller.workspaceId, params.webhook_id)
    return readDelivery(ctx, params.webhook_id, params.delivery_id)
  }),
  route(api.redeliverToWebhook, async ({ ctx, caller, params }) => {
    await readEndpoint(ctx.db, caller.workspaceId, params.webhook_id)
    return redeliver(ctx, params.webhook_id, params.delivery_id)
  }),

  route(api.startWebhookReplay, async ({ ctx, caller, params, body }) =>
    started(await startWebhookReplay(ctx, caller, params.webhook_id, body)),
  ),
  route(api.listWebhookReplays, async ({ ctx, caller, params, query }) => {
    await readEndpoint(ctx.db, caller.workspaceId, params.webhook_id)
    return listReplays(ctx, params.webhook_id, query)
  }),
  route(api.getWebhookReplay, async ({ ctx, caller, params }) => {
    await readEndpoint(ctx.db, caller.workspaceId, params.webhook_id)
    return readReplay(ctx.db, params.webhook_id, params.replay_id)
  }),
  route(api.stopWebhookReplay, ({ ctx, caller, params }) =>
    stopWebhookReplay(ctx, caller, params.webhook_id, params.replay_id),
  ),
]
