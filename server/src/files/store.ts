import { Readable } from 'node:stream'
import { type File, programLimits } from '@baton/protocol'
import { hours, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { ApiError } from '../http/errors.ts'
import type { Upload } from '../http/route.ts'
import { newId } from '../ids.ts'
import { WrongLength } from '../storage/storage.ts'
import { fileColumns } from './access.ts'
import { TypeDetector } from './media-type.ts'
import { cleanName } from './name.ts'

export const keyOf = (id: string) => `files/${id}`

interface NewFile {
  workspaceId: string
  uploaderId: string | null
  name: string
}

/** Throws unless files can be stored. */
export function storageOf({ storage }: Context) {
  if (!storage) throw new ApiError('FILES_NOT_CONFIGURED')
  return storage
}

/**
 * Stores a file: a row `uploading` that reserves its size, then the bytes, then the row `ready`. `link` runs with the
 * last step; without a link the file is a draft of its uploader. If a step fails nothing remains, and if the process
 * dies the sweep removes it.
 */
export async function storeFile(
  ctx: Context,
  { workspaceId, uploaderId, name }: NewFile,
  upload: Pick<Upload, 'body' | 'bytes'> & Partial<Upload>,
  link: (tx: Tx, id: string, now: Date) => Promise<void> = async () => {},
): Promise<File> {
  const storage = storageOf(ctx)
  const id = newId('fil')
  await reserve(ctx, { id, workspaceId, uploaderId, name: cleanName(name), bytes: upload.bytes })
  try {
    const type = new TypeDetector()
    const { sha256 } = await storage.put(keyOf(id), watched(upload.body, type), upload.bytes)
    await upload.confirm?.()
    return await ctx.db.tx(async (tx) => {
      const now = ctx.clock.now()
      const { media_type, inline, width, height } = type.result()
      const file = await tx.row<File>(sql`
        update files f set state = 'ready', sha256 = ${sha256}, media_type = ${media_type}, inline = ${inline},
          width = ${width}, height = ${height}, unlinked_at = ${now}
        where f.id = ${id} and f.state = 'uploading' returning ${fileColumns}`)
      if (!file) throw new ApiError('REQUEST_TIMEOUT')
      await link(tx, id, now)
      return file
    })
  } catch (error) {
    await discard(ctx, id)
    throw error instanceof WrongLength ? new ApiError('INVALID_REQUEST') : error
  }
}

/** Errors of the body pass through, and a reader that stops ends the body. */
const watched = (body: Readable, type: TypeDetector) =>
  Readable.from(
    (async function* () {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        type.push(chunk)
        yield chunk
      }
    })(),
    { highWaterMark: 1 },
  )

/** Until the end of the transaction no other one adds files to the workspace. */
export const lockStorage = (tx: Queryable, workspaceId: string) =>
  tx.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`files ${workspaceId}`}, 0))`)

/** Concurrent uploads are added up one after the other, so that together they stay within the limit. */
function reserve(
  ctx: Context,
  { id, workspaceId, uploaderId, name, bytes }: NewFile & { id: string; bytes: number },
): Promise<void> {
  return ctx.db.tx(async (tx) => {
    await lockStorage(tx, workspaceId)
    const used = await usedBytes(tx, workspaceId)
    const limit = ctx.config.workspaceBytes
    if (used + bytes > limit) throw new ApiError('STORAGE_LIMIT_REACHED', { limit, used })
    await tx.run(sql`
      insert into files (id, workspace_id, uploader_id, name, bytes, media_type, inline, state, created_at)
      values (${id}, ${workspaceId}, ${uploaderId}, ${name}, ${bytes}, 'application/octet-stream', false, 'uploading',
        ${ctx.clock.now()})`)
  })
}

export const usedBytes = async (db: Queryable, workspaceId: string) =>
  (
    await db.row<{ used: number }>(sql`
      select coalesce(sum(bytes), 0)::float8 as used from files
      where workspace_id = ${workspaceId} and state <> 'deleting'`)
  )?.used ?? 0

/** Also if the storage or the database is unavailable; the sweep then tries again. */
async function discard({ db, storage, log }: Context, id: string) {
  try {
    await db.run(sql`update files set state = 'deleting' where id = ${id} and state = 'uploading'`)
    await storage?.remove(keyOf(id))
    await db.run(sql`delete from files where id = ${id} and state = 'deleting' and deleted_at is null`)
  } catch (error) {
    log.warn({ file: id, message: (error as Error).message }, 'could not remove a failed upload; the sweep will')
  }
}

/** Marks a file as deleted. Its bytes and its row are removed later. */
export const markDeleted = (db: Queryable, id: string, now: Date) =>
  db.run(sql`update files set state = 'deleting', deleted_at = ${now} where id = ${id} and state = 'ready'`)

const sweptAtOnce = 100
const uploadingFor = hours(1)
const draftFor = hours(24)
const bytesKeptFor = hours(24)

/**
 * Deletes uploads that ended in the middle, files that no item shows for a day, and the bytes of deleted files. Each
 * step can be repeated, so every process may run it and may die within it.
 */
export async function sweepFiles({ db, storage, clock }: Context): Promise<void> {
  const now = clock.now()
  await db.run(sql`
    update files set state = 'deleting' where state = 'uploading' and created_at <= ${plus(now, -uploadingFor)}`)
  await db.run(sql`update files set unlinked_at = ${now} where state = 'ready' and unlinked_at = 'infinity'`)
  await db.run(sql`
    update files f set state = 'deleting', deleted_at = ${now}
    where state = 'ready' and unlinked_at <= ${plus(now, -draftFor)}
      and not exists (select from file_links l where l.file_id = f.id)`)
  if (!storage) return
  for (let after = ''; ; ) {
    const gone = await db.rows<{ id: string }>(sql`
      select id from files
      where state = 'deleting' and (deleted_at is null or deleted_at <= ${plus(now, -bytesKeptFor)}) and id > ${after}
      order by id limit ${sweptAtOnce}`)
    for (const { id } of gone) {
      await storage.remove(keyOf(id))
      await db.run(sql`delete from files where id = ${id} and state = 'deleting'`)
    }
    if (gone.length < sweptAtOnce) return
    after = (gone.at(-1) as { id: string }).id
  }
}

export const maxPerItem = programLimits.filesPerItem
