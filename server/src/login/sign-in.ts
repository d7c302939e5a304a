import { limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import type { Person } from '../http/caller.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { type Allowance, giveBackOne, networkOf, takeOne } from '../http/rate-limit.ts'
import { transact } from '../unit-of-work.ts'
import { endEverythingOf } from './end.ts'
import { forgetOtherNetworks, knowsNetwork, rememberNetwork } from './known-networks.ts'
import { type Device, startLogin } from './logins.ts'
import { hashPassword, passwordMatches } from './passwords.ts'
import { lowerCase, person } from './sign-up.ts'

/** A rate limit, and the key that it counts. */
interface Counter {
  key: string
  allowance: Allowance
}

const periodMs = limits.signInPeriodSeconds * 1000
const perAddress: Allowance = { limit: limits.signInFailuresPerAddress, periodMs }
const perEmail: Allowance = { limit: limits.signInFailuresPerEmail, periodMs }
const elsewhere: Allowance = {
  limit: limits.signInFailuresPerEmailElsewhere,
  periodMs: limits.signInElsewherePeriodSeconds * 1000,
}

// A hash, because an e-mail is personal data and can be long.
const emailHash = (email: string) => sha256(email).toString('base64url')

/** The e-mail is counted together with the network, so that failures elsewhere do not lock out its owner. */
const countersOf = (address: string, email: string): Counter[] => [
  { key: `sign-in address ${networkOf(address)}`, allowance: perAddress },
  { key: `sign-in e-mail ${emailHash(email)} ${networkOf(address)}`, allowance: perEmail },
]

export async function signIn(ctx: Context, from: Device, typed: { email: string; password: string }) {
  const { address } = from
  const email = lowerCase(typed.email)
  const user = await ctx.db.row<{ id: string; name: string; email: string; hash: string; known: boolean }>(sql`
    select u.id, u.display_name as name, u.email, u.password_hash as hash, ${knowsNetwork(ctx, address)} as known
    from users u where u.email = ${email}`)
  const counters = countersOf(address, email)
  // Against guesses from many networks. The owner's own networks are neither counted nor refused.
  if (!user?.known) counters.push({ key: `sign-in e-mail ${emailHash(email)} elsewhere`, allowance: elsewhere })
  const matches = await limitingGuesses(ctx, counters, () => passwordMatches(user?.hash, typed.password))
  const token =
    user &&
    matches &&
    (await startLogin(ctx.db, { userId: user.id, method: 'password', passwordHash: user.hash, from }, ctx.clock.now()))
  if (!token) throw new ApiError('INVALID_CREDENTIALS')
  await rememberNetwork(ctx, user.id, address)
  return { user: person(user), token }
}

export async function changePassword(
  ctx: Context,
  caller: Person,
  address: string,
  typed: { current_password: string; new_password: string },
) {
  const user = await ctx.db.row<{ hash: string }>(sql`
    select password_hash as hash from users where id = ${caller.id}`)
  // Not the counter of sign-ins elsewhere, which strangers can use up.
  const byUser: Counter = { key: `password change ${caller.id}`, allowance: elsewhere }
  const counters = [...countersOf(address, caller.email), byUser]
  const matches = await limitingGuesses(ctx, counters, () => passwordMatches(user?.hash, typed.current_password))
  const refusal = invalid({ current_password: 'is not your current password' })
  if (!user || !matches) throw refusal
  const fresh = await hashPassword(typed.new_password)
  await transact(ctx, caller, async ({ tx, now }) => {
    // Of two concurrent changes the second fails, because the password it checked is no longer current.
    const changed = await tx.run(sql`
      update users set password_hash = ${fresh} where id = ${caller.id} and password_hash = ${user.hash}`)
    if (changed === 0) throw refusal
    await endEverythingOf(tx, now, caller.id, { keepLogin: caller.tokenHash })
    await forgetOtherNetworks(tx, ctx, caller.id, address)
  })
}

/**
 * Runs a password check within the rate limits. Each check is counted before it runs, so that concurrent guesses cannot
 * exceed the limit, and uncounted if the password is right, so that only failures count.
 */
async function limitingGuesses({ db, clock }: Context, counters: readonly Counter[], check: () => Promise<boolean>) {
  for (const { key, allowance } of counters) await takeOne(db, key, allowance, clock.now())
  const matches = await check()
  if (matches) for (const { key, allowance } of counters) await giveBackOne(db, key, allowance)
  return matches
}
