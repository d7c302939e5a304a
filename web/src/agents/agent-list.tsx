import type { Choice } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { installationsQuery } from '../agent-apps/queries.ts'
import { reasonWords, remedyWords } from '../issues/available-agents.ts'
import { useMe } from '../login/me.ts'
import { Avatar } from '../ui/avatar.tsx'
import { buttonClass } from '../ui/button.tsx'
import { Dot } from '../ui/pill.tsx'
import { Failed, Skeletons } from '../ui/states.tsx'
import { useTeams } from '../workspaces/queries.ts'
import { agentsQuery, coverageOf, kindWords } from './queries.ts'

/** Whom work can be handed to, where, and if not, why. */
export function AgentList() {
  const { isManager } = useMe()
  const { data: agents, error, refetch } = useQuery(agentsQuery)
  return (
    <section aria-labelledby="all-agents" className="p-4">
      <div className="flex h-6 items-center gap-2 pb-1">
        <h2 id="all-agents" className="flex-1 font-semibold">
          All agents
        </h2>
        {isManager && (
          <Link to="/settings/agent-apps" className={buttonClass('quiet', 'sm')}>
            Manage
          </Link>
        )}
      </div>
      {!agents ? (
        error ? (
          <Failed error={error} onRetry={() => void refetch()} />
        ) : (
          <Skeletons rows={3} className="px-0" />
        )
      ) : agents.length === 0 ? (
        <NoAgents />
      ) : (
        <ul className="divide-y">
          {agents.map((agent) => (
            <Row key={agent.id} agent={agent} />
          ))}
        </ul>
      )}
    </section>
  )
}

const NoAgents = () => {
  const { isManager } = useMe()
  return (
    <p className="py-2 text-ink-2">
      No agent is installed.{' '}
      {isManager ? (
        <Link to="/settings/agent-apps" className="font-medium text-accent-ink underline underline-offset-2">
          Install an agent app
        </Link>
      ) : (
        'Ask a manager of the workspace to install one.'
      )}
    </p>
  )
}

function Row({ agent }: { agent: Choice }) {
  const { isManager } = useMe()
  const teams = useTeams()
  const installation = useQuery(installationsQuery).data?.find(({ app_user_id }) => app_user_id === agent.id)
  const { display_name, avatar_url, agent_kind, available, unavailable_reason } = agent
  return (
    <li className="flex items-start gap-2.5 py-2.5">
      <Avatar agent name={display_name} src={avatar_url} size={32} />
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-2">
          <span className="truncate font-medium">{display_name}</span>
          {agent_kind && <span className="shrink-0 text-xs text-ink-3">{kindWords[agent_kind]}</span>}
        </p>
        <p className="truncate text-xs text-ink-2">{coverageOf(agent, installation, teams)}</p>
        <p className="flex flex-wrap items-center gap-x-1.5 text-xs">
          <Dot tone={available ? 'ok' : 'warn'} />
          <span className={available ? 'text-ink-2' : 'text-warn-ink'}>{reasonWords(agent) ?? 'Takes work'}</span>
          {!available && isManager && installation && (
            <Link
              to="/settings/agent-apps/$appId"
              params={{ appId: installation.app_id }}
              className="font-medium text-accent-ink underline underline-offset-2"
            >
              {remedyWords(unavailable_reason)}
            </Link>
          )}
        </p>
      </div>
    </li>
  )
}
