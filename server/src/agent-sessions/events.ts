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
import { handOver } from './hand-over.ts'
import { readSession, type Session } from './session.ts'

/** 6.3: a person delegated to the agent or mentioned it. What an app needs to begin is frozen now. */
export async function recordCreated(unit: UnitOfWork<Member>, session: Session, triggerId: string | null) {
  const { tx, config, caller } = unit
  const installation = await installationOf(tx, session)
  if (!installation) return handOver(unit, session, 0)
  const shown = await readSession(unit, session.id)
  const context = await readContext(tx, config, session, triggerId)
  const eventId = await recordForApp(unit, installation, {
    type: 'AgentSessionEvent',
    action: 'created',
    actor: actorOf(caller),
    url: urlOf(config, session, shown),
    data: { event_id: `ase_${session.id}_created`, agent_session: shown, ...context },
    sessionId: session.id,
  })
  await tx.run(sql`update agent_sessions set created_event_id = ${eventId} where id = ${session.id}`)
}

/** 6.3: a person wrote, answered or pressed Stop. `session` may be as it was before. */
export async function recordPrompted(unit: UnitOfWork<Member>, session: Session, activity: AgentActivity) {
  const installation = await installationOf(unit.tx, session)
  if (!installation) return handOver(unit, session, activity.seq)
  const shown = await readSession(unit, session.id)
  const { id, seq, type, content, signal, signal_metadata, author, created_at } = activity
  await recordForApp(
    unit,
    installation,
    {
      type: 'AgentSessionEvent',
      action: 'prompted',
      actor: actorOf(unit.caller),
      url: urlOf(unit.config, session, shown),
      data: {
        event_id: `ase_${session.id}_act_${seq}`,
        agent_session: shown,
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
    // decisions 7: nobody hears an answer before the question.
    { attemptedAfter: session.createdEventId },
  )
}

/** decisions 6: the comment's address if there is one, else the issue's or project's. */
const urlOf = (config: Config, { projectId }: Session, { comment, issue }: AgentSession) =>
  comment?.url ?? issue?.url ?? projectUrl(config, projectId as string)

/** Agents that run inside the service have none, and no webhook: they are handed their work. */
const installationOf = (tx: Tx, { installationId }: Session) =>
  tx.row<{ id: string; workspace_id: string; endpointId: string }>(sql`
    select i.id, i.workspace_id, a.endpoint_id as "endpointId" from installations i join agent_apps a on a.id = i.app_id
    where i.id = ${installationId}`)
