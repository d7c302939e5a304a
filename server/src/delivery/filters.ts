import type { WebhookFilters } from '@baton/protocol'
import { type Sql, sql } from '../db/sql.ts'

/** Whether a JSON value is one of those wanted; a list, whether it has one of them. */
export const hasOneOf = (value: Sql, wanted: Sql) => sql`
  case jsonb_typeof(${value})
    when 'array' then exists (select from jsonb_array_elements(${value}) as v (value) where ${wanted} @> v.value)
    else ${wanted} @> (${value}) end`

/**
 * Whether event `r` passes the filters of endpoint `e` (decisions/0033). `r` has type, action and body.
 *
 * The item is compared as it is and, for an update, as it was before, so that the receiver also gets the update by which
 * an item leaves the filter (filter.leaving). All keys have to match in one of the two states. A list, such as the labels,
 * matches if it has one of the values. Most endpoints have no filters, and cost nothing here.
 */
export const passesFilters = sql`(e.filters is null or e.filters->r.type is null or exists (
  select from (select r.body::jsonb as body) b
  cross join lateral (values (b.body->'data'), ((b.body->'data') || coalesce(b.body->'updated_from', '{}')))
    as state (item)
  where not exists (
    select from jsonb_each(e.filters->r.type) as f (key, wanted)
    where not coalesce(case f.key
      when 'actions' then f.wanted @> to_jsonb(r.action)
      when 'actor_types' then f.wanted @> (b.body->'actor'->'type')
      when 'changed' then r.action <> 'update' or exists (
        select from jsonb_array_elements_text(f.wanted) as w (field) where b.body->'updated_from'->w.field is not null)
      else ${hasOneOf(sql`state.item->f.key`, sql`f.wanted`)}
      end, false))))`

/** The ids that filters refer to, each with its field. */
export function idsIn(filters: WebhookFilters) {
  const at = (field: string, ids: (string | null)[] = []) =>
    ids.flatMap((id) => (id === null ? [] : [{ field: `filters.${field}`, id }]))
  const { Issue, Project, Comment } = filters
  return {
    projects: at('Issue.project_id', Issue?.project_id),
    labels: [...at('Issue.label_ids', Issue?.label_ids), ...at('Project.label_ids', Project?.label_ids)],
    users: [
      ...at('Issue.assignee_id', Issue?.assignee_id),
      ...at('Issue.delegate_id', Issue?.delegate_id),
      ...at('Project.lead_id', Project?.lead_id),
      ...at('Comment.mentioned_user_ids', Comment?.mentioned_user_ids),
    ],
  }
}
