import type { AgentSession } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { stopSignal } from './message.ts'
import { mustSeeSession } from './read.ts'
import { lockSessions, readSession, refuseEnded } from './session.ts'
import { takesMessages } from './state.ts'

/** From every state that has not ended; a second Stop changes nothing (decisions 6). */
export const stopSession = (ctx: Context, caller: Member, id: string): Promise<AgentSession> =>
  ctx.db.tx(async (tx) => {
    const now = ctx.clock.now()
    await mustSeeSession(tx, caller, id)
    const [locked] = await lockSessions(tx, now, ctx.config, sql`s.id = ${id}`)
    const session = found(locked)
    refuseEnded(session)
    if (takesMessages(session.standing)) await stopSignal(tx, ctx, caller, session, 'stopped')
    return readSession(tx, ctx.config, now, id)
  })

/** Somebody took the issue away from the agent: the session of that delegation stops, and no other (decisions 6). */
export async function stopDelegation(
  tx: Tx,
  ctx: Context,
  caller: Member,
  { issueId, agentId, revision }: { issueId: string; agentId: string; revision: number },
) {
  const sessions = await lockSessions(
    tx,
    ctx.clock.now(),
    ctx.config,
    sql`s.issue_id = ${issueId} and s.agent_id = ${agentId} and s.delegation_revision = ${revision}`,
  )
  for (const session of sessions) {
    if (takesMessages(session.standing)) await stopSignal(tx, ctx, caller, session, 'undelegated')
  }
}
