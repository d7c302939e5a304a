import { api } from '@baton/protocol'
import { Reply, route } from '../http/route.ts'
import { loginCookie } from '../login/cookie.ts'
import { refuseOtherOrigin } from '../login/origin.ts'
import { deviceOf } from '../login/routes.ts'
import {
  createPasskey,
  deletePasskey,
  listPasskeys,
  reauthWithPasskey,
  signInWithPasskey,
  startPasskey,
  startPasskeySignIn,
} from './passkeys.ts'

export const passkeyRoutes = [
  route(api.listPasskeys, ({ ctx, caller }) => listPasskeys(ctx, caller)),
  route(api.startPasskey, ({ ctx, caller }) => startPasskey(ctx, caller)),
  route(api.createPasskey, ({ ctx, caller, body }) => createPasskey(ctx, caller, body)),
  route(api.deletePasskey, ({ ctx, caller, params }) => deletePasskey(ctx, caller, params.passkey_id)),

  route(api.startPasskeySignIn, ({ ctx, address }) => startPasskeySignIn(ctx, address)),
  route(api.signInWithPasskey, async ({ ctx, address, headers, body }) => {
    refuseOtherOrigin(headers.origin, ctx.config)
    const login = await signInWithPasskey(ctx, deviceOf(address, headers), body.credential)
    return new Reply(login, { 'set-cookie': loginCookie(ctx.config, login.token), 'cache-control': 'no-store' })
  }),
  route(api.reauthWithPasskey, ({ ctx, caller, address, body }) =>
    reauthWithPasskey(ctx, caller, address, body.credential),
  ),
]
