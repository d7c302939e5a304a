import { api } from '@baton/protocol'
import { readHealth } from '../delivery/track-record.ts'
import { listDeliveries, readDelivery, redeliver } from '../events/deliveries.ts'
import { listReplays, readReplay, started } from '../events/replay.ts'
import { Reply, route, uncached } from '../http/route.ts'
import {
  deleteApp,
  findOwnApp,
  finishAppRotation,
  listApps,
  readApp,
  registerApp,
  replaceApp,
  rotateAppWebhookSecret,
  rotateClientSecret,
  startAppReplay,
  stopAppReplay,
  switchAppWebhook,
} from './apps.ts'
import { readUsage, setBudget } from './budget.ts'
import { readIcon } from './icon.ts'
import { listInstallations, readInstallation, requestInstall, uninstall, updateCoverage } from './installations.ts'
import { answerAsApp, answerAttempt, listen, listenAsApp } from './listen.ts'
import { servedSchema } from './manifest.ts'
import { readSetup } from './setup.ts'

export const agentAppRoutes = [
  route(api.getManifestSchema, ({ ctx }) => servedSchema(ctx.config)),

  route(api.createAgentApp, async ({ ctx, caller, body }) => uncached(await registerApp(ctx, caller, body))),
  route(api.listAgentApps, ({ ctx, caller, query }) => listApps(ctx, caller, query)),
  route(api.getAgentApp, ({ ctx, caller, params }) => readApp(ctx.db, ctx.clock.now(), caller, params.app_id)),
  route(api.getAppSetup, ({ ctx, caller, params }) => readSetup(ctx, caller, params.app_id)),
  route(api.replaceAgentApp, ({ ctx, caller, params, body }) => replaceApp(ctx, caller, params.app_id, body)),
  route(api.deleteAgentApp, ({ ctx, caller, params }) => deleteApp(ctx, caller, params.app_id)),
  route(api.rotateClientSecret, async ({ ctx, caller, params }) =>
    uncached(await rotateClientSecret(ctx, caller, params.app_id)),
  ),
  route(api.rotateAppWebhookSecret, async ({ ctx, caller, params, body }) =>
    uncached(await rotateAppWebhookSecret(ctx, caller, params.app_id, body)),
  ),
  route(api.finishAppRotation, async ({ ctx, caller, params }) =>
    uncached(await finishAppRotation(ctx, caller, params.app_id)),
  ),

  route(api.enableAppWebhook, ({ ctx, caller, params }) => switchAppWebhook(ctx, caller, params.app_id, 'enabled')),
  route(api.disableAppWebhook, ({ ctx, caller, params }) => switchAppWebhook(ctx, caller, params.app_id, 'disabled')),

  route(api.getAppWebhookHealth, async ({ ctx, caller, params }) => {
    const { endpointId } = await findOwnApp(ctx.db, caller, params.app_id)
    return readHealth(ctx, endpointId)
  }),
  route(api.listAppDeliveries, async ({ ctx, caller, params, query }) => {
    const { endpointId } = await findOwnApp(ctx.db, caller, params.app_id)
    return listDeliveries(ctx, endpointId, query)
  }),
  route(api.getAppDelivery, async ({ ctx, caller, params }) => {
    const { endpointId } = await findOwnApp(ctx.db, caller, params.app_id)
    return readDelivery(ctx, endpointId, params.delivery_id)
  }),
  route(api.redeliverToApp, async ({ ctx, caller, params }) => {
    const { endpointId } = await findOwnApp(ctx.db, caller, params.app_id)
    return redeliver(ctx, endpointId, params.delivery_id)
  }),

  route(api.startAppReplay, async ({ ctx, caller, params, body }) =>
    started(await startAppReplay(ctx, caller, params.app_id, body)),
  ),
  route(api.listAppReplays, async ({ ctx, caller, params, query }) => {
    const { endpointId } = await findOwnApp(ctx.db, caller, params.app_id)
    return listReplays(ctx, endpointId, query)
  }),
  route(api.getAppReplay, async ({ ctx, caller, params }) => {
    const { endpointId } = await findOwnApp(ctx.db, caller, params.app_id)
    return readReplay(ctx.db, endpointId, params.replay_id)
  }),
  route(api.stopAppReplay, ({ ctx, caller, params }) => stopAppReplay(ctx, caller, params.app_id, params.replay_id)),

  route(api.listenToApp, ({ ctx, caller, params, query }) =>
    listen(ctx, caller, params.app_id, query.take_over ?? false),
  ),
  route(api.answerAttempt, ({ ctx, caller, params, body }) =>
    answerAttempt(ctx, caller, { appId: params.app_id, attemptId: params.attempt_id }, body),
  ),

  route(api.listenAsApp, ({ ctx, caller, query }) => listenAsApp(ctx, caller, query.catch_up ?? false)),
  route(api.answerAsApp, ({ ctx, caller, params, body }) => answerAsApp(ctx, caller, params.attempt_id, body)),

  route(api.getAppUsage, ({ ctx, caller, params }) => readUsage(ctx, caller, params.app_id)),
  route(api.setAppBudget, ({ ctx, caller, params, body }) => setBudget(ctx, caller, params.app_id, body)),

  route(api.requestInstall, ({ ctx, caller, params }) => requestInstall(ctx, caller, params.app_id)),
  route(api.listInstallations, ({ ctx, caller, query }) => listInstallations(ctx, caller, query)),
  route(api.getInstallation, ({ ctx, caller, params }) => readInstallation(ctx.db, caller, params.installation_id)),
  route(api.updateInstallation, ({ ctx, caller, params, body }) =>
    updateCoverage(ctx, caller, params.installation_id, body),
  ),
  route(api.deleteInstallation, ({ ctx, caller, params }) => uninstall(ctx, caller, params.installation_id)),

  route(api.getAppIcon, async ({ ctx, params }) => {
    const { type, bytes } = await readIcon(ctx, params.app_id)
    // The image comes from a third party: the browser must not run anything in it.
    const inert = { 'content-security-policy': "default-src 'none'", 'x-content-type-options': 'nosniff' }
    return new Reply(bytes, { 'content-type': type, 'cache-control': 'public, max-age=3600', ...inert })
  }),
]
