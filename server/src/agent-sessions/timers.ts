import { repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { type Session, type SessionRow, saveStandings, sessionColumns, sessionOf } from './session.ts'
import { watched } from './watched.ts'

const everyMs = 1000
const batchSize = 200

/**
 * Writes down what time has made of sessions, so that watchers hear of it and lists stay quick. Reads and writes know
 * it without this; any number of workers may do it.
 */
export async function settleDue(ctx: Context): Promise<number> {
  let settled = 0
  for (;;) {
    const count = await transact(ctx, null, settleBatch)
    settled += count
    if (count < batchSize) return settled
  }
}

async function settleBatch(unit: UnitOfWork): Promise<number> {
  const { tx, now, config } = unit
  const rows = await tx.rows<SessionRow>(sql`
    select ${sessionColumns} from agent_sessions s where s.due_at <= ${now}
    order by s.due_at limit ${batchSize} for no key update skip locked`)
  if (rows.length === 0) return 0
  const sessions = rows.map((row) => sessionOf(row, now, config))
  await saveStandings(unit, sessions)
  sessions.forEach((session, index) => {
    if (looksDifferent(session, rows[index] as SessionRow)) watched(tx, session)
  })
  return rows.length
}

/** Most that come due have spoken since and only need to be looked at later. */
const looksDifferent = ({ standing, openedByAgent }: Session, row: SessionRow) =>
  standing.state !== row.state || (!openedByAgent && !standing.answeredAt)

export const startTimers = (ctx: Context) =>
  repeat(
    ctx.clock,
    everyMs,
    () => settleDue(ctx),
    ({ message }) => ctx.log.warn({ message }, 'timers failed'),
  )
