import { type Static, Type } from 'typebox'
import { closed, Email, id, list, Name, nullable, Page, PersonName, Role, Timestamp, text } from './common.ts'
import { accountLimits, limits } from './limits.ts'
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

export const NewPerson = Type.Object(
  { email: Email, password: Password, name: PersonName, invitation_token: Type.Optional(text(1, 200)) },
  closed,
)
export type NewPerson = Static<typeof NewPerson>

/** The settings of the caller. */
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

/** Where and how a person is signed in. Devices are recognized by it, so it has no token and no whole address. */
export const LoginRecord = Type.Object(
  {
    id: id('lgn'),
    current: Type.Boolean(),
    method: nullable(Type.Enum(['password', 'sso', 'passkey', 'cli', 'sign_up'])),
    provider_id: nullable(Type.String()),
    client: nullable(Type.String()),
    network: nullable(Type.String()),
    created_at: Timestamp,
    last_used_at: Timestamp,
  },
  { ...closed, title: 'LoginRecord' },
)
export type LoginRecord = Static<typeof LoginRecord>

/** A link is checked by looking it up, so any text is a well-formed one. */
const LinkToken = text(1, accountLimits.linkToken)

/** RFC 7636: 43 to 128 characters. */
const Challenge = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', 'x-message': 'must be a SHA-256 hash in base64url' })
const Verifier = Type.String({ pattern: '^[A-Za-z0-9._~-]{43,128}$', 'x-message': 'must have 43 to 128 characters' })

export const NewCliLogin = Type.Object(
  {
    challenge: Challenge,
    name: Name,
    port: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 65_535, 'x-message': 'must be a whole number from 1 to 65535' }),
    ),
  },
  closed,
)
export type NewCliLogin = Static<typeof NewCliLogin>

export const CliCode = Type.Object(
  { code: Type.String(), redirect_to: nullable(Type.String()), expires_at: Timestamp },
  { ...closed, title: 'CliCode' },
)
export type CliCode = Static<typeof CliCode>

export const login = {
  signUp: operation(routes.signUp, {
    summary: 'Create an account and sign in',
    body: NewPerson,
    returns: { 201: Login },
    errors: ['FORBIDDEN', 'SSO_REQUIRED', 'CSRF_REFUSED', 'RATE_LIMIT_EXCEEDED'],
  }),
  signIn: operation(routes.signIn, {
    summary: 'Sign in with e-mail and password',
    // The rules for new passwords do not apply: a password that breaks them is answered like any wrong one.
    body: Type.Object({ email: text(1, limits.email), password: text(0, 5 * limits.passwordMax) }, closed),
    returns: { 200: Login },
    errors: ['INVALID_CREDENTIALS', 'SSO_REQUIRED', 'CSRF_REFUSED', 'RATE_LIMIT_EXCEEDED'],
  }),
  signOut: operation(routes.signOut, {
    summary: 'Sign out',
    returns: { 204: null },
  }),
  changePassword: operation(routes.changePassword, {
    summary: 'Change the password and sign out everywhere else',
    body: Type.Object({ current_password: text(1, limits.passwordMax), new_password: Password }, closed),
    returns: { 204: null },
    errors: ['RATE_LIMIT_EXCEEDED', 'SSO_REQUIRED'],
  }),
  setPassword: operation(routes.setPassword, {
    summary: 'Set a password without the current one; a change signs out everywhere else',
    body: Type.Object({ new_password: Password }, closed),
    returns: { 204: null },
    errors: ['SSO_REQUIRED'],
  }),
  removePassword: operation(routes.removePassword, {
    summary: 'Remove the password, if you have another sign-in method',
    returns: { 204: null },
    errors: ['LAST_SIGN_IN_METHOD', 'RESOURCE_NOT_FOUND'],
  }),
  reauthenticate: operation(routes.reauthenticate, {
    summary: 'Confirm your identity with your password, so that the login is recent for 15 minutes',
    body: Type.Object({ password: text(0, 5 * limits.passwordMax) }, closed),
    returns: { 204: null },
    errors: ['RATE_LIMIT_EXCEEDED', 'SSO_REQUIRED'],
  }),
  requestPasswordReset: operation(routes.requestPasswordReset, {
    summary: 'Mail a link to set a new password; the answer is the same whether the account exists or not',
    body: Type.Object({ email: Email }, closed),
    returns: { 202: null },
    errors: ['MAIL_NOT_CONFIGURED', 'RATE_LIMIT_EXCEEDED', 'SSO_REQUIRED'],
  }),
  confirmPasswordReset: operation(routes.confirmPasswordReset, {
    summary: 'Set a new password with a link; ends all logins, programs and personal tokens',
    body: Type.Object({ token: LinkToken, new_password: Password }, closed),
    returns: { 204: null },
    errors: ['RESOURCE_NOT_FOUND', 'SSO_REQUIRED'],
  }),
  changeEmail: operation(routes.changeEmail, {
    summary: 'Change your e-mail address; it changes when the link that is mailed there was confirmed',
    body: Type.Object({ email: Email }, closed),
    returns: { 202: null },
    errors: ['RATE_LIMIT_EXCEEDED'],
  }),
  requestVerification: operation(routes.requestVerification, {
    summary: 'Mail a link that verifies your e-mail address',
    returns: { 202: null },
    errors: ['MAIL_NOT_CONFIGURED', 'RATE_LIMIT_EXCEEDED'],
  }),
  confirmEmail: operation(routes.confirmEmail, {
    summary: 'Confirm an e-mail address with the link that was mailed there, as the person it was created for',
    body: Type.Object({ token: LinkToken }, closed),
    returns: { 204: null },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  undoEmailChange: operation(routes.undoEmailChange, {
    summary: 'Restore the earlier e-mail address with the link that was mailed there; ends all logins',
    body: Type.Object({ token: LinkToken }, closed),
    returns: { 204: null },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  listLogins: operation(routes.listLogins, {
    summary: 'List where you are signed in, newest first',
    query: Page,
    returns: { 200: list(LoginRecord) },
  }),
  endLogin: operation(routes.endLogin, {
    summary: 'End one of your logins',
    returns: { 204: null },
  }),
  endOtherLogins: operation(routes.endOtherLogins, {
    summary: 'End all of your logins but this one',
    returns: { 204: null },
  }),
  createCliLogin: operation(routes.createCliLogin, {
    summary: 'Allow a program that runs on your computer to act as you; returns a code for it',
    body: NewCliLogin,
    returns: { 201: CliCode },
  }),
  exchangeCliLogin: operation(routes.exchangeCliLogin, {
    summary: 'Exchange the code of an allowed program for a login',
    body: Type.Object({ code: text(1, 200), verifier: Verifier }, closed),
    returns: { 200: Login },
    errors: ['RESOURCE_NOT_FOUND'],
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
  deleteAccount: operation(routes.deleteAccount, {
    summary: 'Delete your account and personal data for ever; shared work stays under "Deleted person"',
    returns: { 204: null },
    errors: ['LAST_OWNER'],
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
