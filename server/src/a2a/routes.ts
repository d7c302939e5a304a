import { api } from '@baton/protocol'
import { findOwnApp } from '../agent-apps/apps.ts'
import { actorOf } from '../events/record.ts'
import { sendTest } from '../events/test-events.ts'
import { route } from '../http/route.ts'
import { createA2aApp, inspectCard, listTasks, refreshCard, setCredential, testCard } from './apps.ts'

export const a2aRoutes = [
  route(api.inspectA2aCard, ({ ctx, caller, body }) => inspectCard(ctx, caller, body.card_url)),
  route(api.createA2aApp, ({ ctx, caller, body }) => createA2aApp(ctx, caller, body)),
  route(api.refreshA2aCard, ({ ctx, caller, params, body }) =>
    refreshCard(ctx, caller, params.app_id, body.accept ?? false),
  ),
  route(api.setA2aCredential, ({ ctx, caller, params, body }) =>
    setCredential(ctx, caller, params.app_id, body.credential),
  ),
  route(api.listA2aTasks, ({ ctx, caller, params, query }) => listTasks(ctx, caller, params.app_id, query)),
  // Here, because the test depends on the protocol.
  route(api.testAppWebhook, async ({ ctx, caller, params, body }) => {
    const { endpointId, protocol } = await findOwnApp(ctx.db, caller, params.app_id)
    if (protocol === 'a2a') return testCard(ctx, caller, params.app_id)
    return sendTest(ctx, caller.workspaceId, endpointId, actorOf(caller), body)
  }),
]
