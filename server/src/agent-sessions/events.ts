import type { AgentActivity, AgentSession } from '@baton/protocol'
import { projectUrl } from '../addresses.ts'
import type { Config } from '../config.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { recordForApp } from '../events/for-app.ts'
import { actorOf } from '../events/record.ts'
import type { Member } from '../http/caller.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { readContext } from './context/read-context.ts'
import { readSession, type Session } from './session.ts'
import { enqueueWork } from './work-queue.ts'

/** A person delegated to the agent or mentioned it. The event stores the context as it is now. */
export async function recordCreated(unit: UnitOfWork<Member>, session: Session, triggerId: string | null) {
  const { tx, config, caller } = unit
  const installation = await installationOf(tx, session)
  if (!installation) return enqueueWork(unit, session, 0)
  const agentSession = await readSession(unit, session.id)
  const context = await readContext(tx, config, session, triggerId)
  const eventId = await recordForApp(unit, installation, {
    type: 'AgentSessionEvent',
    action: 'created',
    actor: actorOf(caller),
    url: urlOf(config, session, agentSession),
    data: { event_id: `ase_${session.id}_created`, agent_session: agentSession, ...context },
    sessionId: session.id,
  })
  await tx.run(sql`update agent_sessions set created_event_id = ${eventId} where id = ${session.id}`)
}

/** A person wrote, answered or pressed Stop. `session` may be its version before the activity. */
export async function recordPrompted(unit: UnitOfWork<Member>, session: Session, activity: AgentActivity) {
  const installation = await installationOf(unit.tx, session)
  if (!installation) return enqueueWork(unit, session, activity.seq)
  const agentSession = await readSession(unit, session.id)
  const { id, seq, type, content, signal, signal_metadata, author, created_at } = activity
  await recordForApp(
    unit,
    installation,
    {
      type: 'AgentSessionEvent',
      action: 'prompted',
      actor: actorOf(unit.caller),
      url: urlOf(unit.config, session, agentSession),
      data: {
        event_id: `ase_${session.id}_act_${seq}`,
        agent_session: agentSession,
        agent_activity: {
          id,
          seq,
          type,
          content,
          signal,
          signal_metadata,
          author: { id: author.id, name: author.name },
          created_at,
        },
      },
      sessionId: session.id,
    },
    // delivery.prompted-after-created
    { attemptedAfter: session.createdEventId },
  )
}

const urlOf = (config: Config, { projectId }: Session, { comment, issue }: AgentSession) =>
  comment?.url ?? issue?.url ?? projectUrl(config, projectId as string)

/** Undefined for an agent inside the service: it has no webhook and gets its work from the queue. */
const installationOf = (tx: Tx, { installationId }: Session) =>
  tx.row<{ id: string; workspace_id: string; endpointId: string }>(sql`
    select i.id, i.workspace_id, a.endpoint_id as "endpointId" from installations i join agent_apps a on a.id = i.app_id
    where i.id = ${installationId}`)
