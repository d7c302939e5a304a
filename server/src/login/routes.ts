import { api, type Role } from '@baton/protocol'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { none, sql } from '../db/sql.ts'
import type { App, Person } from '../http/caller.ts'
import { notFound } from '../http/errors.ts'
import { type Headers, Reply, route, uncached } from '../http/route.ts'
import { createCliLogin, exchangeCliCode } from './cli-logins.ts'
import { loginCookie, noCookie } from './cookie.ts'
import { changeEmail, confirmEmail, requestVerification, undoEmailChange } from './email.ts'
import { endOneLogin, listLogins } from './login-records.ts'
import { type Device, endLogin, endOtherLogins } from './logins.ts'
import { refuseOtherOrigin } from './origin.ts'
import { changePassword, reauthenticate, removePassword, setPassword } from './password-changes.ts'
import { confirmReset, requestReset } from './reset.ts'
import { type OnBreakGlass, signIn } from './sign-in.ts'
import { person, signUp } from './sign-up.ts'

/** `onBreakGlass` runs in the transaction of a sign-in of the break-glass account. */
export const loginRoutes = (onBreakGlass: OnBreakGlass) => [
  // Both refuse a page at another address: with its cookie it could not write afterwards.
  route(api.signUp, async ({ ctx, address, body, headers }) => {
    refuseOtherOrigin(headers.origin, ctx.config)
    return withCookie(ctx.config, await signUp(ctx, deviceOf(address, headers), body))
  }),

  route(api.signIn, async ({ ctx, address, body, headers }) => {
    refuseOtherOrigin(headers.origin, ctx.config)
    return withCookie(ctx.config, await signIn(ctx, deviceOf(address, headers), body, onBreakGlass))
  }),

  route(api.signOut, async ({ ctx, caller }) => {
    await endLogin(ctx.db, caller.tokenHash)
    return new Reply(undefined, { 'set-cookie': noCookie(ctx.config) })
  }),

  route(api.changePassword, ({ ctx, caller, address, body }) => changePassword(ctx, caller, address, body)),
  route(api.setPassword, ({ ctx, caller, address, body }) => setPassword(ctx, caller, address, body.new_password)),
  route(api.removePassword, ({ ctx, caller }) => removePassword(ctx, caller)),
  route(api.reauthenticate, ({ ctx, caller, address, body }) => reauthenticate(ctx, caller, address, body.password)),

  route(api.requestPasswordReset, ({ ctx, address, body }) => requestReset(ctx, address, body.email)),
  route(api.confirmPasswordReset, ({ ctx, body }) => confirmReset(ctx, body.token, body.new_password)),

  route(api.changeEmail, ({ ctx, caller, body }) => changeEmail(ctx, caller, body.email)),
  route(api.requestVerification, ({ ctx, caller }) => requestVerification(ctx, caller)),
  route(api.confirmEmail, ({ ctx, caller, body }) => confirmEmail(ctx, caller, body.token)),
  route(api.undoEmailChange, ({ ctx, body }) => undoEmailChange(ctx, body.token)),

  route(api.listLogins, ({ ctx, caller, query }) => listLogins(ctx, caller, query)),
  route(api.endLogin, ({ ctx, caller, params }) => endOneLogin(ctx, caller, params.login_id)),
  route(api.endOtherLogins, async ({ ctx, caller }) => {
    await endOtherLogins(ctx.db, caller.id, caller.tokenHash)
  }),

  route(api.createCliLogin, async ({ ctx, caller, body }) => uncached(await createCliLogin(ctx, caller, body))),
  route(api.exchangeCliLogin, async ({ ctx, address, headers, body }) =>
    uncached(await exchangeCliCode(ctx, deviceOf(address, headers), body.code, body.verifier)),
  ),

  route(api.getMe, ({ ctx, caller }) => (caller.kind === 'app' ? appIdentity(caller) : personIdentity(ctx, caller))),
]

/** What the request tells about the device that it comes from. */
export const deviceOf = (address: string, headers: Headers): Device => ({
  address,
  userAgent: headers['user-agent'] === undefined ? null : String(headers['user-agent']),
})

const personIdentity = async ({ db }: Context, caller: Person) => ({
  user: person(caller),
  workspaces: await db.rows<{ id: string; name: string; role: Role }>(sql`
    select w.id, w.name, m.role
    from memberships m join workspaces w on w.id = m.workspace_id
    where m.user_id = ${caller.id} and w.purged_since is null ${caller.scopes ? sql`and w.id = ${caller.workspaceId}` : none}
    order by w.id desc`),
})

const appIdentity = ({ id, name, appId, appName, installationId }: App) => {
  // Agents inside the service are not apps.
  if (appId === null || installationId === null) throw notFound()
  return {
    user: { id, display_name: name, user_kind: 'application' as const, agent_kind: 'app' as const },
    app: { id: appId, name: appName },
    installation_id: installationId,
  }
}

const withCookie = <Login extends { token: string }>(config: Config, login: Login) =>
  new Reply(login, { 'set-cookie': loginCookie(config, login.token), 'cache-control': 'no-store' })
