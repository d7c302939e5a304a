import { addAbortSignal } from 'node:stream'
import { programLimits } from '@baton/protocol'
import { days, plus, repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import { json, sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import { NoSuchKey, type Storage } from '../storage/storage.ts'
import { archiveKey } from './exports.ts'
import { ArchiveProblem } from './read-archive.ts'
import {
  type ClaimedRestore,
  ClaimLost,
  type CreateAgent,
  claimMs,
  discardBuilding,
  restoreArchive,
} from './restore-archive.ts'
import { restoreKey } from './restores.ts'
import { writeArchive } from './write-archive.ts'

const everyMs = 3000
const maxAttempts = 3
/** What became of a restore is shown for this time. */
const restoresKeptMs = days(30)

/** Writes one archive and restores one, if any wait. Returns how many it worked on. `signal` leaves them to others. */
export async function workOnArchives(
  ctx: Context,
  createAgent: CreateAgent,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const { storage } = ctx
  if (!storage) return 0
  await sweepArchives(ctx, storage)
  const worked = await Promise.all([writeNext(ctx, storage, signal), restoreNext(ctx, storage, createAgent, signal)])
  return worked.filter(Boolean).length
}

export function startArchives(ctx: Context, createAgent: CreateAgent): () => Promise<void> {
  const stopping = new AbortController()
  const stop = repeat(
    ctx.clock,
    everyMs,
    () => workOnArchives(ctx, createAgent, stopping.signal),
    ({ message }) => ctx.log.warn({ message }, 'could not export or restore'),
  )
  return () => {
    stopping.abort()
    return stop()
  }
}

async function writeNext(ctx: Context, storage: Storage, signal: AbortSignal): Promise<boolean> {
  const { db, clock, log } = ctx
  const now = clock.now()
  const claimId = newId('wrk')
  const claimed = await db.row<{ id: string; workspace_id: string; attempts: number }>(sql`
    update exports set claim_id = ${claimId}, claimed_until = ${plus(now, claimMs)}, attempts = attempts + 1
    where id = (
      select id from exports where state = 'running' and (claimed_until is null or claimed_until <= ${now})
      order by id limit 1 for update skip locked)
    returning id, workspace_id, attempts`)
  if (!claimed) return false
  const { id } = claimed
  const held = sql`id = ${id} and claim_id = ${claimId}`
  const release = (state: 'running' | 'failed', until: Date | null) =>
    db.run(sql`update exports set state = ${state}, claimed_until = ${until}, claim_id = null where ${held}`)
  // Workers died while they wrote it.
  if (claimed.attempts > maxAttempts) return (await release('failed', null)) > 0
  // Another worker writes the same key once it has the claim.
  const lost = new AbortController()
  const ended = AbortSignal.any([signal, lost.signal])
  const renew = async () => {
    const renewed = await db.run(sql`
      update exports set claimed_until = ${plus(clock.now(), claimMs)} where ${held}`)
    if (renewed === 0) lost.abort()
  }
  const stopRenewing = repeat(clock, claimMs / 4, renew, ({ message }) => log.warn({ message }, 'could not renew'))
  try {
    const archive = await writeArchive(ctx, storage, claimed.workspace_id, ended)
    try {
      await storage.put(archiveKey(id), addAbortSignal(ended, archive.read()), archive.bytes)
    } finally {
      await archive.close()
    }
    const ready = await db.run(sql`
      update exports set state = 'ready', bytes = ${archive.bytes}, claimed_until = null, claim_id = null where ${held}`)
    // Deleted meanwhile, or another worker has the claim.
    if (ready === 0) await removeIfDeleted(ctx, storage, id)
  } catch (error) {
    if (signal.aborted) await release('running', null)
    else if (!lost.signal.aborted) {
      log.error({ export: id, message: (error as Error).message }, 'an export failed')
      await release(claimed.attempts < maxAttempts ? 'running' : 'failed', plus(clock.now(), claimMs))
    }
  } finally {
    await stopRenewing()
  }
  return true
}

async function removeIfDeleted({ db }: Context, storage: Storage, id: string) {
  const kept = await db.row(sql`select 1 from exports where id = ${id} and deleted_at is null`)
  if (!kept) await storage.remove(archiveKey(id))
}

async function restoreNext(
  ctx: Context,
  storage: Storage,
  createAgent: CreateAgent,
  signal: AbortSignal,
): Promise<boolean> {
  const { db, clock, log } = ctx
  const now = clock.now()
  const claimed = await db.row<ClaimedRestore & { attempts: number }>(sql`
    update restores set claim_id = ${newId('wrk')}, claimed_until = ${plus(now, claimMs)}, attempts = attempts + 1
    where id = (
      select id from restores
      where state in ('reading', 'running') and (claimed_until is null or claimed_until <= ${now})
      order by id limit 1 for update skip locked)
    returning id, user_id, claim_id, attempts`)
  if (!claimed) return false
  const { id, claim_id } = claimed
  const held = sql`id = ${id} and claim_id = ${claim_id}`
  const renew = () => db.run(sql`update restores set claimed_until = ${plus(clock.now(), claimMs)} where ${held}`)
  const stopRenewing = repeat(clock, claimMs / 4, renew, ({ message }) => log.warn({ message }, 'could not renew'))
  const fail = async ({ path, line, message }: ArchiveProblem) => {
    // export.restore-hostile: a failed restore leaves no data. If this fails, the restore is claimed again.
    await discardBuilding(ctx, storage, claimed)
    await db.run(sql`
      update restores set state = 'failed', claimed_until = null, problems = ${json([{ path, line, message }])},
        updated_at = ${clock.now()}
      where ${held}`)
    await storage.remove(restoreKey(id))
  }
  try {
    if (claimed.attempts > maxAttempts) throw unrestorable
    await restoreArchive(ctx, storage, claimed, createAgent, signal)
    await storage.remove(restoreKey(id))
  } catch (error) {
    if (signal.aborted) await db.run(sql`update restores set claimed_until = null, claim_id = null where ${held}`)
    else if (error instanceof ArchiveProblem) await fail(error)
    else if (error instanceof NoSuchKey) await fail(new ArchiveProblem('The archive did not arrive completely.'))
    else if (!(error instanceof ClaimLost)) {
      log.error({ restore: id, message: (error as Error).message }, 'a restore failed')
      if (claimed.attempts >= maxAttempts) await fail(unrestorable)
    }
  } finally {
    await stopRenewing()
  }
  return true
}

const unrestorable = new ArchiveProblem('The archive could not be restored. Tell the operator of this instance.')

/** Deletes archives after their time, and rows when they no longer count. */
async function sweepArchives({ db, clock }: Context, storage: Storage) {
  const now = clock.now()
  const before = plus(now, -days(programLimits.exportDays))
  const expired = await db.rows<{ id: string }>(sql`
    select id from exports where created_at <= ${before} and state <> 'running' order by created_at limit 100`)
  for (const { id } of expired) {
    await storage.remove(archiveKey(id))
    await db.run(sql`delete from exports where id = ${id}`)
  }
  await db.run(sql`
    delete from restores where created_at <= ${plus(now, -restoresKeptMs)} and state in ('done', 'failed')`)
}
