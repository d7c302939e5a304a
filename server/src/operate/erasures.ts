import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'

export interface Erasure {
  id: string
  erased_at: string
}

/** Beside the backups, because the list in a backup is as old as the backup. */
const fileIn = (dir: string) => join(dir, 'erasures.json')

export const recordErasure = (tx: Tx, userId: string, now: Date) =>
  tx.run(sql`insert into erasures (user_id, erased_at) values (${userId}, ${now}) on conflict do nothing`)

export const readErasures = (db: Queryable) =>
  db.rows<Erasure>(sql`select user_id as id, erased_at from erasures order by erased_at, user_id`)

/** People whom the list beside the backups names; none if there is no list. */
export async function listedErasures(dir: string): Promise<Erasure[]> {
  const text = await readFile(fileIn(dir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return []
  const { format, erased } = JSON.parse(text) as { format: number; erased: Erasure[] }
  const isErasure = ({ id, erased_at }: Erasure) => /^usr_\w{1,40}$/.test(id) && !Number.isNaN(Date.parse(erased_at))
  if (format !== 1 || !Array.isArray(erased) || !erased.every(isErasure)) {
    throw new Error(`${fileIn(dir)} is damaged, or of a later version of Baton`)
  }
  return erased
}

/** Adds to the list beside the backups; it never loses a person. Two processes may do it at once: each adds its own. */
export async function listErasures(dir: string, added: readonly Erasure[]): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const listed = await listedErasures(dir)
  const news = added.filter(({ id }) => !listed.some((other) => other.id === id))
  if (news.length === 0) return
  const draft = `${fileIn(dir)}.${process.pid}.part`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify({ format: 1, erased: [...listed, ...news] }, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, fileIn(dir))
}

/** A process that had no access to the directory may have erased people; call it at the start and with each backup. */
export async function syncErasures(db: Queryable, dir: string | null): Promise<void> {
  if (!dir) return
  const stored = await readErasures(db)
  if (stored.length > 0) await listErasures(dir, stored)
}
