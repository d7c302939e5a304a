import type { AgentActivity } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Idempotency } from './idempotency.ts'
import { type Session, standingColumns } from './session.ts'
import type { Standing } from './state.ts'

/** Something to be said in a session. */
export interface Utterance {
  content: AgentActivity['content']
  ephemeral?: boolean
  signal?: AgentActivity['signal']
  signalMetadata?: AgentActivity['signal_metadata']
  author: AgentActivity['author']
  idempotency?: Idempotency | undefined
  /** When the agent spoke within the last second, this time included. */
  recent?: number[]
}

/**
 * Adds an activity and moves the session, in one statement; undefined, and nothing is written, if somebody else has
 * moved it since it was read. The agent's next word replaces its ephemeral one (2.7).
 */
export async function append(
  { tx, now, config }: UnitOfWork<unknown, Queryable>,
  session: Session,
  standing: Standing,
  { content, ephemeral = false, signal = null, signalMetadata = null, author, idempotency, recent }: Utterance,
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
    created_at: now.toISOString(),
  }
  const { seq } = activity
  const replaced = byAgent ? session.ephemeralSeq : null
  const written = await tx.row(sql`
    with moved as (
      update agent_sessions set ${standingColumns(session, standing, now, config)}, last_seq = ${seq}
        ${byAgent ? sql`, ephemeral_seq = ${ephemeral ? seq : null}` : none}
        ${recent ? sql`, recent = ${recent}` : none}
      where id = ${session.id} and version = ${session.version}
      returning id
    )
    ${
      replaced
        ? sql`, replaced as (
      update agent_activities set superseded_by_seq = ${seq}
      where session_id = ${session.id} and seq = ${replaced} and exists (select from moved))`
        : none
    }
    insert into agent_activities (session_id, seq, id, workspace_id, type, content, ephemeral, signal, signal_metadata,
      author_kind, author_id, idempotency_key, request_hash, created_at)
    select id, ${seq}, ${activity.id}, ${session.workspaceId}, ${activity.type}, ${JSON.stringify(content)}, ${ephemeral},
      ${signal}, ${signalMetadata && JSON.stringify(signalMetadata)}, ${author.kind}, ${author.id},
      ${idempotency?.key ?? null}, ${idempotency?.requestHash ?? null}, ${now}
    from moved
    returning seq`)
  return written ? activity : undefined
}
