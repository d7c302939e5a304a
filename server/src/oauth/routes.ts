import { type AuthorizeQuery, api } from '@baton/protocol'
import { route, uncached } from '../http/route.ts'
import { authorize } from './authorize.ts'
import { approve, deny, readRequest } from './consent.ts'
import { installApp } from './install.ts'
import { resourceMetadata, serverMetadata } from './metadata.ts'
import { endProgram, listPrograms } from './programs.ts'
import { registerClient } from './register.ts'
import { issueToken, revokeToken } from './token.ts'

export const authorizationOf = (headers: Record<string, string | string[] | undefined>) => {
  const { authorization } = headers
  return typeof authorization === 'string' ? authorization : undefined
}

export const parametersOf = (query: AuthorizeQuery) =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)]),
    ),
  )

export const oauthRoutes = [
  route(api.authorize, ({ ctx, caller, query }) =>
    authorize(ctx, caller, query, `${ctx.config.baseUrl}/oauth/authorize?${parametersOf(query)}`),
  ),
  route(api.issueToken, async ({ ctx, headers, body }) =>
    uncached(await issueToken(ctx, authorizationOf(headers), body)),
  ),
  route(api.revokeToken, async ({ ctx, headers, body }) =>
    uncached(await revokeToken(ctx, authorizationOf(headers), body)),
  ),
  route(api.registerClient, ({ ctx, address, body }) => registerClient(ctx, address, body as Record<string, unknown>)),

  route(api.getServerMetadata, ({ ctx }) => serverMetadata(ctx.config)),
  route(api.getResourceMetadata, ({ ctx }) => resourceMetadata(ctx.config, ctx.config.baseUrl)),
  route(api.getMcpResourceMetadata, ({ ctx }) => resourceMetadata(ctx.config, ctx.config.mcpUrl)),

  route(api.getConsentRequest, ({ ctx, caller, params }) => readRequest(ctx, caller, params.request_id)),
  route(api.approveConsent, ({ ctx, caller, params, body }) => approve(ctx, caller, params.request_id, body)),
  route(api.denyConsent, ({ ctx, caller, params }) => deny(ctx, caller, params.request_id)),

  route(api.installApp, async ({ ctx, caller, params, body }) =>
    uncached(await installApp(ctx, caller, params.app_id, body)),
  ),

  route(api.listPrograms, ({ ctx, caller, query }) => listPrograms(ctx, caller, query)),
  route(api.endProgram, ({ ctx, caller, params }) => endProgram(ctx, caller, params.program_id)),
]
