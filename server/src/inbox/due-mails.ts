import { type InboxKind, inboxLimits, type NotificationWay, type Role } from '@baton/protocol'
import { days, hours, minutes, plus, repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Keyring } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { takeInHourIfAllowed } from '../http/rate-window.ts'
import { queueMail } from '../mail/queue.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { type Day, dayOfDigest, nextDigest } from './digest-time.ts'
import { readEntries } from './entries.ts'
import { waysOf } from './settings.ts'
import { endSnoozes, isPutAway } from './threads.ts'

const everyMs = 2000
const plansAtOnce = 50
/** Older entries are not mailed: mail was off, or the service stopped. */
const keptMs = days(3)
const entriesTaken = 500
const entriesShown = 100

/** The next mail of a user in a workspace. */
interface Plan {
  workspaceId: string
  userId: string
  way: Exclude<NotificationWay, 'never'>
  since: string
  role: Role
  zone: string
  kinds: Partial<Record<InboxKind, NotificationWay>> | null
  hour: number
  paused: boolean
  digestedOn: Day | null
  activeAt: string | null
  /** The address is verified and takes mail. */
  reachable: boolean
}

/** Queues the notifications that are due. Any number of workers may run it. */
export async function queueNotifications(ctx: Context) {
  if (!ctx.config.mail) return
  while ((await transact(ctx, null, (unit) => queueBatch(unit, ctx.keys))) === plansAtOnce);
}

export function startNotifications(ctx: Context) {
  const work = async () => {
    await endSnoozes(ctx.db, ctx.clock.now())
    await queueNotifications(ctx)
  }
  return repeat(ctx.clock, everyMs, work, ({ message }) => ctx.log.warn({ message }, 'notifications are delayed'))
}

async function queueBatch(unit: UnitOfWork, keys: Keyring): Promise<number> {
  const { tx, now } = unit
  const plans = await tx.rows<Plan>(sql`
    select d.workspace_id as "workspaceId", d.user_id as "userId", d.way, d.since, m.role,
      coalesce(u.time_zone, 'UTC') as zone, s.kinds, coalesce(s.digest_hour, 8) as hour,
      coalesce(s.paused, false) as paused, s.digested_on::text as "digestedOn", p.active_at as "activeAt",
      u.email_verified_at is not null and u.mail_problem is null and u.disabled_at is null as reachable
    from mail_due d
    join memberships m on m.workspace_id = d.workspace_id and m.user_id = d.user_id
    join users u on u.id = d.user_id
    left join notification_settings s on s.workspace_id = d.workspace_id and s.user_id = d.user_id
    left join presence p on p.user_id = d.user_id
    where d.due_at <= ${now} order by d.due_at limit ${plansAtOnce} for update of d skip locked`)
  for (const plan of plans) {
    const dueAt = waitsUntil(plan, now) ?? (await queueOne(unit, keys, plan))
    const which = sql`workspace_id = ${plan.workspaceId} and user_id = ${plan.userId} and way = ${plan.way}`
    await tx.run(
      dueAt ? sql`update mail_due set due_at = ${dueAt} where ${which}` : sql`delete from mail_due where ${which}`,
    )
  }
  return plans.length
}

/** When to look at the plan again, if it is not due yet. */
function waitsUntil({ way, zone, hour, since, digestedOn, activeAt }: Plan, now: Date): Date | null {
  if (way === 'daily') {
    const digestAt = nextDigest(zone, hour, new Date(since), digestedOn)
    // The time zone may change meanwhile.
    if (digestAt > now) return digestAt < plus(now, hours(1)) ? digestAt : plus(now, hours(1))
  }
  const quietUntil = activeAt === null ? now : plus(new Date(activeAt), minutes(inboxLimits.activeMinutes))
  return quietUntil > now ? quietUntil : null
}

/** Queues the mail of a plan and returns null, or the time at which to look at it again. */
async function queueOne(unit: UnitOfWork, keys: Keyring, plan: Plan): Promise<Date | null> {
  const { tx, now } = unit
  const { workspaceId, userId, way } = plan
  if (!plan.reachable || plan.paused) return null
  const entries = await waitingEntries(unit, plan)
  const first = entries.at(-1)
  if (!first) return null
  const bundledUntil = plus(new Date(first.created_at), minutes(inboxLimits.mailedAfterMinutes))
  if (way === 'immediately' && bundledUntil > now) return bundledUntil
  const { allowed, reset_ms } = await takeInHourIfAllowed(
    tx,
    `notifications ${userId}`,
    inboxLimits.notificationsPerHour,
    now,
  )
  if (!allowed) return plus(now, Math.max(reset_ms, 1000))
  const ids = await takeEntries(unit, entries)
  if (ids.length === 0) return null
  await queueMail(unit, keys, {
    kind: 'notification',
    userId,
    workspaceId,
    data: { way, entry_ids: ids.slice(0, entriesShown), more: Math.max(ids.length - entriesShown, 0) },
  })
  if (way === 'daily') await noteDigest(unit, plan)
  return null
}

/** Those that no other worker took: with settings that change meanwhile, an entry can be in both plans of a user. */
async function takeEntries({ tx, now }: UnitOfWork, entries: { id: string }[]): Promise<string[]> {
  const taken = await tx.rows<{ id: string }>(sql`
    update inbox_entries set mailed_at = ${now}
    where id = any(${entries.map(({ id }) => id)}) and mailed_at is null returning id`)
  return taken
    .map(({ id }) => id)
    .sort()
    .reverse()
}

/** The unread entries that no mail contains, newest first. */
function waitingEntries({ tx, now, config }: UnitOfWork, { workspaceId, userId, role, way, since, kinds }: Plan) {
  const oldest = new Date(Math.max(Date.parse(since), plus(now, -keptMs).getTime()))
  const ways = waysOf(kinds)
  const mailed = (Object.keys(ways) as InboxKind[]).filter((kind) => ways[kind] === way)
  return readEntries(
    tx,
    config,
    { id: userId, workspaceId, role },
    sql`and e.read_at is null and e.mailed_at is null and e.created_at >= ${oldest} and e.kind = any(${mailed})
      and not ${isPutAway(now)} order by e.id desc limit ${entriesTaken}`,
  )
}

const noteDigest = ({ tx, now }: UnitOfWork, { workspaceId, userId, zone, hour }: Plan) => {
  const day = dayOfDigest(zone, hour, now)
  return tx.run(sql`
    insert into notification_settings (workspace_id, user_id, digested_on) values (${workspaceId}, ${userId}, ${day}::date)
    on conflict (workspace_id, user_id) do update set digested_on = excluded.digested_on`)
}
