import type { Team, TeamUsage } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { useTeams } from '../data/workspaces.ts'
import { inlineLink } from '../login/centered-page.tsx'
import { counted } from '../ui/amounts.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Choices, Field, Select } from '../ui/field.tsx'
import { isolated } from '../ui/isolated.ts'
import { Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Notice } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'

/** Says what goes with the team, and what keeps it from being deleted. */
export function DeleteTeam({ team }: { team: Team }) {
  const usage = useQuery({
    queryKey: ['workspace', 'team-usage', team.id],
    queryFn: () => api.getTeamUsage({ team_id: team.id }),
    staleTime: 0,
  })
  const [deleting, setDeleting] = useState(false)
  return (
    <Section title="Delete team">
      <Loaded query={usage} rows={2}>
        {(usage) => (
          <div className="space-y-3">
            <p className="text-ink-2">{consequencesOf(usage)}</p>
            {isInUse(usage) && <InUse usage={usage} />}
            <Button look="danger" disabled={isInUse(usage)} onClick={() => setDeleting(true)}>
              Delete team
            </Button>
            {deleting && <ConfirmDeletion team={team} usage={usage} onClose={() => setDeleting(false)} />}
          </div>
        )}
      </Loaded>
    </Section>
  )
}

/** "3 cycles and 1 saved view"; empty if there are none. */
const countedAll = (counts: Record<string, number>) =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([noun, count]) => counted(count, noun))
    .join(' and ')

function consequencesOf({ issues, cycles, views, installations, webhooks }: TeamUsage): string {
  const deleted = countedAll({ cycle: cycles, 'saved view': views })
  const users = countedAll({ 'agent app': installations.length, webhook: webhooks.length })
  return [
    issues > 0
      ? `The team has ${counted(issues, 'issue')}: move them to another team or delete them.`
      : 'The team has no issues.',
    deleted && `Deleted with it: ${deleted}.`,
    users && `Losing access to it: ${users}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

const onlyHere = (users: TeamUsage['webhooks']) => users.filter(({ only_team }) => only_team)

const isInUse = ({ installations, webhooks }: TeamUsage) => onlyHere([...installations, ...webhooks]).length > 0

const namesOf = (users: TeamUsage['webhooks']) => users.map(({ name }) => isolated(name)).join(', ')

function InUse({ usage: { installations, webhooks } }: { usage: TeamUsage }) {
  const [apps, hooks] = [onlyHere(installations), onlyHere(webhooks)]
  return (
    <Notice tone="warn" title="It is the only team of others">
      <ul>
        {apps.length > 0 && (
          <li>
            <Link to="/settings/agent-apps" className={inlineLink}>
              Agent apps
            </Link>
            : {namesOf(apps)}
          </li>
        )}
        {hooks.length > 0 && (
          <li>
            <Link to="/settings/webhooks" className={inlineLink}>
              Webhooks
            </Link>
            : {namesOf(hooks)}
          </li>
        )}
      </ul>
      <p>Give these another team, or delete them, first.</p>
    </Notice>
  )
}

function ConfirmDeletion({ team, usage, onClose }: { team: Team; usage: TeamUsage; onClose: () => void }) {
  const navigate = useNavigate()
  const others = useTeams().filter(({ id }) => id !== team.id)
  const [fate, setFate] = useState<'move' | 'delete'>(others.length > 0 ? 'move' : 'delete')
  const [target, setTarget] = useState(others[0]?.id ?? '')
  const issues = counted(usage.issues, 'issue')
  const remove = async () => {
    const choice = fate === 'move' ? { move_issues_to: target } : { delete_issues: 'true' as const }
    await api.deleteTeam({ team_id: team.id, ...(usage.issues > 0 && choice) })
    await navigate({ to: '/settings/teams' })
    showToast(`Deleted the team ${isolated(team.name)}`)
    await queries.invalidateQueries({ queryKey: ['workspace'] })
  }
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Delete ${isolated(team.name)}?`}
      action="Delete team"
      typed={team.key}
      onConfirm={remove}
    >
      {usage.issues > 0 && (
        <>
          <Choices
            label={`Its ${issues}`}
            name="fate"
            value={fate}
            onChange={setFate}
            choices={[
              ...(others.length > 0
                ? [
                    {
                      value: 'move' as const,
                      label: 'Move to another team',
                      hint: `They get new IDs there. The old ones, such as ${team.key}-1, still work.`,
                    },
                  ]
                : []),
              {
                value: 'delete' as const,
                label: 'Delete',
                hint: 'With their comments. Agents that work on them stop.',
              },
            ]}
          />
          {fate === 'move' && (
            <Field label="Move to">
              <Select value={target} onChange={(event) => setTarget(event.target.value)}>
                {others.map(({ id, name, key }) => (
                  <option key={id} value={id}>
                    {name} ({key})
                  </option>
                ))}
              </Select>
            </Field>
          )}
        </>
      )}
      <p>This cannot be undone.</p>
    </Confirm>
  )
}
