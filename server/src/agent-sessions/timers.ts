import { repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { reportOutcome } from './outcomes.ts'
import { type Session, type SessionRow, saveLifecycles, sessionColumns, sessionOf } from './session.ts'
import { sendSessionHint } from './session-hint.ts'

const everyMs = 1000
const batchSize = 200

/**
 * Stores the transitions that are due, so that watchers get a hint and lists stay fast. Reads and writes apply due
 * transitions themselves and do not depend on this. Any number of workers can run it.
 */
export async function storeDueTransitions(ctx: Context): Promise<number> {
  let stored = 0
  for (;;) {
    const count = await transact(ctx, null, storeBatch)
    stored += count
    if (count < batchSize) return stored
  }
}

async function storeBatch(unit: UnitOfWork): Promise<number> {
  const { tx, now, config } = unit
  const rows = await tx.rows<SessionRow>(sql`
    select ${sessionColumns} from agent_sessions s where s.due_at <= ${now}
    order by s.due_at limit ${batchSize} for no key update skip locked`)
  if (rows.length === 0) return 0
  const sessions = rows.map((row) => sessionOf(row, now, config))
  await saveLifecycles(unit, sessions)
  for (const [index, session] of sessions.entries()) {
    const row = rows[index] as SessionRow
    if (hasChanged(session, row)) sendSessionHint(tx, session)
    if (session.lifecycle.state === 'stale' && row.state !== 'stale') await reportOutcome(unit, session, 'stale')
  }
  return rows.length
}

/** False for most: the agent has posted since, so only `due_at` moves. */
const hasChanged = ({ lifecycle, openedByAgent }: Session, row: SessionRow) =>
  lifecycle.state !== row.state || (!openedByAgent && !lifecycle.answeredAt)

export const startTimers = (ctx: Context) =>
  repeat(
    ctx.clock,
    everyMs,
    () => storeDueTransitions(ctx),
    ({ message }) => ctx.log.warn({ message }, 'could not store due session transitions; retrying'),
  )
