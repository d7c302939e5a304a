import { api } from '@baton/protocol'
import { Reply, route } from '../http/route.ts'
import { loginCookie } from '../login/cookie.ts'
import { refuseOtherOrigin } from '../login/origin.ts'
import { deviceOf } from '../login/routes.ts'
import { browserCookie, browserOf, startSso } from './attempts.ts'
import { endLoginsByProvider } from './back-channel.ts'
import { finishSso } from './callback.ts'
import { unlinkIdentity } from './identities.ts'
import type { Issuers } from './issuers.ts'

export const ssoRoutes = (issuers: Issuers) => [
  route(api.startSso, async ({ ctx, caller, params, body, headers, address }) => {
    // A page at another address could otherwise sign a visitor in to an account of its own.
    refuseOtherOrigin(headers.origin, ctx.config)
    const request = { providerId: params.provider_id, cookie: browserOf(headers.cookie), address }
    const { redirectTo, browser } = await startSso(ctx, issuers, caller, request, body)
    return new Reply({ redirect_to: redirectTo }, { 'set-cookie': browserCookie(ctx.config, browser) })
  }),

  route(api.ssoCallback, async ({ ctx, caller, params, query, headers, address }) => {
    const { path, token } = await finishSso(ctx, issuers, caller, {
      providerId: params.provider_id,
      cookie: browserOf(headers.cookie),
      parameters: parametersOf(query),
      from: deviceOf(address, headers),
    })
    return new Reply(undefined, {
      location: `${ctx.config.appUrl}${path}`,
      ...(token ? { 'set-cookie': loginCookie(ctx.config, token) } : {}),
      // The address of this page has the code of the provider in it.
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
  }),

  route(api.ssoBackChannel, async ({ ctx, params, body }) => {
    await endLoginsByProvider(ctx, issuers, params.provider_id, body.logout_token)
    return new Reply({}, { 'cache-control': 'no-store' })
  }),

  route(api.deleteIdentity, ({ ctx, caller, params }) => unlinkIdentity(ctx, caller, params.identity_id)),
]

/** A repeated parameter stays repeated: openid-client refuses it. */
const parametersOf = (query: object) =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)]),
    ),
  )
