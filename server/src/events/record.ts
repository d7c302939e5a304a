import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Enqueued, enqueue } from '../delivery/enqueue.ts'
import type { RecordedChange } from '../hooks.ts'
import { newId } from '../ids.ts'
import { sendHints } from '../live/hint.ts'
import type { Recording } from '../unit-of-work.ts'
import { writeLinearBodies } from './linear.ts'
import { recipientsOfRecorded } from './recipients.ts'

/** The `actor` of an event. */
export interface EventActor {
  id: string
  type: 'user' | 'application' | 'system'
  name: string
}

/** A change of an item that is not personal. */
export interface ItemChange {
  type: 'Issue' | 'Project' | 'Comment'
  action: 'create' | 'update' | 'remove'
  actor: EventActor | null
  /** `target_id`: the issue or project of a comment. */
  data: { id: string; updated_at: string; target_id?: string }
  /** Only for updates of issues and projects (event.updated-from-omitted). */
  updatedFrom?: Record<string, unknown>
  url: string
  /** Teams of the item before and after the change. */
  teamIds: string[]
}

export const actorOf = ({ id, name, kind }: { id: string; name: string; kind: 'person' | 'app' }): EventActor => ({
  id,
  type: kind === 'app' ? 'application' : 'user',
  name,
})

/**
 * Records events and their deliveries in the transaction of the change. Callers leave out changes that are never
 * delivered: personal items, internal comments and imports (event.personal-never-delivered,
 * event.internal-comment-not-delivered, event.import-not-delivered).
 */
export async function record(unit: Recording, changes: ItemChange[]): Promise<void> {
  if (changes.length === 0) return
  const { tx, now, cause } = unit
  const { workspaceId } = unit.caller
  const rows = changes.map(({ type, action, actor, data, updatedFrom, url, teamIds }) => ({
    id: newId('evt'),
    type,
    action,
    team_ids: [...new Set(teamIds)],
    body: {
      action,
      type,
      actor,
      created_at: now.toISOString(),
      data,
      ...(updatedFrom ? { updated_from: updatedFrom } : {}),
      url,
      workspace_id: workspaceId,
    },
  }))
  const deliveries = await tx.rows<Enqueued>(sql`
    with recorded as (
      insert into events (id, workspace_id, type, action, team_ids, body, created_at, request_id, traceparent)
      select id, ${workspaceId}, type, action, team_ids, body, ${now}, ${cause?.requestId ?? null},
        ${cause?.traceparent ?? null}
      from json_to_recordset(${JSON.stringify(rows)}::json)
        as e (id text, type text, action text, team_ids text[], body json)
      returning *
    ), recipients as (${recipientsOfRecorded})
    ${enqueue}`)
  await writeLinearBodies(tx, deliveries, new Map(rows.map(({ id, body }) => [id, body])))
  tx.afterCommit(
    'due',
    deliveries.map(({ endpoint_id }) => endpoint_id),
  )
  countEvents(tx, rows)
  sendHints(
    tx,
    changes.map(({ type, action, data: { id, target_id } }) => ({
      workspace_id: workspaceId,
      type,
      id,
      action,
      parent_id: target_id ?? null,
    })),
  )
  const recorded = rows.flatMap(({ id, type, action, body: { actor, data } }, index): RecordedChange[] =>
    type === 'Issue'
      ? [{ eventId: id, action, actor, data: { ...data }, updatedFrom: changes[index]?.updatedFrom }]
      : [],
  )
  if (recorded.length > 0) await unit.hooks?.recorded(unit, workspaceId, recorded)
}

/** Counts events when they are committed. */
export const countEvents = (tx: Pick<Tx, 'afterCommit'>, events: readonly { id: string; type: string }[]) =>
  tx.afterCommit(
    'recorded',
    events.map(({ id, type }) => `${type} ${id}`),
  )

/** The previous value of each changed field, or null if none changed. */
export function previousValues<Item extends object>(
  before: Item,
  after: Item,
  fields: readonly (keyof Item & string)[],
): Record<string, unknown> | null {
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  return changed.length > 0 ? Object.fromEntries(changed.map((field) => [field, before[field]])) : null
}

/**
 * The change to record for an update: none for a personal item; `created` for one that was personal before, which
 * receivers have not seen; otherwise an `update`, if a field changed. `created` is the change that creates `after`.
 */
export function changesToRecord<Item extends { personal: boolean }>(
  [before, after]: readonly [before: Item, after: Item],
  fields: readonly (keyof Item & string)[],
  created: ItemChange,
  teamIdsBefore: string[],
): ItemChange[] {
  if (after.personal) return []
  if (before.personal) return [created]
  const updatedFrom = previousValues(before, after, fields)
  if (!updatedFrom) return []
  return [{ ...created, action: 'update', updatedFrom, teamIds: [...teamIdsBefore, ...created.teamIds] }]
}

export const only = <Item extends object, Field extends keyof Item>(item: Item, fields: readonly Field[]) =>
  Object.fromEntries(fields.map((field) => [field, item[field]])) as Pick<Item, Field>
