import type { AgentActivity } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Idempotency } from './idempotency.ts'
import { lifecycleColumns, type Session } from './session.ts'
import type { Lifecycle } from './state.ts'

export interface ActivityDraft {
  content: AgentActivity['content']
  ephemeral?: boolean
  signal?: AgentActivity['signal']
  signalMetadata?: AgentActivity['signal_metadata']
  author: AgentActivity['author']
  idempotency?: Idempotency | undefined
  /** New value of the column `recent`: times of the agent's latest activities, including this one. */
  recent?: number[]
}

/**
 * Adds an activity and updates the session, in one statement. Returns undefined, and writes nothing, if the session was
 * changed since it was read. An activity of the agent supersedes its ephemeral one (activity.ephemeral-superseded).
 */
export async function append(
  { tx, now, config }: UnitOfWork<unknown, Queryable>,
  session: Session,
  lifecycle: Lifecycle,
  { content, ephemeral = false, signal = null, signalMetadata = null, author, idempotency, recent }: ActivityDraft,
): Promise<AgentActivity | undefined> {
  const byAgent = author.kind === 'app'
  const activity: AgentActivity = {
    id: newId('act'),
    seq: session.lastSeq + 1,
    type: content.type,
    content,
    ephemeral,
    superseded_by_seq: null,
    signal,
    signal_metadata: signalMetadata,
    author,
    created_at: lifecycle.updatedAt.toISOString(),
  }
  const { seq } = activity
  const supersededSeq = byAgent ? session.ephemeralSeq : null
  const written = await tx.row(sql`
    with updated as (
      update agent_sessions set ${lifecycleColumns(session, lifecycle, now, config)}, last_seq = ${seq}
        ${byAgent ? sql`, ephemeral_seq = ${ephemeral ? seq : null}` : none}
        ${recent ? sql`, recent = ${recent}` : none}
      where id = ${session.id} and version = ${session.version}
      returning id
    )
    ${
      supersededSeq
        ? sql`, superseded as (
      update agent_activities set superseded_by_seq = ${seq}
      where session_id = ${session.id} and seq = ${supersededSeq} and exists (select from updated))`
        : none
    }
    insert into agent_activities (session_id, seq, id, workspace_id, type, content, ephemeral, signal, signal_metadata,
      author_kind, author_id, idempotency_key, request_hash, created_at)
    select id, ${seq}, ${activity.id}, ${session.workspaceId}, ${activity.type}, ${JSON.stringify(content)}, ${ephemeral},
      ${signal}, ${signalMetadata && JSON.stringify(signalMetadata)}, ${author.kind}, ${author.id},
      ${idempotency?.key ?? null}, ${idempotency?.requestHash ?? null}, ${lifecycle.updatedAt}
    from updated
    returning seq`)
  return written ? activity : undefined
}
