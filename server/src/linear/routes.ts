import { api } from '@baton/protocol'
import type { Door } from '../http/invoke.ts'
import { route, uncached } from '../http/route.ts'
import { refuseOtherOrigin } from '../login/origin.ts'
import { authorize } from '../oauth/authorize.ts'
import { authorizationOf, parametersOf } from '../oauth/routes.ts'
import { issueLinearToken, revokeLinearToken } from './oauth.ts'

export const linearRoutes = (door: () => Door) => [
  route(api.linearGraphql, async ({ ctx, caller, body, headers, address }) => {
    // Also with a token, to prevent DNS rebinding.
    refuseOtherOrigin(headers.origin, ctx.config)
    // Loaded at the first use: most instances have no app that needs it.
    const { answerGraphql } = await import('./graphql.ts')
    return answerGraphql(ctx, door(), caller, body, address)
  }),
  route(api.linearAuthorize, ({ ctx, caller, query }) =>
    authorize(ctx, caller, query, `${ctx.config.rootUrl}/linear/oauth/authorize?${parametersOf(query)}`, 'linear'),
  ),
  route(api.linearToken, async ({ ctx, headers, body }) =>
    uncached(await issueLinearToken(ctx, authorizationOf(headers), body)),
  ),
  route(api.linearRevoke, async ({ ctx, headers, body }) =>
    uncached(await revokeLinearToken(ctx, authorizationOf(headers), body)),
  ),
]
