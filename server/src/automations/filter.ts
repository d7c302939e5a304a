import { type Sql, sql } from '../db/sql.ts'
import { hasOneOf } from '../delivery/filters.ts'

/** Fields of an issue that filters compare. */
export const filteredFields = [
  'status',
  'priority',
  'type',
  'project_id',
  'assignee_id',
  'delegate_id',
  'label_ids',
  'title',
  'reporter_id',
  'team_id',
] as const

/**
 * Whether the filter of automation `a` holds for the issue `item`, in the format of events. The keys that webhooks have
 * too are compared by their code. `agent` is the agent of a session.
 */
export const filterHolds = (item: Sql, agent: Sql = sql`null::text`) => sql`not exists (
  select from jsonb_each(a.filter) as f (key, wanted)
  where not coalesce(case f.key
    when 'reporter' then exists (
      select from users u where u.id = ${item}->>'reporter_id' and u.user_kind = f.wanted#>>'{}')
    when 'text' then position(lower(f.wanted#>>'{}') in lower(${item}->>'title')) > 0
    when 'agent_id' then f.wanted ? ${agent}
    else ${hasOneOf(sql`${item}->f.key`, sql`f.wanted`)}
    end, false))`

/**
 * Whether a change of an issue causes a run of automation `a`: its filter holds for `item` and did not hold for `before`
 * (automation.issue-changed-to). An issue that comes from another team held nothing before.
 */
export const changeMatches = (action: Sql, item: Sql, before: Sql) => sql`(
  a.trigger->>'on' in ('both', case ${action} when 'create' then 'created' else 'changed' end)
  and ${action} in ('create', 'update') and ${filterHolds(item)}
  and not (${action} = 'update' and ${before}->'team_id' = ${item}->'team_id' and ${filterHolds(before)}))`
