import type { Choice, Cycle, Label, Project, Team } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Box, CircleUser, RefreshCw, Tag } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { useMe } from '../../data/me.ts'
import { cyclesQuery, labelsQuery } from '../../data/planning.ts'
import { projectsQuery } from '../../data/projects.ts'
import { peopleQuery, teamsQuery } from '../../data/workspaces.ts'
import { LabelDot } from '../../planning/label-dot.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import { none, type Option } from '../../ui/picker.tsx'
import type { FilterField } from '../../views/search.ts'
import type { Grouping } from './arrange.ts'
import { PriorityIcon, priorities, StatusIcon, statuses, types } from './words.tsx'

export type Field = FilterField | Exclude<Grouping, 'none'>

/** Everything that issues refer to, by id, and what each field can hold. */
export interface Known {
  me: string
  people: ReadonlyMap<string, Choice>
  labels: ReadonlyMap<string, Label>
  projects: ReadonlyMap<string, Project>
  cycles: ReadonlyMap<string, Cycle>
  teams: readonly Team[]
  options: Record<Field, Option[]>
  nameOf: (field: Field, value: string) => string
  iconOf: (field: Field, value: string) => ReactNode
}

const nothing: never[] = []
const byId = <Item extends { id: string }>(items: readonly Item[]) => new Map(items.map((item) => [item.id, item]))

const withNone = (label: string, icon: ReactNode, options: Option[]): Option[] => [
  { value: none, label, icon },
  ...options,
]
const quiet = (Icon: typeof Tag) => <Icon size={14} aria-hidden className="text-ink-3" />
const byLabel = (a: Option, b: Option) => a.label.localeCompare(b.label)

const personOption = (person: Choice, me: string): Option => ({
  value: person.id,
  label: person.display_name,
  icon: (
    <Avatar name={person.display_name} src={person.avatar_url} agent={person.user_kind === 'application'} size={16} />
  ),
  ...(person.id === me && { hint: 'you' }),
})

/** Whose own agent it is is not for everybody to see. */
const unknown: Partial<Record<Field, string>> = { delegate: 'Somebody’s own agent' }

export function useKnown(): Known {
  const { user } = useMe()
  const people = useQuery(peopleQuery).data ?? nothing
  const labels = useQuery(labelsQuery).data ?? nothing
  const projects = useQuery(projectsQuery).data ?? nothing
  const cycles = useQuery(cyclesQuery).data ?? nothing
  const teams = useQuery(teamsQuery).data ?? nothing
  return useMemo(
    () => known({ me: user.id, people, labels, projects, cycles, teams }),
    [user.id, people, labels, projects, cycles, teams],
  )
}

interface Lists {
  me: string
  people: readonly Choice[]
  labels: readonly Label[]
  projects: readonly Project[]
  cycles: readonly Cycle[]
  teams: readonly Team[]
}

function known({ me, people, labels, projects, cycles, teams }: Lists): Known {
  const humans = people.filter(({ user_kind }) => user_kind === 'human').map((person) => personOption(person, me))
  const agents = people.filter(({ user_kind }) => user_kind === 'application').map((agent) => personOption(agent, me))
  const teamName = new Map(teams.map(({ id, name }) => [id, name]))
  const options: Known['options'] = {
    status: statuses.map(({ value, label }) => ({ value, label, icon: <StatusIcon status={value} /> })),
    priority: priorities.map(({ value, label }) => ({ value, label, icon: <PriorityIcon priority={value} /> })),
    type: types,
    assignee: withNone('No assignee', quiet(CircleUser), [
      ...humans.filter(({ value }) => value === me),
      ...humans.filter(({ value }) => value !== me).sort(byLabel),
    ]),
    delegate: withNone('No agent', quiet(CircleUser), agents.sort(byLabel)),
    label: withNone(
      'No label',
      quiet(Tag),
      labels.map(({ id, name, color }) => ({ value: id, label: name, icon: <LabelDot color={color} /> })).sort(byLabel),
    ),
    project: withNone(
      'No project',
      quiet(Box),
      projects.map(({ id, title }) => ({ value: id, label: title, icon: quiet(Box) })).sort(byLabel),
    ),
    cycle: withNone(
      'No cycle',
      quiet(RefreshCw),
      cycles.map(({ id, name, team_id }) => ({
        value: id,
        label: name,
        icon: quiet(RefreshCw),
        hint: teamName.get(team_id),
      })),
    ),
    team: [
      ...teams.map(({ key, name }) => ({ value: key, label: name, hint: key })),
      { value: none, label: 'Personal, without a team' },
    ],
  }
  const found = Object.fromEntries(
    Object.entries(options).map(([field, list]) => [field, new Map(list.map((option) => [option.value, option]))]),
  ) as Record<Field, Map<string, Option>>
  const optionOf = (field: Field, value: string) => found[field].get(value === 'me' ? me : value)
  return {
    me,
    people: byId(people),
    labels: byId(labels),
    projects: byId(projects),
    cycles: byId(cycles),
    teams,
    options,
    nameOf: (field, value) => (value === 'me' ? 'Me' : (optionOf(field, value)?.label ?? unknown[field] ?? 'Unknown')),
    iconOf: (field, value) => optionOf(field, value)?.icon,
  }
}

export const fieldNames: Record<Field, string> = {
  status: 'Status',
  priority: 'Priority',
  assignee: 'Assignee',
  delegate: 'Agent',
  label: 'Label',
  project: 'Project',
  cycle: 'Cycle',
  type: 'Type',
  team: 'Team',
}
