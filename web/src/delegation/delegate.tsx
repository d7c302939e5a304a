import type { Choice, Issue } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CircleSlash } from 'lucide-react'
import { useCallback } from 'react'
import { installationsQuery } from '../data/agent-apps.ts'
import { queries } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { teamMembersQuery } from '../data/workspaces.ts'
import { Avatar } from '../ui/avatar.tsx'
import { type Option, usePicker } from '../ui/picker.tsx'
import { agentsForIssueQuery, kindHint, reasonWords, remedyWords } from './available-agents.ts'
import { handOver } from './hand-over.ts'

const nobody = 'nobody'

/** One issue of each place: whether an agent can be given work depends on that alone. */
const onePerPlace = (issues: Issue[]) => [
  ...new Map(issues.map((issue) => [`${issue.team_id} ${issue.personal}`, issue])).values(),
]

/** Every agent, with how many of the places it can work in. */
async function agentsFor(issues: Issue[]): Promise<{ agent: Choice; places: number }[]> {
  const lists = await Promise.all(issues.map(({ id }) => queries.fetchQuery(agentsForIssueQuery(id))))
  const agents = new Map<string, { agent: Choice; places: number }>()
  for (const agent of lists.flat()) {
    const known = agents.get(agent.id)
    const places = (known?.places ?? 0) + (agent.available ? 1 : 0)
    agents.set(agent.id, { agent: known?.agent.available ? known.agent : agent, places })
  }
  // Those that can be picked first, each kind by name.
  return [...agents.values()].sort(
    (a, b) => Number(b.places > 0) - Number(a.places > 0) || a.agent.display_name.localeCompare(b.agent.display_name),
  )
}

async function options(issues: Issue[], query: string): Promise<Option[]> {
  const places = onePerPlace(issues)
  const agents = await agentsFor(places)
  const wanted = query.trim().toLowerCase()
  return [
    ...(issues.some(({ delegate_id }) => delegate_id) && !wanted
      ? [{ value: nobody, label: 'No delegate', icon: <CircleSlash size={14} aria-hidden />, hint: 'takes it back' }]
      : []),
    ...agents
      .filter(({ agent }) => agent.display_name.toLowerCase().includes(wanted))
      .map(({ agent, places: some }) => ({
        value: agent.id,
        label: agent.display_name,
        icon: <Avatar name={agent.display_name} agent src={agent.avatar_url} size={16} />,
        unavailable: some === 0 ? reasonWords(agent) : undefined,
        hint: some > 0 && some < places.length ? 'not for every team' : kindHint(agent),
      })),
  ]
}

/** Opens the menu of agents beside `anchor` and hands the issues over, or takes them back. */
export function useDelegate(): (anchor: Element | null, issues: Issue[]) => void {
  const ask = usePicker()
  const navigate = useNavigate()
  const { user, isManager } = useMe()
  return useCallback(
    (anchor, issues) => {
      if (issues.length === 0) return
      const hand = ({ value, label }: Option, assigneeId?: string) =>
        void handOver({
          issues,
          agent: value === nobody ? null : { id: value, name: label },
          assigneeId,
          me: user.id,
          askAssignee: (issue) => {
            ask(anchor, {
              title: 'Who stays accountable',
              options: (query) => teammates(issue, user.id, query),
              empty: 'Nobody in this team matches.',
              footer: `${issue.code} has no assignee. A person of its team answers for what the agent does.`,
              onPick: (id) => hand({ value, label }, id),
            })
          },
        })
      ask(anchor, {
        title: issues.length === 1 ? 'Delegate to' : `Delegate ${issues.length} issues to`,
        options: (query) => options(issues, query),
        selected: issues.length === 1 && issues[0]?.delegate_id ? [issues[0].delegate_id] : [],
        empty: 'No agent is called that.',
        footer: (close) => (
          <Footer
            issues={issues}
            isManager={isManager}
            onGo={(path) => {
              close()
              void navigate({ to: path })
            }}
          />
        ),
        onPick: (_, agent) => hand(agent),
      })
    },
    [ask, navigate, user.id, isManager],
  )
}

interface FooterProps {
  issues: Issue[]
  isManager: boolean
  onGo: (path: string) => void
}

/** That somebody stays accountable; for managers, where to make an agent available. */
function Footer({ issues, isManager, onGo }: FooterProps) {
  const [issue] = issues
  const { data: agents } = useQuery({ ...agentsForIssueQuery(issue?.id ?? ''), enabled: issue !== undefined })
  const { data: installations = [] } = useQuery({ ...installationsQuery, enabled: isManager })
  const appOf = (agent: Choice) => installations.find(({ app_user_id }) => app_user_id === agent.id)?.app_id
  const unavailable = isManager ? (agents ?? []).filter(({ available }) => !available) : []
  return (
    <>
      <p>The assignee stays accountable.</p>
      {unavailable.map((agent) => {
        const appId = appOf(agent)
        return (
          appId && (
            <p key={agent.id} className="mt-1">
              <Way to={`/settings/agent-apps/${appId}`} onGo={onGo}>
                {remedyWords(agent.unavailable_reason)}
              </Way>
              {`: ${agent.display_name}`}
            </p>
          )
        )
      })}
    </>
  )
}

/** The menu stands outside the router, so it is told where to go. */
const Way = ({ to, onGo, children }: { to: string; onGo: (path: string) => void; children: string }) => (
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

/** People of the issue's team, you first. */
async function teammates(issue: Issue, me: string, query: string): Promise<Option[]> {
  const members = issue.team_id ? await queries.fetchQuery(teamMembersQuery(issue.team_id)) : []
  return members
    .filter(({ display_name }) => display_name.toLowerCase().includes(query.trim().toLowerCase()))
    .sort((a, b) => Number(b.id === me) - Number(a.id === me) || a.display_name.localeCompare(b.display_name))
    .map(({ id, display_name }) => ({
      value: id,
      label: display_name,
      icon: <Avatar name={display_name} size={16} />,
      ...(id === me && { hint: 'you' }),
    }))
}
