import type { Team } from '@baton/protocol'
import { useTeams } from '../data/workspaces.ts'
import { Checkbox, Choices } from '../ui/field.tsx'

export interface TeamCoverage {
  all_teams: boolean
  team_ids: string[]
}

interface Props {
  label: string
  name: string
  teams: readonly Pick<Team, 'id' | 'key' | 'name'>[]
  /** Null before anything was chosen. */
  value: TeamCoverage | null
  onChange: (value: TeamCoverage) => void
  /** Help texts of the two choices. */
  hints: { all: string; selected: string }
  error?: string | undefined
}

/** Choice between all teams and selected teams. */
export function TeamCoverageField({ label, name, teams, value, onChange, hints, error }: Props) {
  return (
    <div className="space-y-2">
      <Choices
        label={label}
        name={name}
        value={value && (value.all_teams ? 'all' : 'selected')}
        onChange={(which) => onChange({ team_ids: value?.team_ids ?? [], all_teams: which === 'all' })}
        choices={[
          { value: 'all', label: 'All teams', hint: hints.all },
          { value: 'selected', label: 'Selected teams', hint: hints.selected },
        ]}
      />
      {value && !value.all_teams && (
        <fieldset className="grid grid-cols-1 gap-1.5 rounded border bg-surface p-3 sm:grid-cols-2">
          <legend className="sr-only">Teams</legend>
          {teams.map(({ id, name: team, key }) => (
            <Checkbox
              key={id}
              label={
                <>
                  {team} <span className="font-mono text-xs text-ink-3">{key}</span>
                </>
              }
              checked={value.team_ids.includes(id)}
              onChange={({ target }) =>
                onChange({
                  ...value,
                  team_ids: target.checked ? [...value.team_ids, id] : value.team_ids.filter((other) => other !== id),
                })
              }
            />
          ))}
          {teams.length === 0 && <p className="text-ink-2">No teams yet.</p>}
        </fieldset>
      )}
      {error && (
        <p role="alert" className="text-xs text-bad-ink">
          {error}
        </p>
      )}
    </div>
  )
}

/** Whether the choice can be sent: all teams, or at least one. */
export const isChosen = (coverage: TeamCoverage | null): coverage is TeamCoverage =>
  coverage !== null && (coverage.all_teams || coverage.team_ids.length > 0)

/** What to choose before the coverage can be sent; null if it can. */
export const missingTeams = (coverage: TeamCoverage | null): string | null =>
  isChosen(coverage) ? null : coverage === null ? 'Choose all or selected teams.' : 'Select at least one team.'

/** The fields of a request: exactly one of the two. */
export const coverageFields = ({ all_teams, team_ids }: TeamCoverage) =>
  all_teams ? { all_teams: true as const } : { team_ids }

/** "All teams", "Design, Engineering". */
export function useCoverageText() {
  const teams = useTeams()
  return ({ all_teams, team_ids }: TeamCoverage) =>
    all_teams
      ? 'All teams'
      : teams
          .filter(({ id }) => team_ids.includes(id))
          .map(({ name }) => name)
          .join(', ') || `${team_ids.length} teams`
}
