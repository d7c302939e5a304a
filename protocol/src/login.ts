import { type Static, Type } from 'typebox'
import { closed, Email, id, nullable, PersonName, Role, Timestamp, text } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

export const Person = Type.Object(
  {
    id: id('usr'),
    display_name: Type.String(),
    email: Type.String(),
    user_kind: Type.Literal('human'),
    agent_kind: Type.Null(),
  },
  { ...closed, title: 'Person' },
)
export type Person = Static<typeof Person>

/** The user of an installed app. */
export const AppUser = Type.Object(
  {
    id: id('usr'),
    display_name: Type.String(),
    user_kind: Type.Literal('application'),
    agent_kind: Type.Literal('app'),
  },
  { ...closed, title: 'AppUser' },
)

const Password = text(limits.passwordMin, limits.passwordMax)

export const Login = Type.Object(
  { user: Person, token: Type.String({ description: 'Starts with psn_; send it as Authorization: Bearer' }) },
  { ...closed, title: 'Login' },
)

export const NewPerson = Type.Object({ email: Email, password: Password, name: PersonName }, closed)
export type NewPerson = Static<typeof NewPerson>

/** The settings of the caller. Where mail, single sign-on and passkeys are not available, their fields are empty. */
export const Account = Type.Object(
  {
    display_name: Type.String(),
    email: Type.String(),
    email_verified: Type.Boolean(),
    pending_email: nullable(Type.String()),
    has_password: Type.Boolean(),
    time_zone: Type.String({ description: 'IANA name; UTC until the person chooses one' }),
    mail_problem: nullable(Type.String()),
    identities: Type.Array(
      Type.Object(
        { id: Type.String(), provider_id: Type.String(), email: nullable(Type.String()), created_at: Timestamp },
        closed,
      ),
    ),
    passkeys: Type.Integer({ minimum: 0 }),
  },
  { ...closed, title: 'Account' },
)
export type Account = Static<typeof Account>

export const AccountChange = Type.Partial(
  Type.Object({ display_name: PersonName, time_zone: text(1, limits.timeZone) }),
  closed,
)
export type AccountChange = Static<typeof AccountChange>

export const login = {
  signUp: operation(routes.signUp, {
    summary: 'Create an account and sign in',
    body: NewPerson,
    returns: { 201: Login },
    errors: ['FORBIDDEN', 'CSRF_REFUSED', 'RATE_LIMIT_EXCEEDED'],
  }),
  signIn: operation(routes.signIn, {
    summary: 'Sign in with e-mail and password',
    // The rules for new passwords do not apply: a password that breaks them is answered like any wrong one.
    body: Type.Object({ email: text(1, limits.email), password: text(0, 5 * limits.passwordMax) }, closed),
    returns: { 200: Login },
    errors: ['INVALID_CREDENTIALS', 'CSRF_REFUSED', 'RATE_LIMIT_EXCEEDED'],
  }),
  signOut: operation(routes.signOut, {
    summary: 'Sign out',
    returns: { 204: null },
  }),
  changePassword: operation(routes.changePassword, {
    summary: 'Change the password and sign out everywhere else',
    body: Type.Object({ current_password: text(1, limits.passwordMax), new_password: Password }, closed),
    returns: { 204: null },
    errors: ['RATE_LIMIT_EXCEEDED'],
  }),
  getAccount: operation(routes.getAccount, {
    summary: 'Get your account: name, e-mail, time zone and sign-in methods',
    returns: { 200: Account },
  }),
  updateAccount: operation(routes.updateAccount, {
    summary: 'Change your name or time zone',
    body: AccountChange,
    returns: { 200: Account },
  }),
  getMe: operation(routes.getMe, {
    summary: 'Get the caller: a person and their workspaces, or an app and its installation',
    returns: {
      200: Type.Union([
        Type.Object(
          {
            user: Person,
            workspaces: Type.Array(Type.Object({ id: id('wsp'), name: Type.String(), role: Role }, closed)),
          },
          closed,
        ),
        Type.Object(
          {
            user: AppUser,
            app: Type.Object({ id: id('app'), name: Type.String() }, closed),
            installation_id: id('ins'),
          },
          closed,
        ),
      ]),
    },
    // For an app that sends the X-Workspace-ID of another workspace.
    errors: ['WORKSPACE_ACCESS_DENIED'],
  }),
}
