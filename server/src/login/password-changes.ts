import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Person } from '../http/caller.ts'
import { found, invalid, notFound } from '../http/errors.ts'
import { transact } from '../unit-of-work.ts'
import { endEverythingOf } from './end.ts'
import { counterInLogin, countersOf, limitingGuesses } from './guesses.ts'
import { forgetOtherNetworks } from './known-networks.ts'
import { endResetLinks } from './links.ts'
import { lockCaller, refuseLastMethod } from './methods.ts'
import { hashPassword, passwordMatches } from './passwords.ts'
import { tellOwner } from './security-mails.ts'
import { refuseInSsoOnly } from './sso-only.ts'

/** The hash that the password matches, or undefined. Wrong ones count towards the limit of sign-ins. */
async function checkPassword(ctx: Context, caller: Person, address: string, password: string) {
  const user = await ctx.db.row<{ hash: string | null }>(sql`
    select password_hash as hash from users where id = ${caller.id}`)
  const counters = [...countersOf(address, caller.email), counterInLogin(caller.id)]
  const matches = await limitingGuesses(ctx, counters, () => passwordMatches(user?.hash, password))
  return matches ? (user?.hash ?? undefined) : undefined
}

/** Makes the login recent (reauth.by-password). */
export async function reauthenticate(ctx: Context, caller: Person, address: string, password: string) {
  refuseInSsoOnly(ctx.config, caller.email)
  const hash = await checkPassword(ctx, caller, address, password)
  // In one statement: a password that was changed meanwhile proves nothing.
  const proved =
    hash !== undefined &&
    (await ctx.db.run(sql`
      update logins set proved_at = ${ctx.clock.now()}
      where token_hash = ${caller.tokenHash}
        and exists (select from users where id = ${caller.id} and password_hash = ${hash})`))
  if (!proved) throw invalid({ password: 'is not your password' })
}

export async function changePassword(
  ctx: Context,
  caller: Person,
  address: string,
  typed: { current_password: string; new_password: string },
) {
  refuseInSsoOnly(ctx.config, caller.email)
  const hash = await checkPassword(ctx, caller, address, typed.current_password)
  const refusal = invalid({ current_password: 'is not your current password' })
  if (hash === undefined) throw refusal
  const fresh = await hashPassword(typed.new_password)
  await transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    // Of two concurrent changes the second fails, because the password it checked is no longer current.
    const changed = await tx.run(sql`
      update users set password_hash = ${fresh} where id = ${caller.id} and password_hash = ${hash}`)
    if (changed === 0) throw refusal
    await endEverythingOf(tx, now, caller.id, { keepLogin: caller.tokenHash })
    await forgetOtherNetworks(tx, ctx, caller.id, address)
    await endResetLinks(unit, caller.id)
    await tellOwner(unit, ctx.keys, caller.id, 'password_changed')
  })
}

/** With a recent login. The first password of an account ends nothing: there was none that another person could know. */
export async function setPassword(ctx: Context, caller: Person, address: string, password: string) {
  refuseInSsoOnly(ctx.config, caller.email)
  const fresh = await hashPassword(password)
  await transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    await lockCaller(tx, caller)
    const { had } = found(
      await tx.row<{ had: boolean }>(sql`
        select password_hash is not null as had from users where id = ${caller.id}`),
    )
    await tx.run(sql`update users set password_hash = ${fresh} where id = ${caller.id}`)
    if (had) {
      await endEverythingOf(tx, now, caller.id, { keepLogin: caller.tokenHash })
      await forgetOtherNetworks(tx, ctx, caller.id, address)
    }
    await endResetLinks(unit, caller.id)
    await tellOwner(unit, ctx.keys, caller.id, 'password_changed')
  })
}

export const removePassword = (ctx: Context, caller: Person) =>
  transact(ctx, caller, async (unit) => {
    const { tx } = unit
    await lockCaller(tx, caller)
    const has = await tx.row(sql`select 1 from users where id = ${caller.id} and password_hash is not null`)
    if (!has) throw notFound()
    await refuseLastMethod(tx, caller.id)
    await tx.run(sql`update users set password_hash = null where id = ${caller.id}`)
    await endResetLinks(unit, caller.id)
    await tellOwner(unit, ctx.keys, caller.id, 'method_removed', { name: 'password' })
  })
