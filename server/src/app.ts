import { api } from '@baton/protocol'
import type { FastifyInstance } from 'fastify'
import { a2aRoutes } from './a2a/routes.ts'
import { agentAppRoutes } from './agent-apps/routes.ts'
import { agentSessionRoutes } from './agent-sessions/routes.ts'
import { sessionStreamRoutes } from './agent-sessions/stream.ts'
import { agentRoutes } from './agents/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import { automationRoutes } from './automations/routes.ts'
import { automationHooks } from './automations/triggers.ts'
import { commentRoutes } from './comments/routes.ts'
import type { Context } from './context.ts'
import { deleteTeamRoutes } from './delete-team.ts'
import { deletionRoutes } from './deletion/routes.ts'
import { docsRoutes, missingPage } from './docs/routes.ts'
import { exportRoutes } from './exports/routes.ts'
import { watchService } from './figures.ts'
import { fileRoutes } from './files/routes.ts'
import { gitRoutes } from './git/routes.ts'
import { allOf } from './hooks.ts'
import type { Timeouts } from './http/arrival.ts'
import { Door } from './http/invoke.ts'
import { Metrics } from './http/metrics.ts'
import { createHttpServer } from './http/server.ts'
import { importRoutes } from './imports/routes.ts'
import { inboxRoutes } from './inbox/routes.ts'
import { insightRoutes } from './insights/routes.ts'
import { issueRoutes } from './issues/routes.ts'
import { linearRoutes } from './linear/routes.ts'
import { Live } from './live/live.ts'
import { liveRoutes } from './live/routes.ts'
import { resolveCaller } from './login/caller.ts'
import { loginRoutes } from './login/routes.ts'
import { mailRoutes } from './mail/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { accountDeletionRoutes } from './operate/routes.ts'
import { packageRoutes } from './packages.ts'
import { passkeyRoutes } from './passkeys/routes.ts'
import { personalTokenRoutes } from './personal-tokens/routes.ts'
import { planningRoutes } from './planning/routes.ts'
import { projectRoutes } from './projects/routes.ts'
import { relatedRoutes } from './related.ts'
import { reviewHooks } from './reviews/hooks.ts'
import { reviewRoutes } from './reviews/routes.ts'
import { type Lifecycle, serviceOperations, serviceRoutes, version } from './service.ts'
import { recordBreakGlass } from './sso/break-glass.ts'
import { Issuers } from './sso/issuers.ts'
import { ssoRoutes } from './sso/routes.ts'
import { suggestionHooks } from './suggestions/hooks.ts'
import { suggestionRoutes } from './suggestions/routes.ts'
import { templateRoutes } from './templates/routes.ts'
import { viewRoutes } from './views/routes.ts'
import type { WebFiles } from './web/files.ts'
import { webPage } from './web/web.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import { workspaceRoutes } from './workspaces/routes.ts'

/** What features do in the transactions of others. */
export const hooks = allOf([suggestionHooks, reviewHooks, automationHooks])

/** Mounts every feature. */
export async function createApp(
  ctx: Context,
  lifecycle: Lifecycle,
  metrics = new Metrics(),
  web: WebFiles | null = null,
  timeouts?: Timeouts,
): Promise<{ http: FastifyInstance; door: Door; live: Live }> {
  ctx.hooks ??= hooks
  const live = new Live(ctx.db, ctx.clock, ctx.log)
  const issuers = new Issuers(ctx)
  const door: Door = new Door(ctx, api, [
    ...serviceRoutes(ctx, metrics, lifecycle, web, issuers),
    ...docsRoutes,
    ...packageRoutes,
    ...loginRoutes(recordBreakGlass(ctx.keys)),
    ...ssoRoutes(issuers),
    ...passkeyRoutes,
    ...personalTokenRoutes,
    ...mailRoutes,
    ...workspaceRoutes,
    ...auditRoutes,
    ...inboxRoutes,
    ...liveRoutes(live),
    ...planningRoutes,
    ...viewRoutes,
    ...templateRoutes,
    ...automationRoutes,
    ...issueRoutes,
    ...projectRoutes,
    ...commentRoutes,
    ...suggestionRoutes,
    ...reviewRoutes,
    ...fileRoutes,
    ...insightRoutes,
    ...gitRoutes,
    ...importRoutes,
    ...exportRoutes,
    ...relatedRoutes,
    ...webhookRoutes,
    ...agentAppRoutes,
    ...a2aRoutes,
    ...deleteTeamRoutes,
    ...deletionRoutes,
    ...accountDeletionRoutes,
    ...agentRoutes,
    ...agentSessionRoutes,
    ...sessionStreamRoutes(live),
    ...oauthRoutes,
    ...linearRoutes(() => door),
    ...mcpRoutes(() => door),
  ])
  metrics.gauge('baton_live_watchers', 'Browsers connected to the live stream of a workspace', [], () => [
    { value: live.watching },
  ])
  watchService(ctx, metrics, { version, isStopping: () => lifecycle.stopping })
  const worker = ctx.config.role === 'worker'
  const http = await createHttpServer({
    ctx,
    door,
    operations: worker ? serviceOperations : Object.values(api),
    metrics,
    resolveCaller: (...args) => resolveCaller(ctx, ...args),
    findPage: (request) => (web && !worker ? webPage(web, request) : undefined),
    findMissingPage: async (request) => (worker ? undefined : missingPage(request)),
    timeouts,
  })
  http.addHook('onClose', () => live.stop())
  return { http, door, live }
}
