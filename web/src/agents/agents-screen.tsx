import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Bot, ListFilter, UserRound, X } from 'lucide-react'
import { useMemo } from 'react'
import { sessionsQuery, waitingSessionsQuery } from '../data/agent-sessions.ts'
import { agentsQuery } from '../data/agents.ts'
import { useMe } from '../data/me.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { Page } from '../ui/layout.tsx'
import { usePicker } from '../ui/picker.tsx'
import { Empty, Failed, Skeletons } from '../ui/states.tsx'
import { AgentList } from './agent-list.tsx'
import { ModelStatus } from './model-status.tsx'
import { PersonalAgents } from './personal-agents.tsx'
import { type AgentSearch, statuses, statusLabels } from './search.ts'
import { SessionRows } from './session-rows.tsx'

/** All sessions of the workspace, those that need input first, and all agents. */
export function AgentsScreen() {
  const { isManager } = useMe()
  return (
    <Page title="Agents" below={<Filters />}>
      <div className="lg:flex lg:min-h-full">
        <div className="min-w-0 flex-1">
          <Sessions />
        </div>
        <aside className="border-t lg:w-88 lg:shrink-0 lg:border-t-0 lg:border-l">
          <AgentList />
          <PersonalAgents />
          {isManager && <ModelStatus />}
        </aside>
      </div>
    </Page>
  )
}

const useFilters = () => useSearch({ from: '/person/inside/agents' })

function Sessions() {
  const filters = useFilters()
  const { user } = useMe()
  const { data, error, refetch } = useQuery(sessionsQuery)
  const { data: waiting } = useQuery(waitingSessionsQuery)
  const sessions = useMemo(() => {
    const all = new Map((waiting ?? []).map((session) => [session.id, session]))
    for (const session of data ?? []) all.set(session.id, session)
    return [...all.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
  }, [data, waiting])
  if (!data) return error ? <Failed error={error} onRetry={() => void refetch()} /> : <Skeletons rows={8} />
  if (data.length === 0) {
    return (
      <Empty icon={Bot} title="No agent sessions yet">
        Open an issue and press <Kbd keys="d" /> to delegate it, or mention an agent in a comment.
      </Empty>
    )
  }
  return <SessionRows sessions={sessions} filters={filters} me={user.id} />
}

function Filters() {
  const filters = useFilters()
  const navigate = useNavigate()
  const ask = usePicker()
  const { data: agents = [] } = useQuery(agentsQuery)
  const choose = (change: Partial<{ [Key in keyof AgentSearch]: AgentSearch[Key] | undefined }>) =>
    void navigate({
      to: '/agents',
      search: (now) => Object.fromEntries(Object.entries({ ...now, ...change }).filter(([, value]) => value)),
      replace: true,
    })
  const chosen = agents.find(({ id }) => id === filters.agent)
  return (
    <div className="flex flex-wrap gap-1.5 px-4 pb-2">
      <Button
        size="sm"
        icon={Bot}
        onClick={({ currentTarget }) =>
          ask(currentTarget, {
            title: 'Agent',
            selected: filters.agent ? [filters.agent] : [],
            options: agents.map(({ id, display_name, avatar_url }) => ({
              value: id,
              label: display_name,
              icon: <Avatar agent name={display_name} src={avatar_url} size={16} />,
            })),
            onPick: (agent) => choose({ agent: agent === filters.agent ? undefined : agent }),
          })
        }
      >
        {filters.agent ? `Agent: ${chosen?.display_name ?? 'removed'}` : 'Agent'}
      </Button>
      <Button
        size="sm"
        icon={ListFilter}
        onClick={({ currentTarget }) =>
          ask(currentTarget, {
            title: 'Status',
            selected: filters.status ? [filters.status] : [],
            options: statuses.map((value) => ({ value, label: statusLabels[value] })),
            onPick: (value) => {
              const status = statuses.find((one) => one === value)
              choose({ status: status === filters.status ? undefined : status })
            },
          })
        }
      >
        {filters.status ? `Status: ${statusLabels[filters.status]}` : 'Status'}
      </Button>
      <Button
        size="sm"
        icon={UserRound}
        aria-pressed={filters.mine === true}
        className="aria-pressed:border-accent aria-pressed:bg-accent-wash"
        onClick={() => choose({ mine: filters.mine ? undefined : true })}
      >
        Requested by me
      </Button>
      {Object.keys(filters).length > 0 && (
        <Button
          size="sm"
          look="quiet"
          icon={X}
          onClick={() => choose({ agent: undefined, status: undefined, mine: undefined })}
        >
          Clear
        </Button>
      )}
    </div>
  )
}
