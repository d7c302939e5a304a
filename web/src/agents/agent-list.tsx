import type { Choice } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { installationsQuery } from '../data/agent-apps.ts'
import { agentsQuery, coverageOf, kindLabels } from '../data/agents.ts'
import { useMe } from '../data/me.ts'
import { useTeams } from '../data/workspaces.ts'
import { isDisconnected, remedyText, unavailableText } from '../delegation/available-agents.ts'
import { Avatar } from '../ui/avatar.tsx'
import { buttonClass } from '../ui/button.tsx'
import { Dot } from '../ui/pill.tsx'
import { AsideSection } from './aside-section.tsx'

/** Shared agents: the built-in one first, then by name. */
const sortedAgents = (agents: Choice[]) =>
  agents
    .filter(({ agent_kind }) => agent_kind !== 'personal')
    .sort(
      (a, b) =>
        Number(b.agent_kind === 'deployment') - Number(a.agent_kind === 'deployment') ||
        a.display_name.localeCompare(b.display_name),
    )

/** The agents that all members can delegate to, with their teams and availability. */
export function AgentList() {
  const { isManager } = useMe()
  const agents = useQuery(agentsQuery)
  return (
    <AsideSection
      title="Workspace agents"
      query={agents}
      action={
        <>
          <Link to="/agents/add" className={buttonClass('quiet', 'sm')}>
            Add a coding agent
          </Link>
          {isManager && (
            <Link to="/settings/agent-apps" className={buttonClass('quiet', 'sm')}>
              Manage apps
            </Link>
          )}
        </>
      }
    >
      <ul className="divide-y">
        {sortedAgents(agents.data ?? []).map((agent) => (
          <Row key={agent.id} agent={agent} />
        ))}
      </ul>
    </AsideSection>
  )
}

function Row({ agent }: { agent: Choice }) {
  const { isManager } = useMe()
  const teams = useTeams()
  const installation = useQuery(installationsQuery).data?.find(({ app_user_id }) => app_user_id === agent.id)
  const { display_name, avatar_url, agent_kind, available, unavailable_reason } = agent
  const ready = available && !isDisconnected(agent)
  return (
    <li className="flex items-start gap-2.5 py-2.5">
      <Avatar agent name={display_name} src={avatar_url} size={32} />
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-2">
          <span className="truncate font-medium">
            <bdi>{display_name}</bdi>
          </span>
          {agent_kind && <span className="shrink-0 text-xs text-ink-3">{kindLabels[agent_kind]}</span>}
        </p>
        {agent_kind === 'deployment' && (
          <p className="text-xs text-ink-2">Finds duplicates, missing information and blockers.</p>
        )}
        <p className="truncate text-xs text-ink-2">{coverageOf(agent, installation, teams)}</p>
        <p className="flex flex-wrap items-center gap-x-1.5 text-xs">
          <Dot tone={ready ? 'ok' : 'warn'} />
          <span className={ready ? 'text-ink-2' : 'text-warn-ink'}>
            {unavailableText(agent) ?? (ready ? 'Available' : 'Not connected')}
          </span>
          {!available && isManager && installation && (
            <Link
              to="/settings/agent-apps/$appId"
              params={{ appId: installation.app_id }}
              className="font-medium text-accent-ink underline underline-offset-2"
            >
              {remedyText(unavailable_reason)}
            </Link>
          )}
        </p>
      </div>
    </li>
  )
}
