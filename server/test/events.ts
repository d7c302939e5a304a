import { sql } from '../src/db/sql.ts'
import type { TestApp } from './harness.ts'

export interface RecordedEvent {
  id: string
  type: string
  action: string
  team_ids: string[]
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies freely
  body: any
}

/** The events that a call recorded, in order; possibly none. */
export async function eventsOf(
  app: TestApp,
  workspaceId: string,
  work: () => Promise<unknown>,
): Promise<RecordedEvent[]> {
  const seen = await app.ctx.db.row<{ last: string | null }>(
    sql`select max(id) as last from events where workspace_id = ${workspaceId}`,
  )
  await work()
  return app.ctx.db.rows<RecordedEvent>(sql`
    select id, type, action, team_ids, body from events
    where workspace_id = ${workspaceId} and id > ${seen?.last ?? ''} order by id`)
}

/** `Issue update`, `Comment create`: for tests that ignore the data. */
export const names = (events: RecordedEvent[]) => events.map(({ type, action }) => `${type} ${action}`)
