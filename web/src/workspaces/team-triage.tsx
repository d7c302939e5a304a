import type { Automation, Team } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { agentsQuery, useAgents } from '../data/agents.ts'
import { api } from '../data/api.ts'
import { automationsQuery, rereadAutomation } from '../data/automations.ts'
import { useMe } from '../data/me.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox, Field, Select } from '../ui/field.tsx'
import { Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { showError } from '../ui/toast.tsx'

const question =
  'Suggest type, priority, labels, assignee and project for this issue, and name the issue that it repeats.'

/** Makes, turns off and removes the automation that asks an agent about each new issue of the team. */
export function TeamTriage({ team, isManager }: { team: Team; isManager: boolean }) {
  const automations = useQuery(automationsQuery)
  return (
    <Section
      title="Triage"
      hint="An agent suggests fields for each new issue; people accept or decline them in Triage."
    >
      <Loaded query={automations} rows={1}>
        {(all) => {
          const triage = all.find(({ preset, team_id }) => preset === 'triage' && team_id === team.id)
          return triage ? <Existing triage={triage} isManager={isManager} /> : <TurnOn team={team} />
        }}
      </Loaded>
    </Section>
  )
}

function TurnOn({ team }: { team: Team }) {
  const { data: agents = [] } = useQuery(agentsQuery)
  const [chosen, setChosen] = useState<string>()
  const agentId = chosen ?? agents[0]?.id
  const { run, busy } = useAction(async () => {
    if (!agentId) return
    const { id } = await api.createAutomation({
      team_id: team.id,
      name: 'Triage',
      preset: 'triage',
      trigger: { type: 'issue', on: 'created' },
      filter: {},
      actions: [{ type: 'ask_agent', agent_id: agentId, text: question }],
    })
    await rereadAutomation(id)
  }, showError)
  return (
    <div className="flex flex-wrap items-end gap-3">
      <Field label="Agent">
        <Select value={agentId ?? ''} onChange={({ target }) => setChosen(target.value)}>
          {agents.map(({ id, display_name }) => (
            <option key={id} value={id}>
              {display_name}
            </option>
          ))}
        </Select>
      </Field>
      <Button busy={busy} disabled={!agentId} onClick={() => void run()}>
        Turn on triage
      </Button>
    </div>
  )
}

function Existing({ triage, isManager }: { triage: Automation; isManager: boolean }) {
  const { user } = useMe()
  const agents = useAgents()
  const isOwner = triage.owner_id === user.id
  const isOn = triage.state === 'on'
  const [action] = triage.actions
  const agent = action?.type === 'ask_agent' ? agents.get(action.agent_id)?.display_name : undefined
  const change = useAction(async (work: () => Promise<unknown>) => {
    await work()
    await rereadAutomation(triage.id)
  }, showError)
  const automation = { automation_id: triage.id }
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Checkbox
        label={`Ask ${agent ?? 'an agent that is gone'} about each new issue`}
        checked={isOn}
        disabled={change.busy || !(isOwner || (isOn && isManager))}
        onChange={() =>
          void change.run(() => (isOn ? api.disableAutomation(automation) : api.enableAutomation(automation)))
        }
      />
      {triage.state === 'paused' && <span className="text-warn-ink">Paused</span>}
      <Link
        to="/settings/automations/$automationId"
        params={{ automationId: triage.id }}
        className="font-medium text-accent-ink underline underline-offset-2"
      >
        Open automation
      </Link>
      {(isOwner || isManager) && (
        <Button disabled={change.busy} onClick={() => void change.run(() => api.deleteAutomation(automation))}>
          Remove
        </Button>
      )}
    </div>
  )
}
