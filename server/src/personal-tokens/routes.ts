import { api } from '@baton/protocol'
import { route, uncached } from '../http/route.ts'
import {
  createPersonalToken,
  deletePersonalToken,
  deleteTokenOfWorkspace,
  listPersonalTokens,
  listTokensOfWorkspace,
} from './personal-tokens.ts'

export const personalTokenRoutes = [
  route(api.listPersonalTokens, ({ ctx, caller, query }) => listPersonalTokens(ctx, caller, query)),
  route(api.createPersonalToken, async ({ ctx, caller, body }) =>
    uncached(await createPersonalToken(ctx, caller, body)),
  ),
  route(api.deletePersonalToken, ({ ctx, caller, params }) => deletePersonalToken(ctx, caller, params.token_id)),
  route(api.listTokensOfWorkspace, ({ ctx, caller, query }) => listTokensOfWorkspace(ctx, caller, query)),
  route(api.deleteTokenOfWorkspace, ({ ctx, caller, params }) => deleteTokenOfWorkspace(ctx, caller, params.token_id)),
]
