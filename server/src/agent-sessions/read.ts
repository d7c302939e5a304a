import type { AgentSession, SessionFilter, SessionState } from '@baton/protocol'
import { plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { page } from '../http/paging.ts'
import { sessionInReach } from '../installations/reach.ts'
import { readSessions } from './session.ts'
import type { TimeRules } from './state.ts'

/** A condition on the session `s` and its issue `i` or project `p`. */
export const isVisibleTo = sessionInReach

export async function getSession(ctx: Context, caller: Actor, id: string): Promise<AgentSession> {
  const [session] = await readSessions(
    ctx.db,
    ctx.config,
    ctx.clock.now(),
    sql`s.id = ${id} and ${isVisibleTo(caller)}`,
  )
  return found(session)
}

export async function mustSeeSession(db: Queryable, caller: Actor, id: string): Promise<void> {
  found(
    await db.row(sql`
      select 1 from agent_sessions s left join issues i on i.id = s.issue_id left join projects p on p.id = s.project_id
      where s.id = ${id} and ${isVisibleTo(caller)}`),
  )
}

export const listSessions = (ctx: Context, caller: Actor, filter: SessionFilter) =>
  page<AgentSession>(
    ctx.keys,
    'agent sessions',
    filter,
    ({ id }) => [id],
    (after, count) => {
      const now = ctx.clock.now()
      const condition = sql`${isVisibleTo(caller)}
        ${filter.issue_id ? sql`and s.issue_id = ${filter.issue_id}` : none}
        ${filter.project_id ? sql`and s.project_id = ${filter.project_id}` : none}
        ${filter.agent_id ? sql`and s.agent_id = ${filter.agent_id}` : none}
        ${filter.open === undefined ? none : sql`and ${filter.open ? none : sql`not`} ${isOpen(now, ctx.config)}`}
        ${filter.state ? inState(filter.state, now, ctx.config) : none}
        ${after ? sql`and s.id < ${after[0]}` : none}
        order by s.id desc limit ${count}`
      return readSessions(ctx.db, ctx.config, now, condition)
    },
  )

/** The same as `advance`: the stored state, unless a transition is due. */
function inState(state: SessionState, now: Date, { staleAfterMs, stoppingTimeoutMs }: TimeRules): Sql {
  const isStale = sql`s.quiet_since <= ${plus(now, -staleAfterMs)}`
  const isEnded = isTimedOut(now, stoppingTimeoutMs)
  switch (state) {
    case 'pending':
    case 'active':
      return sql`and s.state = ${state} and not ${isStale}`
    case 'stale':
      return sql`and (s.state = 'stale' or s.state in ('pending', 'active') and ${isStale})`
    case 'stopping':
      return sql`and s.state = 'stopping' and not ${isEnded}`
    case 'complete':
      return sql`and (s.state = 'complete' or s.state = 'stopping' and ${isEnded})`
    default:
      return sql`and s.state = ${state}`
  }
}

const isTimedOut = (now: Date, stoppingTimeoutMs: number) => sql`s.stopping_since <= ${plus(now, -stoppingTimeoutMs)}`

/** The session `s` has not ended. One whose stopping timeout has passed has ended, even if that is not stored yet. */
export const isOpen = (now: Date, { stoppingTimeoutMs }: TimeRules): Sql =>
  sql`(s.ended_at is null and not (s.state = 'stopping' and ${isTimedOut(now, stoppingTimeoutMs)}))`
