import { accountLimits } from '@baton/protocol'
import { hours, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Keyring } from '../crypto.ts'
import { isDuplicate } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Person } from '../http/caller.ts'
import { ApiError, found, invalid, notFound } from '../http/errors.ts'
import { takeOneInHour } from '../http/rate-window.ts'
import { queueMail } from '../mail/queue.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { endEverythingOf } from './end.ts'
import { forgetNetworks } from './known-networks.ts'
import { createLink, deleteLinks, endResetLinks, findLink, isReserved, type Link, useLink } from './links.ts'
import { lockCaller } from './methods.ts'
import { lowerCase } from './sign-up.ts'
import { queueVerification } from './verification.ts'

interface Stored {
  email: string
  pending: string | null
  verifiedAt: string | null
}

const blockedMs = hours(accountLimits.resetBlockedHours)

async function lockedEmail({ tx }: Pick<UnitOfWork, 'tx'>, userId: string): Promise<Stored> {
  return found(
    await tx.row<Stored>(sql`
      select email, pending_email as pending, email_verified_at as "verifiedAt" from users where id = ${userId} for update`),
  )
}

/** With mail the address changes when the link that is sent there is confirmed; without mail at once, unverified. */
export async function changeEmail(ctx: Context, caller: Person, typed: string) {
  const email = lowerCase(typed)
  const { config, db, clock } = ctx
  if (email === caller.email) throw invalid({ email: 'is your address already' })
  if (!config.mail) return changeAtOnce(ctx, caller, email)
  await takeOneInHour(db, `e-mail change ${caller.id}`, accountLimits.verificationsPerPerson, clock.now())
  await transact(ctx, caller, async (unit) => {
    const { tx } = unit
    await lockCaller(tx, caller)
    const stored = await lockedEmail(unit, caller.id)
    const owner = await tx.row<{ id: string }>(sql`select id from users where email = ${email}`)
    if (owner) return void (await queueMail(unit, ctx.keys, { kind: 'email_taken', userId: owner.id }))
    if (await isUnavailable(unit, email, caller.id)) return
    await tx.run(sql`update users set pending_email = ${email} where id = ${caller.id}`)
    await mailChange(unit, ctx.keys, caller.id, email)
    await mailUndo(unit, ctx.keys, caller.id, stored)
  })
}

/** Another account can get it back, or it is the one that keeps a password with single sign-on only. */
const isUnavailable = async ({ tx, now, config }: UnitOfWork, email: string, userId: string) =>
  (config.sso.only && email === config.sso.breakGlass) || isReserved(tx, email, userId, now)

async function mailChange(unit: UnitOfWork, keys: Keyring, userId: string, email: string) {
  const { token, expiresAt } = await createLink(unit, { userId, kind: 'change', email })
  await queueMail(unit, keys, { kind: 'email_change', userId, address: email, secret: token, expiresAt })
}

/** The security mail of a changed address, to the one until now. */
async function mailUndo(unit: UnitOfWork, keys: Keyring, userId: string, { email, verifiedAt }: Stored) {
  const { token, expiresAt } = await createLink(unit, { userId, kind: 'undo', email, verifiedAt })
  const data = { event: 'email_changed' }
  await queueMail(unit, keys, { kind: 'security', userId, address: email, data, secret: token, expiresAt })
}

async function changeAtOnce(ctx: Context, caller: Person, email: string) {
  const taken = invalid({ email: 'has an account already' })
  try {
    await transact(ctx, caller, async (unit) => {
      await lockCaller(unit.tx, caller)
      if (await isUnavailable(unit, email, caller.id)) throw taken
      await storeEmail(unit, caller.id, email, null)
    })
  } catch (error) {
    if (isDuplicate(error, 'users_email')) throw taken
    throw error
  }
}

async function storeEmail(unit: UnitOfWork, userId: string, email: string, verifiedAt: Date | string | null) {
  await unit.tx.run(sql`
    update users set email = ${email}, email_verified_at = ${verifiedAt}, pending_email = null, mail_problem = null
    where id = ${userId}`)
  await deleteLinks(unit, userId, ['verify', 'change'])
  await endResetLinks(unit, userId)
}

export async function requestVerification(ctx: Context, caller: Person) {
  const { config, db, clock } = ctx
  if (!config.mail) throw new ApiError('MAIL_NOT_CONFIGURED')
  await takeOneInHour(db, `verification ${caller.id}`, accountLimits.verificationsPerPerson, clock.now())
  await transact(ctx, caller, async (unit) => {
    const user = await unit.tx.row<{ email: string }>(sql`
      select email from users
      where id = ${caller.id} and (email_verified_at is null or mail_problem is not null) for update`)
    if (user) await queueVerification(unit, ctx.keys, caller.id, user.email)
  })
}

/** Only with a login of the account: otherwise a click by the owner of the address would verify another's account. */
export async function confirmEmail(ctx: Context, caller: Person, token: string) {
  try {
    await transact(ctx, caller, async (unit) => {
      const { tx, now } = unit
      const stored = await lockedEmail(unit, caller.id)
      const link = await findLink(tx, token, ['verify', 'change'], now)
      const address = link?.kind === 'change' ? stored.pending : stored.email
      if (!link || link.userId !== caller.id || link.email !== address) throw notFound()
      await useLink(unit, token)
      if (link.kind === 'change') return storeEmail(unit, caller.id, link.email, now)
      await tx.run(sql`update users set email_verified_at = ${now}, mail_problem = null where id = ${caller.id}`)
    })
  } catch (error) {
    // Another account took the address meanwhile.
    if (isDuplicate(error, 'users_email')) throw notFound()
    throw error
  }
}

/**
 * Restores the address, whether the change was confirmed or not. Password reset is blocked for a day: who has this link
 * has the old mailbox, and should not get the account with it before its owner can react.
 */
export async function undoEmailChange(ctx: Context, token: string) {
  const link = await findLink(ctx.db, token, ['undo'], ctx.clock.now())
  if (!link) throw notFound()
  try {
    await transact(ctx, null, (unit) => restoreEmail(unit, ctx.keys, link, token))
  } catch (error) {
    // An account that was created while the change was under way has the address.
    if (isDuplicate(error, 'users_email')) throw notFound()
    throw error
  }
}

async function restoreEmail(unit: UnitOfWork, keys: Keyring, link: Link, token: string) {
  const { tx, now } = unit
  const { email, pending } = await lockedEmail(unit, link.userId)
  if (!(await useLink(unit, token))) throw notFound()
  // It is verified only if it was: a click does not verify an address that another person registered.
  await storeEmail(unit, link.userId, link.email, link.verifiedAt)
  await tx.run(sql`update users set reset_blocked_until = ${plus(now, blockedMs)} where id = ${link.userId}`)
  await deleteLaterUndos(unit, link)
  await endEverythingOf(tx, now, link.userId)
  await forgetNetworks(tx, link.userId)
  const address = email === link.email ? pending : email
  const data = { event: 'email_restored' }
  if (address) await queueMail(unit, keys, { kind: 'security', userId: link.userId, address, data })
}

/** Those of changes that followed would bring back the address that was just undone. */
const deleteLaterUndos = ({ tx }: UnitOfWork, { userId, createdAt }: Link) =>
  tx.run(sql`delete from account_links where user_id = ${userId} and kind = 'undo' and created_at >= ${createdAt}`)
