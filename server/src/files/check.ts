import { createHash } from 'node:crypto'
import { hours, plus } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { NoSuchKey, type Storage } from '../storage/storage.ts'
import { keyOf } from './store.ts'

export interface FileProblem {
  key: string
  problem: 'missing' | 'wrong size' | 'wrong content' | 'not in the database'
}

interface Row {
  id: string
  bytes: number
  sha256: Buffer
}

const rowsAtOnce = 1000
/** Bytes of an upload may be there before the row that the listing was compared with. */
const graceMs = hours(1)

/** Compares the rows of files with the stored bytes, both ways. With `content` every byte is read and hashed. */
export async function* checkFiles(
  db: Queryable,
  storage: Storage,
  now: Date,
  { content = false } = {},
): AsyncGenerator<FileProblem> {
  const stored = new Map<string, { bytes: number; writtenAt: Date }>()
  for await (const { key, ...found } of storage.list('files/')) stored.set(key, found)
  for (let after = ''; ; ) {
    const rows = await db.rows<Row & { state: string }>(sql`
      select id, bytes::float8 as bytes, sha256, state from files where id > ${after} order by id limit ${rowsAtOnce}`)
    for (const row of rows) {
      const problem = row.state === 'ready' ? await problemOf(storage, row, stored.get(keyOf(row.id)), content) : null
      if (problem) yield { key: keyOf(row.id), problem }
      stored.delete(keyOf(row.id))
    }
    if (rows.length < rowsAtOnce) break
    after = (rows.at(-1) as Row).id
  }
  for (const [key, { writtenAt }] of stored) {
    if (writtenAt < plus(now, -graceMs)) yield { key, problem: 'not in the database' }
  }
}

async function problemOf(
  storage: Storage,
  { id, bytes, sha256 }: Row,
  found: { bytes: number } | undefined,
  content: boolean,
): Promise<FileProblem['problem'] | null> {
  if (!found) return 'missing'
  if (found.bytes !== bytes) return 'wrong size'
  if (!content) return null
  const hash = createHash('sha256')
  try {
    for await (const chunk of await storage.read(keyOf(id))) hash.update(chunk as Buffer)
  } catch (error) {
    if (error instanceof NoSuchKey) return 'missing'
    throw error
  }
  return hash.digest().equals(sha256) ? null : 'wrong content'
}
