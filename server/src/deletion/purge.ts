import { uninstallBeforePurge } from '../agent-apps/installations.ts'
import { minutes, plus, repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { deleteBatch, deleteRows, type Position, type PurgedTable, workspaceTables } from '../db/purge.ts'
import { type Sql, sql } from '../db/sql.ts'
import { pauseEndpoints } from '../delivery/endpoints.ts'
import type { Member } from '../http/caller.ts'
import { deleteUsers } from '../login/users.ts'
import { transact } from '../unit-of-work.ts'
import { beginPurge, lockPurged, makeDeletionDue, pendingDeletions, takeReminders } from '../workspaces/deletion.ts'
import { deleteWorkspaces } from '../workspaces/workspaces.ts'
import { stopSessions } from './deletion.ts'
import { mailOwners } from './mails.ts'
import { removeBytes } from './stored-bytes.ts'

const everyMs = 10_000
const remindersAtOnce = 20
const usersAtOnce = 20
/** A `revoked` that could not be attempted within this time is given up. */
const revokedWithinMs = minutes(10)

/**
 * Moves every pending deletion on: stops sessions that were opened while it began, reminds owners, and purges the
 * workspaces that are due. Any number of workers may run it. Each batch locks the workspace, so that one of them purges
 * it; if that one dies, another continues.
 */
export async function advanceDeletions(ctx: Context) {
  await remindOwners(ctx)
  for (const { id, isDue, owner } of await pendingDeletions(ctx.db, ctx.clock.now())) {
    // One that fails, for example because the storage cannot be reached, does not keep the others.
    await (isDue ? purge(ctx, id) : stopLeft(ctx, id, owner)).catch(({ message }: Error) =>
      ctx.log.warn({ workspace: id, message }, 'could not continue the deletion of a workspace; retrying'),
    )
  }
}

export const startDeletions = (ctx: Context) =>
  repeat(
    ctx.clock,
    everyMs,
    () => advanceDeletions(ctx),
    ({ message }) => ctx.log.warn({ message }, 'could not continue the deletion of workspaces; retrying'),
  )

const remindOwners = (ctx: Context) =>
  transact(ctx, null, async (unit) => {
    for (const deletion of await takeReminders(unit.tx, unit.now, remindersAtOnce)) {
      await mailOwners(unit, ctx.keys, 'deletion_soon', deletion)
    }
  })

/** The author of a stop signal is an owner. */
const stopLeft = async (ctx: Context, workspaceId: string, owner: { id: string; name: string } | null) => {
  if (owner) await stopSessions(ctx, asOwner(workspaceId, owner))
}

const asOwner = (workspaceId: string, { id, name }: { id: string; name: string }): Member => ({
  kind: 'person',
  id,
  name,
  email: '',
  tokenHash: Buffer.alloc(0),
  scopes: null,
  workspaceId,
  role: 'owner',
  loginMethod: null,
  recent: false,
  pendingDeletion: true,
})

/**
 * Deletes a workspace without delay, for the operator; apps are not told. If another worker purges it too, call it again
 * until it returns true (admin.delete-workspace).
 */
export async function purgeAtOnce(ctx: Context, id: string): Promise<boolean> {
  await ctx.db.tx((tx) => makeDeletionDue(tx, id, ctx.clock.now()))
  await purge(ctx, id, { tellApps: false })
  return !(await ctx.db.row(sql`select 1 from workspaces where id = ${id}`))
}

/** export.deletion-purges */
async function purge(ctx: Context, id: string, { tellApps } = { tellApps: true }) {
  const { db, clock, log } = ctx
  // It may have been canceled while other workspaces were purged.
  if (!(await db.tx((tx) => beginPurge(tx, id, clock.now())))) return
  while (await uninstallBeforePurge(ctx, id));
  if (tellApps && (await waitsForRevoked(ctx, id))) return
  // No second attempt.
  await db.tx((tx) => pauseEndpoints(tx, id))
  if (!(await removeBytes(ctx, id))) return
  for (const table of await workspaceTables(db)) {
    // Its rows go with the agents' users, which sessions refer to.
    if (table.name === 'inside_agents') continue
    const work = table.name === 'installations' ? purgeAppUsers : purgeRows(table)
    if (!(await inBatches(ctx, id, work))) return
    log.info({ workspace: id, table: table.name }, 'purged')
  }
  if (!(await inBatches(ctx, id, purgeInsideAgents))) return
  if (!(await inBatches(ctx, id, purgePlaceholders))) return
  await finish(ctx, id)
  log.info({ workspace: id }, 'deleted the workspace')
}

/** Whether an app that was just uninstalled is still to be told. */
const waitsForRevoked = async ({ db, clock }: Context, id: string) =>
  (await db.row(sql`
    select 1 from workspaces w join endpoints e on e.workspace_id = w.id join deliveries d on d.endpoint_id = e.id
    where w.id = ${id} and w.purged_since > ${plus(clock.now(), -revokedWithinMs)}
      and not e.paused and e.state = 'enabled' and e.deleted_at is null
      and d.survives_revocation and d.status = 'pending' and d.attempts = 0
    limit 1`)) !== undefined

/** Deletes a batch that begins at `from`. */
type Batch = (tx: Tx, workspaceId: string, from: number) => Promise<Position>

/** Returns false if another worker purges the workspace. */
async function inBatches({ db }: Context, id: string, work: Batch): Promise<boolean> {
  for (let at: Position = 0; at !== null; ) {
    const from: number = at
    const done: { next: Position } | undefined = await db.tx(async (tx) =>
      (await lockPurged(tx, id)) ? { next: await work(tx, id, from) } : undefined,
    )
    if (!done) return false
    at = done.next
  }
  return true
}

const purgeRows =
  (table: PurgedTable): Batch =>
  async (tx, id, from) =>
    (await deleteBatch(tx, table, id, from)).next

/** Few rows, but each user that is deleted searches tables that have no index on their users. */
const withoutTimeout = (tx: Tx) => tx.run(sql`set local statement_timeout = 0`)

async function purgeUsers(tx: Tx, found: Sql, deleteFirst = async (_ids: string[]) => {}): Promise<Position> {
  const rows = await tx.rows<{ id: string; userId: string }>(sql`${found} limit ${usersAtOnce}`)
  if (rows.length === 0) return null
  await withoutTimeout(tx)
  await deleteFirst(rows.map(({ id }) => id))
  await deleteUsers(
    tx,
    rows.map(({ userId }) => userId),
  )
  return 0
}

const purgeAppUsers: Batch = (tx, id) =>
  purgeUsers(
    tx,
    sql`select id, app_user_id as "userId" from installations where workspace_id = ${id} order by id`,
    async (ids) => {
      await deleteRows(tx, 'installations', id, ids)
    },
  )

const purgeInsideAgents: Batch = (tx, id) =>
  purgeUsers(tx, sql`select user_id as id, user_id as "userId" from inside_agents where workspace_id = ${id}`)

const purgePlaceholders: Batch = (tx, id) =>
  purgeUsers(tx, sql`select id, id as "userId" from users where placeholder_in = ${id}`)

const finish = (ctx: Context, id: string) =>
  transact(ctx, null, async (unit) => {
    const { tx } = unit
    const workspace = await lockPurged(tx, id)
    if (!workspace) return
    await withoutTimeout(tx)
    await deleteWorkspaces(tx, [id])
    await mailOwners(unit, ctx.keys, 'deletion_done', { id, name: workspace.name, ownerIds: workspace.toldIds })
  })
