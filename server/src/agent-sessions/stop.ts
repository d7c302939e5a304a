import type { AgentSession } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { stopSignal } from './message.ts'
import { mustSeeSession } from './read.ts'
import { lockSessions, readSession, refuseEnded } from './session.ts'
import { takesMessages } from './state.ts'

/** From every state that has not ended; a second Stop changes nothing (decisions 6). */
export const stopSession = (ctx: Context, caller: Member, id: string): Promise<AgentSession> =>
  transact(ctx, caller, async (unit) => {
    await mustSeeSession(unit.tx, caller, id)
    const [locked] = await lockSessions(unit, sql`s.id = ${id}`)
    const session = found(locked)
    refuseEnded(session)
    if (takesMessages(session.standing)) await stopSignal(unit, session, 'stopped')
    return readSession(unit, id)
  })

/** Somebody took the issue away from the agent: the session of that delegation stops, and no other (decisions 6). */
export async function stopDelegation(
  unit: UnitOfWork<Member>,
  { issueId, agentId, revision }: { issueId: string; agentId: string; revision: number },
) {
  const sessions = await lockSessions(
    unit,
    sql`s.issue_id = ${issueId} and s.agent_id = ${agentId} and s.delegation_revision = ${revision}`,
  )
  for (const session of sessions) {
    if (takesMessages(session.standing)) await stopSignal(unit, session, 'undelegated')
  }
}
