import type { GitAutomation, GitEvent, IssueStatus, Team } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { automationQuery } from '../data/git.ts'
import { useTeams } from '../data/workspaces.ts'
import { statuses } from '../issues/fields/values.tsx'
import { Field, Select } from '../ui/field.tsx'
import { Card, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { showError, showToast } from '../ui/toast.tsx'
import { rules } from './labels.ts'

/** The statuses that pull requests set, by team. */
export function Automation() {
  const teams = useTeams()
  const [chosen, setChosen] = useState<string | null>(null)
  const team = teams.find(({ id }) => id === chosen) ?? teams[0]
  if (!team) return null
  return (
    <Section
      title="Automation"
      hint="Sets the status of issues that a pull request closes. Issues only move forward, and never out of Done."
      actions={
        <Select aria-label="Team" className="w-44" value={team.id} onChange={({ target }) => setChosen(target.value)}>
          {teams.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
      }
    >
      <Card className="p-4">
        <Rules key={team.id} team={team} />
      </Card>
    </Section>
  )
}

function Rules({ team }: { team: Team }) {
  const query = automationQuery(team.id)
  const automation = useQuery(query)
  const change = async (event: GitEvent, status: IssueStatus | null) => {
    const before = automation.data
    queries.setQueryData(query.queryKey, (old) => old && { ...old, [event]: status })
    try {
      const saved: GitAutomation = await api.setGitAutomation({ team_id: team.id, [event]: status })
      queries.setQueryData(query.queryKey, saved)
      showToast('Automation saved')
    } catch (error) {
      queries.setQueryData(query.queryKey, before)
      showError(error)
    }
  }
  return (
    <Loaded query={automation}>
      {(data) => (
        <div className="grid gap-x-6 gap-y-3 sm:grid-cols-2">
          {rules.map(({ event, label }) => (
            <Field key={event} label={label}>
              <Select
                value={data[event] ?? ''}
                onChange={({ target }) => void change(event, (target.value || null) as IssueStatus | null)}
              >
                <option value="">No change</option>
                {statuses.map(({ value, label: status }) => (
                  <option key={value} value={value}>
                    {status}
                  </option>
                ))}
              </Select>
            </Field>
          ))}
        </div>
      )}
    </Loaded>
  )
}
