import type { AppDeliveryQuery } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import * as records from '../delivery/records.ts'

/**
 * The issue that the event of delivery `d` concerns. Its title is the current one; after the issue was deleted, that of
 * the event.
 */
const issue = sql`(
  select case
    when i.personal then null
    when i.id is not null then jsonb_build_object('id', i.id, 'code', i.code, 'title', i.title)
    when v.type = 'Issue' then jsonb_build_object('id', v.body->'data'->>'id', 'code', v.body->'data'->>'code',
      'title', v.body->'data'->>'title')
    when v.type = 'AgentSessionEvent' and v.body->'data'->'agent_session'->'issue'->>'id' is not null then
      jsonb_build_object('id', v.body->'data'->'agent_session'->'issue'->>'id',
        'code', v.body->'data'->'agent_session'->'issue'->>'identifier',
        'title', v.body->'data'->'agent_session'->'issue'->>'title')
    end
  from events v
  left join agent_sessions s on s.id = v.agent_session_id
  left join issues i on i.workspace_id = v.workspace_id and i.id = case v.type
    when 'Issue' then v.body->'data'->>'id'
    when 'Comment' then v.body->'data'->>'target_id'
    else s.issue_id end
  where v.id = d.event_id) as issue`

// Deliveries with the issue that each concerns, in the same statement.

export const listDeliveries = (ctx: Context, endpointId: string, query: AppDeliveryQuery) =>
  records.listDeliveries(ctx, endpointId, query, issue)

export const readDelivery = (ctx: Context, endpointId: string, id: string) =>
  records.readDelivery(ctx, endpointId, id, issue)

export const redeliver = (ctx: Context, endpointId: string, id: string) => records.redeliver(ctx, endpointId, id, issue)
