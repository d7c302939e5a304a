import type { Import, ImportKind } from '@baton/protocol'

const nothing = (one: Import, names: ('created' | 'updated' | 'unchanged')[]) =>
  (Object.keys(one.counts) as ImportKind[]).every((kind) => names.every((name) => one.counts[kind][name] === 0))

/** Whether the preview of a file with issues would import none of it. */
export const importsNothing = (one: Import) =>
  one.state === 'ready' && one.counts.issues.skipped > 0 && nothing(one, ['created', 'updated', 'unchanged'])

/** Why issues are skipped, as far as the mapping shows, and what to do; null if none are. */
export function whySkipped({ source, counts, mapping }: Import): string | null {
  if (counts.issues.skipped === 0) return null
  const reasons: string[] = []
  if (mapping.default_team_id === null) {
    reasons.push(
      source === 'csv' && typeof mapping.columns.team !== 'number'
        ? 'No column is chosen for the team, and “Team for issues without one” is None.'
        : 'Issues without a team are skipped: “Team for issues without one” is None.',
    )
  }
  if (Object.values(mapping.teams).includes('skip')) reasons.push('Issues of teams that are set to Skip are skipped.')
  const canBeArchived = source !== 'csv' || typeof mapping.columns.archived === 'number'
  if (!mapping.archived && canBeArchived) reasons.push('Archived issues are skipped.')
  const todo = reasons.length > 0 ? ['Change the mapping below and preview again.'] : []
  if (source === 'github') reasons.push('Pull requests are skipped.')
  return [...reasons, ...todo].join(' ') || 'Preview again to see the effect of the mapping.'
}
