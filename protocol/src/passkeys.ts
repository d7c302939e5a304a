import { type Static, Type } from 'typebox'
import { closed, id, list, Name, nullable, Timestamp } from './common.ts'
import { accountLimits } from './limits.ts'
import { Login } from './login.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

export const Passkey = Type.Object(
  {
    id: id('psk'),
    name: Type.String(),
    created_at: Timestamp,
    /** Null if it was never used to sign in. */
    last_used_at: nullable(Timestamp),
  },
  { ...closed, title: 'Passkey' },
)
export type Passkey = Static<typeof Passkey>

/** Browsers add fields with each version of WebAuthn. */
const open = { additionalProperties: true } as const
const Encoded = Type.String({ minLength: 1, maxLength: accountLimits.passkeyResponse, pattern: '^[A-Za-z0-9_-]+$' })
const CredentialId = Type.String({ minLength: 1, maxLength: accountLimits.credentialId, pattern: '^[A-Za-z0-9_-]+$' })

/** A PublicKeyCredential as `toJSON()` of the browser returns it, after `navigator.credentials.create`. */
export const NewCredential = Type.Object(
  {
    id: CredentialId,
    rawId: CredentialId,
    type: Type.Literal('public-key'),
    response: Type.Object(
      {
        clientDataJSON: Encoded,
        attestationObject: Encoded,
        transports: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { maxItems: 10 })),
      },
      open,
    ),
  },
  open,
)

/** The same after `navigator.credentials.get`. */
export const UsedCredential = Type.Object(
  {
    id: CredentialId,
    rawId: CredentialId,
    type: Type.Literal('public-key'),
    response: Type.Object(
      {
        clientDataJSON: Encoded,
        authenticatorData: Encoded,
        signature: Encoded,
        userHandle: Type.Optional(nullable(Type.String({ maxLength: 200 }))),
      },
      open,
    ),
  },
  open,
)
export type UsedCredential = Static<typeof UsedCredential>

export const NewPasskey = Type.Object({ name: Name, credential: NewCredential }, closed)
export type NewPasskey = Static<typeof NewPasskey>

const Options = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Options for `navigator.credentials`, in the JSON form of WebAuthn; valid for 5 minutes',
})
const Used = Type.Object({ credential: UsedCredential }, closed)

export const passkeys = {
  listPasskeys: operation(routes.listPasskeys, {
    summary: 'List your passkeys, newest first',
    returns: { 200: list(Passkey) },
  }),
  startPasskey: operation(routes.startPasskey, {
    summary: 'Get the options to create a passkey in the browser',
    returns: { 200: Options },
    errors: ['FORBIDDEN', 'PASSKEY_LIMIT_REACHED'],
  }),
  createPasskey: operation(routes.createPasskey, {
    summary: 'Add a passkey that the browser created',
    body: NewPasskey,
    returns: { 201: Passkey },
    errors: ['FORBIDDEN', 'PASSKEY_LIMIT_REACHED'],
  }),
  deletePasskey: operation(routes.deletePasskey, {
    summary: 'Remove a passkey',
    returns: { 204: null },
    errors: ['LAST_SIGN_IN_METHOD'],
  }),
  startPasskeySignIn: operation(routes.startPasskeySignIn, {
    summary: 'Get the options to use a passkey in the browser',
    returns: { 200: Options },
    errors: ['FORBIDDEN', 'SSO_REQUIRED', 'RATE_LIMIT_EXCEEDED'],
  }),
  signInWithPasskey: operation(routes.signInWithPasskey, {
    summary: 'Sign in with a passkey',
    body: Used,
    returns: { 200: Login },
    errors: ['FORBIDDEN', 'SSO_REQUIRED', 'INVALID_CREDENTIALS', 'CSRF_REFUSED', 'RATE_LIMIT_EXCEEDED'],
  }),
  reauthWithPasskey: operation(routes.reauthWithPasskey, {
    summary: 'Confirm your identity with a passkey: this login is recent for 15 minutes',
    body: Used,
    returns: { 204: null },
    errors: ['FORBIDDEN', 'SSO_REQUIRED', 'RATE_LIMIT_EXCEEDED'],
  }),
}
