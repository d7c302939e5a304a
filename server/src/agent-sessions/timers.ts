import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Session, type SessionRow, sessionColumns, sessionOf } from './session.ts'
import { dueAt } from './state.ts'
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
    const count = await ctx.db.tx((tx) => settleBatch(tx, ctx))
    settled += count
    if (count < batchSize) return settled
  }
}

async function settleBatch(tx: Tx, ctx: Context): Promise<number> {
  const now = ctx.clock.now()
  const rows = await tx.rows<SessionRow>(sql`
    select ${sessionColumns} from agent_sessions s where s.due_at <= ${now}
    order by s.due_at limit ${batchSize} for no key update skip locked`)
  if (rows.length === 0) return 0
  const sessions = rows.map((row) => sessionOf(row, now, ctx.config))
  const settled = sessions.map(({ id, standing, ...session }) => ({
    id,
    state: standing.state,
    ended_at: standing.endedAt,
    updated_at: standing.updatedAt,
    due_at: dueAt(session, standing, now, ctx.config),
  }))
  await tx.run(sql`
    update agent_sessions s set state = d.state, ended_at = d.ended_at, updated_at = d.updated_at, due_at = d.due_at,
      version = version + 1
    from json_to_recordset(${JSON.stringify(settled)}::json)
      as d (id text, state text, ended_at timestamptz, updated_at timestamptz, due_at timestamptz)
    where s.id = d.id`)
  sessions.forEach((session, index) => {
    if (looksDifferent(session, rows[index] as SessionRow)) watched(tx, session)
  })
  return rows.length
}

/** Most that come due have spoken since and only need to be looked at later. */
const looksDifferent = ({ standing, openedByAgent }: Session, row: SessionRow) =>
  standing.state !== row.state || (!openedByAgent && !standing.answeredAt)

export function startTimers(ctx: Context): () => void {
  let stopped = false
  let cancel = () => {}
  const wait = () => {
    cancel = ctx.clock.after(everyMs, async () => {
      await settleDue(ctx).catch((error: Error) => ctx.log.warn({ message: error.message }, 'timers failed'))
      if (!stopped) wait()
    })
  }
  wait()
  return () => {
    stopped = true
    cancel()
  }
}
