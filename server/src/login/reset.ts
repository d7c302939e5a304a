import { accountLimits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { ApiError, notFound } from '../http/errors.ts'
import { networkOf } from '../http/rate-limit.ts'
import { takeOneInHour } from '../http/rate-window.ts'
import { queueMail } from '../mail/queue.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { afterResponse } from './after-response.ts'
import { endEverythingOf, removeMethodsOf } from './end.ts'
import { emailHash } from './guesses.ts'
import { forgetNetworks } from './known-networks.ts'
import { createLink, deleteLinks, endResetLinks, findLink, operatorLinkIsCurrent, useLink } from './links.ts'
import { lockUser } from './methods.ts'
import { isOperatorLink, readOperatorLink } from './operator-link.ts'
import { hashPassword } from './passwords.ts'
import { tellOwner } from './security-mails.ts'
import { lowerCase } from './sign-up.ts'
import { refuseInSsoOnly } from './sso-only.ts'

/** The same answer in the same time for any address, so all work on the account comes after it (reset.same-answer). */
export async function requestReset(ctx: Context, address: string, typed: string) {
  const { config, db, clock } = ctx
  refuseInSsoOnly(config)
  if (!config.mail) throw new ApiError('MAIL_NOT_CONFIGURED')
  const email = lowerCase(typed)
  await takeOneInHour(db, `reset network ${networkOf(address)}`, accountLimits.resetsPerNetwork, clock.now())
  await takeOneInHour(db, `reset e-mail ${emailHash(email)}`, accountLimits.resetsPerEmail, clock.now())
  afterResponse(ctx, 'a password reset', () => mailReset(ctx, email))
}

const mailReset = (ctx: Context, email: string) =>
  transact(ctx, null, async (unit) => {
    const { tx, now } = unit
    const user = await tx.row<{ id: string; email: string; has_password: boolean; blocked: boolean }>(sql`
      select id, email, password_hash is not null as has_password,
        coalesce(reset_blocked_until > ${now}, false) as blocked
      from users where email = ${email} and disabled_at is null for update`)
    if (!user) return
    // The mail goes to the stored address: the one that was typed may differ from it (reset.to-stored-address).
    const mail = { kind: 'reset', userId: user.id }
    if (user.blocked) return void (await queueMail(unit, ctx.keys, { ...mail, data: { instead: 'blocked' } }))
    if (!user.has_password) return void (await queueMail(unit, ctx.keys, { ...mail, data: { instead: 'methods' } }))
    const { token, expiresAt } = await createLink(unit, { userId: user.id, kind: 'reset', email: user.email })
    await queueMail(unit, ctx.keys, { ...mail, secret: token, expiresAt })
  })

interface Target {
  userId: string
  email: string
  verified: boolean
  /** Of an operator's link. */
  issuedAt: Date | null
}

/** Ends everything of the account, and does not sign in (reset.ends-everything). */
export async function confirmReset(ctx: Context, token: string, password: string) {
  const { config, keys } = ctx
  const target = await findTarget(ctx, ctx.db, token, ctx.clock.now())
  refuseInSsoOnly(config, target?.email)
  if (!target) throw notFound()
  // Hashing is expensive, so it comes after the check.
  const fresh = await hashPassword(password)
  await transact(ctx, null, async (unit) => {
    const { tx, now } = unit
    await lockUser(tx, target.userId)
    const current = await findTarget(ctx, tx, token, now)
    if (!current || (!current.issuedAt && !(await useLink(unit, token)))) throw notFound()
    await resetPassword(unit, current, fresh)
    await endResetLinks(unit, current.userId, latest(now, current.issuedAt))
    await forgetNetworks(tx, current.userId)
    await tellOwner(unit, keys, current.userId, 'password_changed')
  })
}

/**
 * Sets a password as an operator's link does, without one. `record` writes down that it was done, in the transaction.
 * Returns false if the address has no account.
 */
export async function resetAsOperator(
  ctx: Context,
  email: string,
  password: string,
  record: (unit: UnitOfWork, userId: string) => Promise<void>,
): Promise<boolean> {
  const fresh = await hashPassword(password)
  return transact(ctx, null, async (unit) => {
    const { tx, now } = unit
    const target = await findAccount(tx, sql`email = ${email}`, now)
    if (!target) return false
    await lockUser(tx, target.userId)
    await resetPassword(unit, target, fresh)
    await endResetLinks(unit, target.userId)
    await forgetNetworks(tx, target.userId)
    await tellOwner(unit, ctx.keys, target.userId, 'password_changed')
    await record(unit, target.userId)
    return true
  })
}

async function resetPassword(unit: UnitOfWork, { userId, verified, issuedAt }: Target, fresh: string) {
  const { tx, now } = unit
  await endEverythingOf(tx, now, userId)
  // Another person may have registered the address, with a passkey or an identity of their own.
  if (!verified) await removeMethodsOf(tx, userId)
  await deleteLinks(unit, userId, ['verify', 'change'])
  // An operator's link proves nothing about the mailbox.
  await tx.run(sql`
    update users set password_hash = ${fresh}, pending_email = null,
      email_verified_at = coalesce(email_verified_at, ${issuedAt ? null : now}),
      mail_problem = case when ${issuedAt === null} then null else mail_problem end
    where id = ${userId}`)
}

/** The account that the link is for, if the link is valid. */
async function findTarget({ keys }: Context, db: Queryable, token: string, now: Date): Promise<Target | undefined> {
  if (!isOperatorLink(token)) {
    const link = await findLink(db, token, ['reset'], now)
    return link && findAccount(db, sql`id = ${link.userId} and email = ${link.email}`, null)
  }
  const link = readOperatorLink(keys, token, now)
  if (!link) return undefined
  const target = await findAccount(db, sql`email = ${link.email} and created_at <= ${link.issuedAt}`, link.issuedAt)
  return target && (await operatorLinkIsCurrent(db, target.userId, link.issuedAt)) ? target : undefined
}

const findAccount = async (db: Queryable, which: Sql, issuedAt: Date | null) => {
  const user = await db.row<Omit<Target, 'issuedAt'>>(sql`
    select id as "userId", email, email_verified_at is not null as verified from users
    where ${which} and disabled_at is null`)
  return user && { ...user, issuedAt }
}

/** The operator's clock may be ahead of ours; the link must not work again until then. */
const latest = (now: Date, issuedAt: Date | null) => (issuedAt && issuedAt > now ? issuedAt : now)
