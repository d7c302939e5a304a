import type { Automation } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Plus, Zap } from 'lucide-react'
import { automationsQuery } from '../data/automations.ts'
import { usePeople, useTeams } from '../data/workspaces.ts'
import { Button } from '../ui/button.tsx'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pill } from '../ui/pill.tsx'
import { rowItem, useRows } from '../ui/rows.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { runWords, stateWords, triggerText } from './words.ts'

export function AutomationsScreen() {
  const automations = useQuery(automationsQuery)
  const navigate = useNavigate()
  const create = () => void navigate({ to: '/settings/automations/new', search: { issue: undefined } })
  useCommands([{ id: 'automation.create', title: 'Create automation', section: 'Create', keys: 'n u', run: create }])
  const button = (
    <Button look="primary" icon={Plus} command="automation.create" onClick={create}>
      Create automation
    </Button>
  )
  return (
    <Page title="Automations" actions={button}>
      <Loaded query={automations}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={Zap} title="No automations yet" action={button}>
              An automation creates, changes or delegates issues on a schedule, when an issue changes, or when an agent
              is done. It acts as its owner.
            </Empty>
          ) : (
            <List automations={list} />
          )
        }
      </Loaded>
    </Page>
  )
}

function List({ automations }: { automations: Automation[] }) {
  const { list } = useRows('automation')
  const teams = new Map(useTeams().map((team) => [team.id, team]))
  const people = usePeople()
  return (
    <ul {...list} aria-label="Automations" className="divide-y border-b">
      {automations.map((automation) => {
        const { label, tone } = stateWords[automation.state]
        const team = teams.get(automation.team_id)?.name
        return (
          <li key={automation.id} className={rowItem}>
            <Link
              data-row={automation.id}
              to="/settings/automations/$automationId"
              params={{ automationId: automation.id }}
              className="flex min-h-9 items-center gap-3 px-4 py-1.5 outline-hidden"
            >
              <span className="w-16 shrink-0">
                <Pill tone={tone}>{label}</Pill>
              </span>
              <span className="min-w-0 flex-1">
                <bdi className="block truncate font-medium">{automation.name}</bdi>
                <span className="block text-xs text-ink-3">
                  {triggerText(automation.trigger)}
                  {automation.state === 'on' && automation.next_at && (
                    <>
                      , next <Time at={automation.next_at} />
                    </>
                  )}
                  <span className="block md:hidden">
                    {team} · <LastRun automation={automation} />
                  </span>
                </span>
              </span>
              <span className="w-28 shrink-0 truncate text-ink-2 max-md:hidden">{team}</span>
              <span className="w-32 shrink-0 truncate text-ink-2 max-lg:hidden">
                <bdi>{people.get(automation.owner_id)?.display_name ?? 'A former member'}</bdi>
              </span>
              <span className="w-36 shrink-0 truncate text-right text-ink-3 max-md:hidden">
                <LastRun automation={automation} />
              </span>
            </Link>
          </li>
        )
      })}
    </ul>
  )
}

const LastRun = ({ automation: { last_run } }: { automation: Automation }) =>
  last_run ? (
    <>
      {runWords[last_run.state].label} <Time at={last_run.created_at} />
    </>
  ) : (
    'Never run'
  )
