import { limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import type { Person } from '../http/caller.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { type Allowance, giveBackOne, networkOf, takeOne } from '../http/rate-limit.ts'
import { transact } from '../unit-of-work.ts'
import { endGrantsOf } from './grants.ts'
import { endOtherLogins, startLogin } from './logins.ts'
import { hashPassword, passwordMatches } from './passwords.ts'
import { lowerCase, person } from './sign-up.ts'

const periodMs = limits.signInPeriodSeconds * 1000
const perEmail: Allowance = { limit: limits.signInFailuresPerEmail, periodMs }
const perAddress: Allowance = { limit: limits.signInFailuresPerAddress, periodMs }

// A hash, because an e-mail is personal data and can be long.
const emailKey = (email: string) => `sign-in e-mail ${sha256(email).toString('base64url')}`
const addressKey = (address: string) => `sign-in address ${networkOf(address)}`

export async function signIn(ctx: Context, address: string, typed: { email: string; password: string }) {
  const email = lowerCase(typed.email)
  const found = await limitingGuesses(ctx, address, email, async () => {
    const user = await ctx.db.row<{ id: string; name: string; email: string; password_hash: string }>(sql`
      select id, display_name as name, email, password_hash from users where email = ${email}`)
    return (await passwordMatches(user?.password_hash, typed.password)) ? user : undefined
  })
  const token = found && (await startLogin(ctx.db, found.id, found.password_hash, ctx.clock.now()))
  if (!token) throw new ApiError('INVALID_CREDENTIALS')
  return { user: person(found), token }
}

export async function changePassword(
  ctx: Context,
  caller: Person,
  address: string,
  typed: { current_password: string; new_password: string },
) {
  const current = await limitingGuesses(ctx, address, caller.email, async () => {
    const user = await ctx.db.row<{ password_hash: string }>(
      sql`select password_hash from users where id = ${caller.id}`,
    )
    return (await passwordMatches(user?.password_hash, typed.current_password)) ? user?.password_hash : undefined
  })
  const refusal = invalid({ current_password: 'is not your current password' })
  if (!current) throw refusal
  const fresh = await hashPassword(typed.new_password)
  await transact(ctx, caller, async ({ tx, now }) => {
    // Of two concurrent changes the second fails, because the password it checked is no longer current.
    const changed = await tx.run(sql`
      update users set password_hash = ${fresh} where id = ${caller.id} and password_hash = ${current}`)
    if (changed === 0) throw refusal
    await endOtherLogins(tx, caller.id, caller.tokenHash)
    await endGrantsOf(tx, now, caller.id)
  })
}

/**
 * Runs a password check within the rate limits. Each check is counted before it runs, so that concurrent guesses cannot
 * exceed the limit, and uncounted if the password is right, so that only failures count.
 */
async function limitingGuesses<T>(
  { db, clock }: Context,
  address: string,
  email: string,
  check: () => Promise<T | undefined>,
) {
  await takeOne(db, addressKey(address), perAddress, clock.now())
  await takeOne(db, emailKey(email), perEmail, clock.now())
  const found = await check()
  if (found !== undefined) {
    await giveBackOne(db, addressKey(address), perAddress)
    await giveBackOne(db, emailKey(email), perEmail)
  }
  return found
}
