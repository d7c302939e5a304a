import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'

const rowsPerBatch = 1000

/** settings.retention-audit */
export async function sweepAudit(db: Db, now: Date, { config: { keepDays } }: Context) {
  if (keepDays.audit === 0) return
  const before = plus(now, -days(keepDays.audit))
  const deleteBatch = () =>
    db.run(sql`
      delete from audit_entries where ctid = any(array(
        select ctid from audit_entries where created_at < ${before} limit ${rowsPerBatch}))`)
  while ((await deleteBatch()) === rowsPerBatch);
}
