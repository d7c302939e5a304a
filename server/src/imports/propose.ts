import { type ImportColumn, type ImportMapping, type ImportMappingChange, programLimits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { emptyMapping, proposePriority, proposeStatus, proposeType, userValue } from './mapping.ts'
import { proposeTeam } from './phases/teams.ts'
import type { Described } from './record.ts'
import type { StoredImport } from './state.ts'
import type { Survey } from './survey.ts'

/** The mapping by names. Values beyond the limit follow the same rules without being listed. */
export async function propose(
  ctx: Context,
  one: StoredImport,
  survey: Survey,
  described: Described,
): Promise<ImportMapping> {
  const teams = await ctx.db.rows<{ id: string; name: string; key: string }>(sql`
    select id, name, key from teams where workspace_id = ${one.workspace_id}`)
  const people = [...survey.usedUsers].flatMap((id) => survey.users.get(id) ?? []).slice(0, programLimits.mappedValues)
  const members = await ctx.db.rows<{ id: string; email: string }>(sql`
    select u.id, lower(u.email) as email from memberships m join users u on u.id = m.user_id
    where m.workspace_id = ${one.workspace_id} and u.email = any(${people.flatMap(({ email }) => email?.toLowerCase() ?? [])})`)
  const table = <T>(values: Iterable<string>, proposal: (value: string) => T) =>
    Object.fromEntries(
      [...values]
        .filter((value) => value !== '' && value.length <= programLimits.mappedValue)
        .slice(0, programLimits.mappedValues)
        .map((value) => [value, proposal(value)]),
    ) as Record<string, T>
  return {
    ...emptyMapping,
    teams: table(survey.teams.keys(), (name) => proposeTeam(name, teams)),
    statuses: table(survey.statuses.keys(), (status) => proposeStatus(status, survey.statuses.get(status))),
    priorities: table(survey.priorities, proposePriority),
    types: table(survey.types, proposeType),
    users: table(people.map(userValue), (value) => members.find(({ email }) => email === value)?.id ?? null),
    labels: table(
      [...survey.usedLabels].map((id) => survey.labels.get(id)?.name ?? id),
      () => 'create' as const,
    ),
    columns: described.proposed ?? {},
    date_order: described.dateOrder ?? null,
    keep_codes: [...survey.teams.keys()].some((name) => proposeTeam(name, teams) === 'create'),
  }
}

/** What the last import of the source chose, as far as its teams and members still exist. */
export async function lastMapping(
  db: Queryable,
  { workspace_id, source }: StoredImport,
  described: Described,
): Promise<ImportMappingChange> {
  const last = await db.row<Pick<StoredImport, 'mapping' | 'columns'>>(sql`
    select mapping, columns from imports
    where workspace_id = ${workspace_id} and source = ${source} and state = 'done'
    order by started_at desc limit 1`)
  if (!last) return {}
  const { keep_codes, ...mapping } = { ...emptyMapping, ...last.mapping }
  const here = await db.rows<{ id: string }>(sql`
    select id from teams where workspace_id = ${workspace_id}
    union all select user_id from memberships where workspace_id = ${workspace_id}`)
  const ids = new Set<string | null>(here.map(({ id }) => id))
  return {
    ...mapping,
    default_team_id: ids.has(mapping.default_team_id) ? mapping.default_team_id : null,
    // A created team is found by its name now.
    teams: kept(mapping.teams, (choice) => choice === 'skip' || ids.has(choice)),
    // A placeholder may have become a member since.
    users: kept(mapping.users, (id) => id !== null && ids.has(id)),
    columns: sameColumns(mapping.columns, last.columns, described.columns),
    // The dates of the new file may show another order.
    date_order: described.dateOrder ?? mapping.date_order,
    // Without a new team it was off by default, which was no choice.
    ...((keep_codes || Object.values(mapping.teams).includes('create')) && { keep_codes }),
  }
}

/** Without values that the source does not have. */
export function ofSource(change: ImportMappingChange, proposal: ImportMapping): ImportMappingChange {
  const known = { ...change }
  for (const field of ['teams', 'statuses', 'priorities', 'types', 'users', 'labels'] as const) {
    const values = change[field] ?? {}
    const names = Object.keys(values).filter((name) => Object.hasOwn(proposal[field], name))
    Object.assign(known, { [field]: Object.fromEntries(names.map((name) => [name, values[name]])) })
  }
  return known
}

const kept = <T>(values: Record<string, T>, isKept: (value: T) => boolean): Record<string, T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => isKept(value)))

/** Columns of the same names, wherever they are now. */
function sameColumns(
  chosen: ImportMapping['columns'],
  before: readonly string[],
  now: readonly string[],
): ImportMapping['columns'] {
  const found: ImportMapping['columns'] = {}
  for (const [field, position] of Object.entries(chosen) as [ImportColumn, number | null][]) {
    const name = position === null ? undefined : before[position]
    if (position === null) found[field] = null
    else if (name !== undefined && now.includes(name)) found[field] = now.indexOf(name)
  }
  return found
}
