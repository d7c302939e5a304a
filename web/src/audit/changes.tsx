import type { AuditEntry } from '@baton/protocol'

export interface Change {
  field: string
  from: string
  to: string
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** A recorded value as text; ids of teams and people as their names. */
function textOf(value: unknown, names: ReadonlyMap<string, string>): string {
  if (value === null || value === undefined || value === '') return 'none'
  if (typeof value === 'string') return names.get(value) ?? value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map((item) => textOf(item, names)).join(', ') || 'none'
  if (!isObject(value)) return String(value)
  return (
    Object.values(value)
      .filter((item) => item !== null && item !== '')
      .map((item) => textOf(item, names))
      .join(' ') || 'none'
  )
}

const coverageText = (all: unknown, teamIds: unknown, names: ReadonlyMap<string, string>) =>
  all ? 'all teams' : textOf(teamIds, names)

/** What the entry says about old and new values. */
export function changesOf({ action, details }: AuditEntry, names: ReadonlyMap<string, string>): Change[] {
  if (action === 'installation.coverage_changed' && isObject(details.from)) {
    const { from, all_teams, team_ids } = details
    return [
      {
        field: 'teams',
        from: coverageText(from.all_teams, from.team_ids, names),
        to: coverageText(all_teams, team_ids, names),
      },
    ]
  }
  return Object.entries(isObject(details.changes) ? details.changes : {}).flatMap(([field, change]) =>
    isObject(change)
      ? [{ field: field.replaceAll('_', ' '), from: textOf(change.from, names), to: textOf(change.to, names) }]
      : [],
  )
}

/** One line for each changed field. */
export const Changes = ({ changes, whole = false }: { changes: Change[]; whole?: boolean }) => (
  <ul className="text-xs text-ink-2">
    {changes.map(({ field, from, to }) => (
      <li key={field} className={whole ? 'wrap-anywhere whitespace-pre-wrap' : 'truncate'}>
        {field}: <bdi className="text-ink-3">{shortOf(from, whole)}</bdi> →{' '}
        <bdi className="text-ink">{shortOf(to, whole)}</bdi>
      </li>
    ))}
  </ul>
)

const shortOf = (text: string, whole: boolean) => (whole || text.length <= 60 ? text : `${text.slice(0, 60)}…`)
