import {
  type InboxKind,
  inboxKinds,
  inboxLimits,
  type NewNotificationSettings,
  type NotificationSettings,
  type NotificationWay,
} from '@baton/protocol'
import { minutes, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { json, type Sql, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { transact } from '../unit-of-work.ts'

/** How each kind is mailed until the user chooses. */
const defaultWays: Record<InboxKind, NotificationWay> = {
  mention: 'immediately',
  assignment: 'immediately',
  comment: 'daily',
  status: 'daily',
  agent_needs_you: 'immediately',
  agent_finished: 'immediately',
  webhook_failing: 'immediately',
  webhook_struggling: 'immediately',
  install_request: 'immediately',
  budget_reached: 'immediately',
  automation_notice: 'immediately',
  automation_paused: 'immediately',
  review_requested: 'immediately',
  suggestions_ready: 'daily',
}
const defaultHour = 8

type Place = Pick<Member, 'workspaceId' | 'id'>

export const waysOf = (stored: Partial<Record<InboxKind, NotificationWay>> | null) => {
  const chosen = (kind: InboxKind) => stored?.[kind] ?? defaultWays[kind]
  return Object.fromEntries(inboxKinds.map((kind) => [kind, chosen(kind)])) as Record<InboxKind, NotificationWay>
}

export async function readSettings(db: Queryable, { workspaceId, id }: Place): Promise<NotificationSettings> {
  const stored = await db.row<NotificationSettings>(sql`
    select kinds, digest_hour, paused from notification_settings
    where workspace_id = ${workspaceId} and user_id = ${id}`)
  const { kinds = null, digest_hour = defaultHour, paused = false } = stored ?? {}
  return { kinds: waysOf(kinds), digest_hour, paused }
}

export const setSettings = (ctx: Context, caller: Member, settings: NewNotificationSettings) =>
  transact(ctx, caller, async ({ tx, now }) => {
    const { kinds, digest_hour, paused } = settings
    await tx.run(sql`
      insert into notification_settings (workspace_id, user_id, kinds, digest_hour, paused)
      values (${caller.workspaceId}, ${caller.id}, ${json(kinds)}, ${digest_hour}, ${paused})
      on conflict (workspace_id, user_id) do update
      set kinds = excluded.kinds, digest_hour = excluded.digest_hour, paused = excluded.paused`)
    await (paused ? dropPlans(tx, caller) : reschedule(tx, caller, now))
    return readSettings(tx, caller)
  })

/** Sets kinds to `never`; nothing happens if the user is no longer a member. */
export async function muteKinds(ctx: Context, { workspaceId, id }: Place, kinds: readonly InboxKind[]) {
  const muted = json(Object.fromEntries(kinds.map((kind) => [kind, 'never'])))
  await ctx.db.run(sql`
    insert into notification_settings as s (workspace_id, user_id, kinds)
    select workspace_id, user_id, ${muted} from memberships where workspace_id = ${workspaceId} and user_id = ${id}
    on conflict (workspace_id, user_id) do update set kinds = s.kinds || excluded.kinds`)
}

const dropPlans = (tx: Queryable, { workspaceId, id }: Place) =>
  tx.run(sql`delete from mail_due where workspace_id = ${workspaceId} and user_id = ${id}`)

/** Entries that wait for a mail may now belong to the other one. The worker drops a mail without entries. */
const reschedule = (tx: Queryable, { workspaceId, id }: Place, now: Date) =>
  tx.run(sql`
    insert into mail_due as d (workspace_id, user_id, way, since, due_at)
    select ${workspaceId}, ${id}, ways.way, min(old.since), ${dueAt(sql`ways.way`, now)}
    from mail_due old cross join (values ('immediately'), ('daily')) ways (way)
    where old.workspace_id = ${workspaceId} and old.user_id = ${id}
    group by ways.way
    on conflict (workspace_id, user_id, way) do update
    set since = least(d.since, excluded.since), due_at = least(d.due_at, excluded.due_at)`)

/** A daily mail is looked at soon: the worker knows time zones and decides when it is due. */
const dueAt = (way: Sql, now: Date) => {
  const soon = plus(now, minutes(inboxLimits.mailedAfterMinutes))
  return sql`case ${way} when 'immediately' then ${soon}::timestamptz else ${now}::timestamptz end`
}

/**
 * A statement that plans the mails for new entries, which are rows (user_id, kind) of `added`. An existing plan stays,
 * and is locked: the worker must not drop it before it sees these entries.
 */
export const scheduleMails = (added: Sql, workspaceId: string, now: Date) => sql`
  insert into mail_due as d (workspace_id, user_id, way, since, due_at)
  select distinct ${workspaceId}, a.user_id, ways.way, ${now}::timestamptz, ${dueAt(sql`ways.way`, now)}
  from ${added} a
  left join notification_settings s on s.workspace_id = ${workspaceId} and s.user_id = a.user_id
  cross join lateral (select coalesce(s.kinds ->> a.kind, ${json(defaultWays)} ->> a.kind) as way) ways
  where ways.way <> 'never' and not coalesce(s.paused, false)
  order by 2, 3
  on conflict (workspace_id, user_id, way) do update set due_at = d.due_at`
