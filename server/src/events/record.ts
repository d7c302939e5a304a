import { sql } from '../db/sql.ts'
import { enqueueRecorded } from '../delivery/enqueue.ts'
import { newId } from '../ids.ts'
import { tellLive } from '../live/hint.ts'
import type { Recording } from '../unit-of-work.ts'

/** 6.2: whom an event names. */
export interface EventActor {
  id: string
  type: 'user' | 'application' | 'system'
  name: string
}

/** What happened to an item that others may know of. */
export interface Happening {
  type: 'Issue' | 'Project' | 'Comment'
  action: 'create' | 'update' | 'remove'
  actor: EventActor | null
  /** `target_id` is the issue or project of a comment. */
  data: { id: string; updated_at: string; target_id?: string }
  /** 6.2: Issue and Project updates only. */
  updatedFrom?: Record<string, unknown>
  url: string
  /** Every team that had or has the item; none for an item without a team. */
  teamIds: string[]
}

export const actorOf = ({ id, name, kind }: { id: string; name: string; kind: 'person' | 'app' }): EventActor => ({
  id,
  type: kind === 'app' ? 'application' : 'user',
  name,
})

/**
 * Records events and their deliveries in the transaction of the change itself. Whoever calls this has left out what
 * nobody else may know: personal items, internal comments, imports (6.5.6).
 */
export async function record({ tx, now, caller: { workspaceId } }: Recording, happenings: Happening[]): Promise<void> {
  if (happenings.length === 0) return
  const rows = happenings.map(({ type, action, actor, data, updatedFrom, url, teamIds }) => ({
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
  const told = await tx.rows<{ endpoint_id: string }>(sql`
    with recorded as (
      insert into events (id, workspace_id, type, action, team_ids, body, created_at)
      select id, ${workspaceId}, type, action, team_ids, body, ${now}
      from json_to_recordset(${JSON.stringify(rows)}::json)
        as e (id text, type text, action text, team_ids text[], body json)
      returning *
    )
    ${enqueueRecorded}`)
  tx.tell(
    'due',
    told.map(({ endpoint_id }) => endpoint_id),
  )
  tellLive(
    tx,
    happenings.map(({ type, action, data: { id, target_id } }) => ({
      workspace_id: workspaceId,
      type,
      id,
      action,
      parent_id: target_id ?? null,
    })),
  )
}

/** The previous value of each field that differs, or null when none does. */
export function previousValues<Item extends object>(
  before: Item,
  after: Item,
  fields: readonly (keyof Item & string)[],
): Record<string, unknown> | null {
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  return changed.length > 0 ? Object.fromEntries(changed.map((field) => [field, before[field]])) : null
}

/**
 * What others hear of a change: nothing of what is personal, `create` of what was personal until now and so never seen,
 * else `update`, if a field changed that they may know. `created` is what would be said of the item if it were new.
 */
export function heardOfChange<Item extends { personal: boolean }>(
  [before, after]: readonly [before: Item, after: Item],
  fields: readonly (keyof Item & string)[],
  created: Happening,
  teamIdsBefore: string[],
): Happening[] {
  if (after.personal) return []
  if (before.personal) return [created]
  const updatedFrom = previousValues(before, after, fields)
  if (!updatedFrom) return []
  return [{ ...created, action: 'update', updatedFrom, teamIds: [...teamIdsBefore, ...created.teamIds] }]
}

/** The fields of an item that are for others to see. */
export const only = <Item extends object, Field extends keyof Item>(item: Item, fields: readonly Field[]) =>
  Object.fromEntries(fields.map((field) => [field, item[field]])) as Pick<Item, Field>
