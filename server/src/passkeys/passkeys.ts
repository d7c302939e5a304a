import { accountLimits, limits, type NewPasskey, type Passkey, type UsedCredential } from '@baton/protocol'
import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Context } from '../context.ts'
import { counters } from '../counters.ts'
import { isDuplicate, type Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Person } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { type Allowance, networkOf, takeOne } from '../http/rate-limit.ts'
import { rememberNetwork } from '../login/known-networks.ts'
import { type Device, proveLogin, startLogin } from '../login/logins.ts'
import { addPasskey, lockCaller, notePasskeyUse, removePasskey } from '../login/methods.ts'
import { tellOwner } from '../login/security-mails.ts'
import { person } from '../login/sign-up.ts'
import { refuseInSsoOnly } from '../login/sso-only.ts'
import { transact } from '../unit-of-work.ts'
import { challengeIn, newChallenge, takeChallenge } from './challenges.ts'
import { relyingParty } from './relying-party.ts'

const perAddress: Allowance = {
  limit: accountLimits.passkeySignInsPerAddress,
  periodMs: limits.signInPeriodSeconds * 1000,
}

/** Loaded at the first use: most processes never need it. */
const webauthn = () => import('@simplewebauthn/server')

const columns = sql`id, name, created_at, last_used_at`

/** All on one page: there are at most 20. */
export const listPasskeys = async ({ db }: Context, caller: Person) => ({
  data: await db.rows<Passkey>(sql`select ${columns} from passkeys where user_id = ${caller.id} order by id desc`),
  next_cursor: null,
})

export async function startPasskey(ctx: Context, caller: Person) {
  const { rpId } = relyingParty(ctx.config)
  const existing = await ctx.db.rows<{ id: string; transports: string[] }>(sql`
    select credential_id as id, transports from passkeys where user_id = ${caller.id}`)
  if (existing.length >= accountLimits.passkeysPerPerson) throw new ApiError('PASSKEY_LIMIT_REACHED')
  const challenge = await newChallenge(ctx, { purpose: 'register', userId: caller.id })
  const options = await (await webauthn()).generateRegistrationOptions({
    rpName: 'Baton',
    rpID: rpId,
    userID: new Uint8Array(Buffer.from(caller.id)),
    userName: caller.email,
    userDisplayName: caller.name,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    attestationType: 'none',
    excludeCredentials: existing.map(({ id, transports }) => ({ id, transports: transports as [] })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  return { ...options }
}

export async function createPasskey(ctx: Context, caller: Person, { name, credential }: NewPasskey): Promise<Passkey> {
  const { rpId, origin } = relyingParty(ctx.config)
  const challenge = challengeIn(credential.response.clientDataJSON)
  const refusal = invalid({ credential: 'could not be verified; try again' })
  if (!(await takeChallenge(ctx, { purpose: 'register', userId: caller.id }, challenge))) throw refusal
  const { verified, registrationInfo } = await (await webauthn())
    .verifyRegistrationResponse({
      response: credential as unknown as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
    })
    .catch((error: Error) => {
      ctx.log.info({ user: caller.id, message: error.message.slice(0, 200) }, 'a passkey could not be verified')
      throw refusal
    })
  if (!verified || !registrationInfo) throw refusal
  const { id: credentialId, publicKey, counter } = registrationInfo.credential
  const { transports = [] } = credential.response
  try {
    return await transact(ctx, caller, async (unit) => {
      const { tx, now } = unit
      // Locks the user, so that two new passkeys are counted one after the other.
      await lockCaller(tx, caller)
      const { count } = found(
        await tx.row<{ count: number }>(sql`
          select count(*)::int as count from passkeys where user_id = ${caller.id}`),
      )
      if (count >= accountLimits.passkeysPerPerson) throw new ApiError('PASSKEY_LIMIT_REACHED')
      const passkey = { name, credentialId, publicKey: Buffer.from(publicKey), counter, transports }
      const id = await addPasskey(tx, now, { userId: caller.id, ...passkey })
      await tellOwner(unit, ctx.keys, caller.id, 'passkey_added', { name })
      return { id, name, created_at: now.toISOString(), last_used_at: null }
    })
  } catch (error) {
    if (isDuplicate(error, 'passkeys_credential_id_key')) throw invalid({ credential: 'is registered already' })
    throw error
  }
}

export const deletePasskey = (ctx: Context, caller: Person, id: string) =>
  transact(ctx, caller, async (unit) => {
    const { name } = await removePasskey(unit.tx, caller.id, id)
    await tellOwner(unit, ctx.keys, caller.id, 'method_removed', { name, method: 'passkey' })
  })

/** For any passkey of this instance: the authenticator knows which ones it has, so no e-mail address is typed. */
export async function startPasskeySignIn(ctx: Context, address: string) {
  refuseInSsoOnly(ctx.config)
  const { rpId } = relyingParty(ctx.config)
  await takeOne(ctx.db, `passkey options ${networkOf(address)}`, perAddress, ctx.clock.now())
  const challenge = await newChallenge(ctx, { purpose: 'use' })
  const options = await (await webauthn()).generateAuthenticationOptions({
    rpID: rpId,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    userVerification: 'required',
  })
  return { ...options }
}

export async function signInWithPasskey(ctx: Context, from: Device, credential: UsedCredential) {
  refuseInSsoOnly(ctx.config)
  await takeOne(ctx.db, `passkey sign-in ${networkOf(from.address)}`, perAddress, ctx.clock.now())
  const used = await verifyUse(ctx, credential, null)
  if (!used) throw refused()
  const { user, passkeyId, counter } = used
  const token = await transact(ctx, null, async ({ tx, now }) => {
    if (!(await notePasskeyUse(tx, now, passkeyId, counter))) return undefined
    return startLogin(tx, { userId: user.id, method: 'passkey', from }, now)
  })
  if (!token) throw refused()
  await rememberNetwork(ctx, user.id, from.address)
  return { user: person(user), token }
}

function refused() {
  counters.loginFailures.inc()
  return new ApiError('INVALID_CREDENTIALS', {}, { message: 'The passkey could not be verified.' })
}

export async function reauthWithPasskey(ctx: Context, caller: Person, address: string, credential: UsedCredential) {
  refuseInSsoOnly(ctx.config)
  await takeOne(ctx.db, `passkey sign-in ${networkOf(address)}`, perAddress, ctx.clock.now())
  const refusal = invalid({ credential: 'could not be verified; try again' })
  const used = await verifyUse(ctx, credential, caller.id)
  if (!used) throw refusal
  await transact(ctx, caller, async ({ tx, now }) => {
    if (!(await notePasskeyUse(tx, now, used.passkeyId, used.counter))) throw refusal
    await proveLogin(tx, caller.tokenHash, now)
  })
}

interface Stored {
  id: string
  userId: string
  name: string
  email: string
  publicKey: Uint8Array
  counter: number | string
  transports: string[]
}

/** The passkey that signed the response, and its user. Undefined if anything is wrong with it. */
async function verifyUse(ctx: Context, credential: UsedCredential, userId: string | null) {
  const { rpId, origin } = relyingParty(ctx.config)
  const challenge = challengeIn(credential.response.clientDataJSON)
  if (!(await takeChallenge(ctx, { purpose: 'use' }, challenge))) return undefined
  const stored = await findPasskey(ctx.db, credential.id)
  if (!stored || (userId !== null && stored.userId !== userId)) return undefined
  const { userHandle } = credential.response
  if (userHandle && Buffer.from(userHandle, 'base64url').toString() !== stored.userId) return undefined
  const { verified, authenticationInfo } = await (await webauthn())
    .verifyAuthenticationResponse({
      response: credential as never,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: {
        id: credential.id,
        publicKey: new Uint8Array(stored.publicKey),
        counter: Number(stored.counter),
        transports: stored.transports as [],
      },
    })
    .catch((error: Error) => {
      ctx.log.info({ user: stored.userId, message: error.message.slice(0, 200) }, 'a passkey was refused')
      return { verified: false, authenticationInfo: undefined }
    })
  if (!verified || !authenticationInfo) return undefined
  const user = { id: stored.userId, name: stored.name, email: stored.email }
  return { user, passkeyId: stored.id, counter: authenticationInfo.newCounter }
}

const findPasskey = (db: Queryable, credentialId: string) =>
  db.row<Stored>(sql`
    select k.id, k.user_id as "userId", u.display_name as name, u.email, k.public_key as "publicKey", k.counter,
      k.transports
    from passkeys k join users u on u.id = k.user_id where k.credential_id = ${credentialId}`)
