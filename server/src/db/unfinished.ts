import { ConfigError } from '../config.ts'
import type { Queryable } from './database.ts'
import { sql } from './sql.ts'

/**
 * backup.restore-resumes: a restore or a move keeps its place in a schema `baton_load`, which it drops at its end. Until
 * then the database is incomplete, and nothing else may use it.
 */
export async function refuseUnfinished(db: Queryable): Promise<void> {
  const found = await db.row(sql`select 1 from pg_namespace where nspname = 'baton_load'`)
  if (found) throw new ConfigError(unfinishedMessage('The database'))
}

export const unfinishedMessage = (place: string) =>
  `${place} holds an unfinished restore or move: run the same operate command again to finish it, or use an empty one`
