import type { Context } from '../context.ts'
import { deleteRows } from '../db/purge.ts'
import { sql } from '../db/sql.ts'
import type { Storage } from '../storage/storage.ts'
import { lockPurged } from '../workspaces/deletion.ts'

const atOnce = 50

/** Where the bytes of a row are. */
const keysOf: Record<'files' | 'exports' | 'imports', (storage: Storage, id: string) => Promise<string[]>> = {
  files: async (_, id) => [`files/${id}`],
  exports: async (_, id) => [`exports/${id}`],
  async imports(storage, id) {
    const keys: string[] = []
    for await (const { key } of storage.list(`imports/${id}/`)) keys.push(key)
    return keys
  },
}

/**
 * Removes the bytes of all files of the workspace, then their rows: a row is the only record of its key. Returns false if
 * another worker does it.
 */
export async function removeBytes(ctx: Context, workspaceId: string): Promise<boolean> {
  for (const table of ['files', 'exports', 'imports'] as const) {
    for (;;) {
      const left = await removeSome(ctx, workspaceId, table)
      if (left === undefined) return false
      if (!left) break
    }
  }
  return true
}

/** The bytes outside a transaction: the storage may be slow, and removing them twice does no harm. */
async function removeSome({ db, storage }: Context, workspaceId: string, table: keyof typeof keysOf) {
  const rows = await db.rows<{ id: string }>(sql`
    select id from ${tables[table]} where workspace_id = ${workspaceId} order by id limit ${atOnce}`)
  const ids = rows.map(({ id }) => id)
  if (storage) {
    const keys = (await Promise.all(ids.map((id) => keysOf[table](storage, id)))).flat()
    await Promise.all(keys.map((key) => storage.remove(key)))
  }
  return db.tx(async (tx) => {
    if (!(await lockPurged(tx, workspaceId))) return undefined
    await deleteRows(tx, table, workspaceId, ids)
    return ids.length === atOnce
  })
}

const tables = { files: sql`files`, exports: sql`exports`, imports: sql`imports` }
