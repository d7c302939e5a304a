import { days, plus } from '../clock.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** Owners are reminded so many days before the purge. */
export const reminderDays = 3

/** Who and what a mail about a deletion names. */
export interface Deletion {
  id: string
  name: string
  ownerIds: string[]
}

const owners = sql`array(
  select m.user_id from memberships m where m.workspace_id = w.id and m.role = 'owner' order by m.user_id)`

/** Of the locked workspace. With a delay that is not longer than the reminder, the first mail is the reminder. */
export const setDeletion = (tx: Tx, workspaceId: string, now: Date, afterDays: number) =>
  tx.row<Deletion & { at: string }>(sql`
    update workspaces w set deletion_at = ${plus(now, days(afterDays))},
      deletion_reminded_at = ${afterDays <= reminderDays ? now : null}
    where id = ${workspaceId}
    returning id, name, deletion_at as at, ${owners} as "ownerIds"`)

/** Returns false if none is pending, or the purge has begun. */
export const clearDeletion = async (tx: Tx, workspaceId: string) =>
  (await tx.run(sql`
    update workspaces set deletion_at = null, deletion_reminded_at = null
    where id = ${workspaceId} and deletion_at is not null and purged_since is null`)) > 0

/** Marks and returns the deletions whose owners are to be reminded now. */
export const takeReminders = (tx: Tx, now: Date, limit: number) =>
  tx.rows<Deletion>(sql`
    update workspaces w set deletion_reminded_at = ${now}
    where id in (
      select id from workspaces
      where deletion_at <= ${plus(now, days(reminderDays))} and deletion_reminded_at is null and purged_since is null
      order by deletion_at limit ${limit} for no key update skip locked)
    returning id, name, ${owners} as "ownerIds"`)

/** The oldest first. With an owner of each, if there is one. */
export const pendingDeletions = (db: Queryable, now: Date) =>
  db.rows<{ id: string; isDue: boolean; owner: { id: string; name: string } | null }>(sql`
    select w.id, w.deletion_at <= ${now} as "isDue", (
      select jsonb_build_object('id', u.id, 'name', u.display_name)
      from memberships m join users u on u.id = m.user_id
      where m.workspace_id = w.id and m.role = 'owner' order by m.joined_at, u.id limit 1) as owner
    from workspaces w where w.deletion_at is not null order by w.deletion_at`)

/** Makes the deletion due at once, also one that is pending (admin.delete-workspace). */
export const makeDeletionDue = (tx: Tx, workspaceId: string, now: Date) =>
  tx.run(sql`
    update workspaces set deletion_at = ${now}, deletion_reminded_at = coalesce(deletion_reminded_at, ${now})
    where id = ${workspaceId} and purged_since is null`)

/**
 * From now on members have no access, and the deletion cannot be canceled. The owners are remembered, because their
 * memberships are purged too. Returns false if the deletion was canceled before.
 */
export async function beginPurge(tx: Tx, workspaceId: string, now: Date) {
  await tx.run(sql`
    update workspaces w set purged_since = ${now}, purge_told_ids = ${owners}
    where id = ${workspaceId} and deletion_at <= ${now} and purged_since is null`)
  return Boolean(await tx.row(sql`select 1 from workspaces where id = ${workspaceId} and purged_since is not null`))
}

/** Locks a workspace that is being purged. Undefined while another worker has it, or once it is gone. */
export const lockPurged = (tx: Tx, workspaceId: string) =>
  tx.row<{ name: string; since: string; toldIds: string[] }>(sql`
    select name, purged_since as since, purge_told_ids as "toldIds" from workspaces
    where id = ${workspaceId} and purged_since is not null for no key update skip locked`)
