import type { Restore } from '@baton/protocol'
import { minutes, plus, repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import { isDuplicate } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Person } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import { rateLimited } from '../http/rate-limit.ts'
import type { Upload } from '../http/route.ts'
import { newId } from '../ids.ts'
import { WrongLength } from '../storage/storage.ts'
import { transact } from '../unit-of-work.ts'
import { mustBeBelowLimit } from '../workspaces/workspaces.ts'
import { mustHaveStorage } from './exports.ts'

const columns = sql`id, state, workspace_id, problems`
const uploadClaimMs = minutes(2)
const renewEveryMs = minutes(0.5)

export const restoreKey = (restoreId: string) => `restores/${restoreId}`

export const readRestore = async (ctx: Context, caller: Person, id: string): Promise<Restore> =>
  found(await ctx.db.row<Restore>(sql`select ${columns} from restores where id = ${id} and user_id = ${caller.id}`))

/** Stores the archive. A worker checks and restores it. */
export async function createRestore(ctx: Context, caller: Person, upload: Upload): Promise<Restore> {
  const storage = mustHaveStorage(ctx)
  const { db, clock, log } = ctx
  const id = newId('rst')
  await begin(ctx, caller, id)
  const renew = () =>
    db.run(sql`update restores set claimed_until = ${plus(clock.now(), uploadClaimMs)} where id = ${id}`)
  const stopRenewing = repeat(clock, renewEveryMs, renew, ({ message }) => log.warn({ message }, 'could not renew'))
  try {
    await storage.put(restoreKey(id), upload.body, upload.bytes)
    await upload.confirm()
    await stopRenewing()
    return found(
      await db.row<Restore>(sql`
        update restores set claimed_until = null, updated_at = ${clock.now()} where id = ${id} returning ${columns}`),
    )
  } catch (error) {
    await stopRenewing()
    await storage.remove(restoreKey(id)).catch(() => {})
    await db.run(sql`delete from restores where id = ${id}`)
    throw error instanceof WrongLength ? new ApiError('INVALID_REQUEST', {}, { message: incomplete }) : error
  }
}

const incomplete = 'The body does not have the length in Content-Length.'

/** The row claims the person's only place for a restore while the archive arrives. */
async function begin(ctx: Context, caller: Person, id: string) {
  try {
    await transact(ctx, caller, async ({ tx, now }) => {
      await mustBeBelowLimit(tx, caller.id)
      await tx.run(sql`
        insert into restores (id, user_id, state, claimed_until, created_at, updated_at)
        values (${id}, ${caller.id}, 'reading', ${plus(now, uploadClaimMs)}, ${now}, ${now})`)
    })
  } catch (error) {
    if (!isDuplicate(error, 'restores_running')) throw error
    throw rateLimited('restores', 30_000, { message: 'You are restoring another archive. Wait until it is done.' })
  }
}
