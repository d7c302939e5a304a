import { limits, type NewPerson, type Person } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sha256 } from '../crypto.ts'
import { isDuplicate, type Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { type Allowance, networkOf, takeOne } from '../http/rate-limit.ts'
import { newId } from '../ids.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { rememberNetwork } from './known-networks.ts'
import { isReserved } from './links.ts'
import { type Device, startLogin } from './logins.ts'
import { hashPassword } from './passwords.ts'
import { refuseInSsoOnly } from './sso-only.ts'
import { queueVerification } from './verification.ts'

/** An arbitrary number: only one process at a time decides who is first. */
const firstAccountLock = 7_226_867

export const lowerCase = (email: string) => email.toLowerCase()

const periodMs = limits.signInPeriodSeconds * 1000
const perAddress: Allowance = { limit: limits.signUpsPerAddress, periodMs }

export async function signUp(ctx: Context, from: Device, { email, password, name, invitation_token }: NewPerson) {
  const { config, clock, db } = ctx
  refuseInSsoOnly(config)
  // Hashing is expensive, so it comes after the checks.
  if (config.signup === 'invite') await refuseUninvited(db, lowerCase(email), clock.now())
  if (!config.local) await takeOne(db, `sign-up address ${networkOf(from.address)}`, perAddress, clock.now())
  const account = await createAccount(ctx, {
    email,
    name,
    passwordHash: await hashPassword(password),
    verified: invitation_token !== undefined && (await wasMailed(ctx, invitation_token, lowerCase(email))),
    from,
  })
  await rememberNetwork(ctx, account.user.id, from.address)
  return account
}

/** mail.invitation-own-token: only the token in the mail to that address, not the one that the manager saw. */
const wasMailed = async ({ db, clock }: Context, token: string, email: string) =>
  (await db.row(sql`
    select 1 from invitations
    where mail_token_hash = ${sha256(token)} and email = ${email} and expires_at > ${clock.now()}`)) !== undefined

export interface NewAccount {
  email: string
  name: string
  /** Null for an account that signs in with a provider. */
  passwordHash: string | null
  /** A provider, or a link that was sent there, has confirmed the address. */
  verified?: boolean
}

/** `from` is left out where the service itself creates the account. */
export async function createAccount(ctx: Context, { from = null, ...account }: NewAccount & { from?: Device | null }) {
  const { email } = account
  try {
    return await transact(ctx, null, async (unit) => {
      const id = await insertAccount(unit, account)
      if (from && !account.verified) await queueVerification(unit, ctx.keys, id, lowerCase(email))
      const token = await startLogin(unit.tx, { userId: id, method: 'sign_up', from }, unit.now)
      return { user: person({ id, name: account.name, email: lowerCase(email) }), token: token as string }
    })
  } catch (error) {
    if (isDuplicate(error, 'users_email')) throw addressTaken()
    throw error
  }
}

const addressTaken = () => invalid({ email: 'has an account already; sign in instead' })

/** Returns the new user's id. Fails with a duplicate of `users_email` if the address has an account. */
export async function insertAccount(
  { tx, now, config }: Pick<UnitOfWork, 'tx' | 'now' | 'config'>,
  account: NewAccount,
) {
  const email = lowerCase(account.email)
  if (config.signup === 'invite') {
    await tx.rows(sql`select pg_advisory_xact_lock(${firstAccountLock}::bigint)`)
    await refuseUninvited(tx, email, now)
  }
  // An account that had this address can still get it back, by undoing the change.
  if (await isReserved(tx, email, null, now)) throw addressTaken()
  const id = newId('usr')
  await tx.run(sql`
    insert into users (id, user_kind, display_name, email, password_hash, email_verified_at, created_at)
    values (${id}, 'human', ${account.name}, ${email}, ${account.passwordHash}, ${account.verified ? now : null}, ${now})`)
  return id
}

/** Disabled demo accounts do not count: they cannot invite the operator of an instance that once held the demo. */
const noAccountYet = sql`not exists (select 1 from users where user_kind = 'human' and disabled_at is null)`

export const needsFirstAccount = async ({ db }: Context) =>
  (await db.row(sql`select 1 where ${noAccountYet}`)) !== undefined

/** Whether sign-up works without an invitation now. */
export const signUpIsOpen = async (ctx: Context) => ctx.config.signup === 'open' || (await needsFirstAccount(ctx))

/** login.signup-invite-mode: only the first account and invited people can sign up. */
async function refuseUninvited(db: Queryable, email: string, now: Date) {
  const allowed = await db.row(sql`
    select 1 where ${noAccountYet}
      or exists (select 1 from invitations where email = ${email} and expires_at > ${now})`)
  if (!allowed) throw new ApiError('FORBIDDEN', {}, { message: 'You need an invitation to sign up here.' })
}

export const person = ({ id, name, email }: { id: string; name: string; email: string }): Person => ({
  id,
  display_name: name,
  email,
  user_kind: 'human',
  agent_kind: null,
})
