import type { Choice, Issue } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Bot, CircleSlash } from 'lucide-react'
import { installationsQuery } from '../data/agent-apps.ts'
import { queries } from '../data/api.ts'
import { teamMembersQuery } from '../data/workspaces.ts'
import { Avatar } from '../ui/avatar.tsx'
import { fold } from '../ui/fold.ts'
import { isolated } from '../ui/isolated.ts'
import { none, type Option } from '../ui/picker.tsx'
import {
  agentsForIssueQuery,
  agentsForTeamQuery,
  hintOf,
  remedyText,
  sharedOnly,
  unavailableText,
} from './available-agents.ts'

const agentOption = (agent: Choice): Option => ({
  value: agent.id,
  label: agent.display_name,
  icon: <Avatar name={agent.display_name} agent src={agent.avatar_url} size={16} />,
  unavailable: unavailableText(agent),
  hint: hintOf(agent),
})

const includes = (query: string) => {
  const wanted = fold(query.trim())
  return (name: string) => fold(name).includes(wanted)
}

/** Availability depends only on the team and the visibility, so one issue of each combination is enough. */
const onePerPlace = (issues: readonly Issue[]) => [
  ...new Map(issues.map((issue) => [`${issue.team_id} ${issue.personal}`, issue])).values(),
]

/** Every agent, and for how many of the issues it is available. Available agents first, then by name. */
async function agentsIn(issues: readonly Issue[]): Promise<{ agent: Choice; places: number }[]> {
  const lists = await Promise.all(issues.map(({ id }) => queries.fetchQuery(agentsForIssueQuery(id))))
  const agents = new Map<string, { agent: Choice; places: number }>()
  for (const agent of lists.flat()) {
    const before = agents.get(agent.id)
    const places = (before?.places ?? 0) + (agent.available ? 1 : 0)
    agents.set(agent.id, { agent: before?.agent.available ? before.agent : agent, places })
  }
  return [...agents.values()].sort(
    (a, b) => Number(b.places > 0) - Number(a.places > 0) || a.agent.display_name.localeCompare(b.agent.display_name),
  )
}

/** Agents to delegate these issues to; for delegated issues also the option to remove the delegation. */
export async function agentsForIssues(issues: readonly Issue[], query: string): Promise<Option[]> {
  const places = onePerPlace(issues)
  const agents = await agentsIn(places)
  const matches = includes(query)
  const removeDelegation = {
    value: none,
    label: 'No agent',
    icon: <CircleSlash size={14} aria-hidden />,
    hint: 'remove delegation',
  }
  return [
    ...(issues.some(({ delegate_id }) => delegate_id) && !query.trim() ? [removeDelegation] : []),
    ...agents
      .filter(({ agent }) => matches(agent.display_name))
      .map(({ agent, places: available }) => ({
        ...agentOption(agent),
        unavailable: available === 0 ? unavailableText(agent) : undefined,
        hint: available > 0 && available < places.length ? 'not in every team' : hintOf(agent),
      })),
  ]
}

/** Agents to delegate a new issue to. */
export async function agentsForDraft(query: string, draft?: Pick<Issue, 'personal' | 'team_id'>): Promise<Option[]> {
  const personal = draft?.personal ?? false
  const agents = await queries.fetchQuery(agentsForTeamQuery(personal ? null : (draft?.team_id ?? null)))
  const options = agents.map((agent) => ({
    ...agentOption(agent),
    ...(personal && agent.agent_kind !== 'personal' && { unavailable: sharedOnly }),
  }))
  const empty = { value: none, label: 'No agent', icon: <Bot size={14} aria-hidden className="text-ink-3" /> }
  return [empty, ...options].filter(({ label }) => includes(query)(label))
}

/** Members of the issue's team, the signed-in user first. */
export async function teammates(issue: Issue, me: string, query: string): Promise<Option[]> {
  const members = issue.team_id ? await queries.fetchQuery(teamMembersQuery(issue.team_id)) : []
  return members
    .filter(({ display_name }) => includes(query)(display_name))
    .sort((a, b) => Number(b.id === me) - Number(a.id === me) || a.display_name.localeCompare(b.display_name))
    .map(({ id, display_name }) => ({
      value: id,
      label: display_name,
      icon: <Avatar name={display_name} size={16} />,
      ...(id === me && { hint: 'you' }),
    }))
}

interface FooterProps {
  issue: Issue
  isManager: boolean
  onGo: (path: string) => void
}

/** States who is accountable. For managers, also links to the settings that make unavailable agents available. */
export function DelegateFooter({ issue, isManager, onGo }: FooterProps) {
  const { data: agents = [] } = useQuery(agentsForIssueQuery(issue.id))
  const { data: installations = [] } = useQuery({ ...installationsQuery, enabled: isManager })
  const appOf = (agent: Choice) => installations.find(({ app_user_id }) => app_user_id === agent.id)?.app_id
  const unavailable = isManager ? agents.filter(({ available }) => !available) : []
  return (
    <>
      <p>The assignee stays accountable.</p>
      {unavailable.map((agent) => {
        const appId = appOf(agent)
        return (
          appId && (
            <p key={agent.id} className="mt-1">
              <MenuLink to={`/settings/agent-apps/${appId}`} onGo={onGo}>
                {remedyText(agent.unavailable_reason)}
              </MenuLink>
              {`: ${isolated(agent.display_name)}`}
            </p>
          )
        )
      })}
    </>
  )
}

/** The menu is rendered outside the router, so a router link cannot be used. */
const MenuLink = ({ to, onGo, children }: { to: string; onGo: (path: string) => void; children: string }) => (
  <a
    href={to}
    onClick={(event) => {
      event.preventDefault()
      onGo(to)
    }}
    className="font-medium text-accent-ink underline underline-offset-2"
  >
    {children}
  </a>
)
