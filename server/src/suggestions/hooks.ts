import { json, sql } from '../db/sql.ts'
import type { Hooks, HookUnit, RecordedChange } from '../hooks.ts'

const fields = { priority: 'priority', type: 'type', assignee_id: 'assignee', project_id: 'project' } as const

/** Suggestions become outdated with the change of a person that sets their field (triage.outdated). */
export const suggestionHooks: Partial<Hooks> = {
  async recorded(unit, _, changes) {
    if (!isPerson(unit)) return
    const set = changes.flatMap(fieldsSet)
    if (set.length === 0) return
    await unit.tx.run(sql`
      update suggestions s set state = 'outdated', decided_at = ${unit.now}
      from jsonb_to_recordset(${json(set)}) as n (issue_id text, field text, value text)
      where s.issue_id = n.issue_id and s.state = 'open' and s.field = n.field
        and (n.value is null or s.value = n.value)`)
  },
  async duplicateMarked(unit, issueId) {
    await unit.tx.run(sql`
      update suggestions set state = 'outdated', decided_at = ${unit.now}
      where issue_id = ${issueId} and state = 'open' and field = 'duplicate_of'`)
  },
}

const isPerson = ({ caller }: HookUnit) =>
  typeof caller === 'object' && caller !== null && 'kind' in caller && caller.kind === 'person'

/** For labels, those that were added or removed. */
function fieldsSet({ action, data, updatedFrom }: RecordedChange) {
  if (action !== 'update' || !updatedFrom) return []
  const issue_id = data.id
  const set: { issue_id: string; field: string; value?: string }[] = Object.entries(fields)
    .filter(([column]) => column in updatedFrom)
    .map(([, field]) => ({ issue_id, field }))
  if ('label_ids' in updatedFrom) {
    const [before, after] = [updatedFrom.label_ids as string[], data.label_ids as string[]]
    const changed = [...before.filter((id) => !after.includes(id)), ...after.filter((id) => !before.includes(id))]
    set.push(...changed.map((value) => ({ issue_id, field: 'label', value })))
  }
  return set
}
