import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { threadOfEntry } from './threads.ts'

const rowsPerBatch = 1000

/** Deletes entries that were read longer ago than BATON_INBOX_DAYS, and the threads that have no entry left. */
export async function sweepInbox(db: Db, now: Date, { config: { keepDays } }: Context) {
  if (keepDays.inbox === 0) return
  const before = plus(now, -days(keepDays.inbox))
  const deleteBatch = () =>
    db.run(sql`
      delete from inbox_entries where ctid = any(array(
        select ctid from inbox_entries where read_at < ${before} limit ${rowsPerBatch}))`)
  while ((await deleteBatch()) === rowsPerBatch);
  // A new entry makes its thread again.
  await db.run(sql`
    delete from inbox_threads t where moved_at < ${before} and not exists (
      select from inbox_entries e where e.workspace_id = t.workspace_id and e.user_id = t.user_id
        and ${threadOfEntry} = t.subject_id)`)
}
