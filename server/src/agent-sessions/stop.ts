import type { AgentSession } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { postStop } from './message.ts'
import { mustSeeSession } from './read.ts'
import { lockSessions, readSession, refuseEnded } from './session.ts'
import { acceptsMessages } from './state.ts'

/** session.second-stop-is-noop: a session that is already stopping stays unchanged. */
export const stopSession = (ctx: Context, caller: Member, id: string): Promise<AgentSession> =>
  transact(ctx, caller, async (unit) => {
    await mustSeeSession(unit.tx, caller, id)
    const [locked] = await lockSessions(unit, sql`s.id = ${id}`)
    const session = found(locked)
    refuseEnded(session)
    if (acceptsMessages(session.lifecycle)) await postStop(unit, session, 'stopped')
    return readSession(unit, id)
  })

/**
 * Stops up to `limit` sessions of the workspace that work or wait, and returns how many. Those that have answered stay as
 * they are.
 */
export const stopSessionsOf = (ctx: Context, caller: Member, limit: number): Promise<number> =>
  transact(ctx, caller, async (unit) => {
    const sessions = await lockSessions(
      unit,
      sql`s.id in (
        select id from agent_sessions where workspace_id = ${caller.workspaceId} and ended_at is null
          and state in ('pending', 'active', 'awaitingInput', 'stale')
        order by id limit ${limit})`,
    )
    for (const session of sessions) {
      if (acceptsMessages(session.lifecycle)) await postStop(unit, session, 'stopped')
    }
    return sessions.length
  })

/** session.undelegate-makes-stopping: stops only the session of this delegation. */
export async function stopDelegation(
  unit: UnitOfWork<Member>,
  { issueId, agentId, revision }: { issueId: string; agentId: string; revision: number },
) {
  const sessions = await lockSessions(
    unit,
    sql`s.issue_id = ${issueId} and s.agent_id = ${agentId} and s.delegation_revision = ${revision}`,
  )
  for (const session of sessions) {
    if (acceptsMessages(session.lifecycle)) await postStop(unit, session, 'undelegated')
  }
}
