import type { Project } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import {
  CalendarCheck,
  CalendarClock,
  Crown,
  Lock,
  type LucideIcon,
  Tag,
  Target,
  UserRound,
  Users,
  UsersRound,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { initiativesQuery, labelsQuery } from '../data/planning.ts'
import { usePeople, useTeams } from '../data/workspaces.ts'
import { PriorityIcon, priorityLabel } from '../issues/fields/words.tsx'
import { LabelDot } from '../planning/label-dot.tsx'
import { Avatar } from '../ui/avatar.tsx'
import { dayOf } from '../ui/day.ts'
import type { Property } from '../ui/property-list.tsx'
import { useChooseProject } from './choose.tsx'
import { HealthDot, healthLabel, ProjectStatusIcon, projectStatusLabel } from './words.tsx'

const Mark = ({ icon: Icon }: { icon: LucideIcon }) => <Icon size={14} aria-hidden className="shrink-0 text-ink-3" />

const chip = 'inline-flex h-5 items-center gap-1.5 rounded-full border bg-surface px-2 text-xs'
const Chips = ({ items }: { items: { id: string; name: string; mark?: ReactNode }[] }) => (
  <span className="flex flex-wrap gap-1 py-1">
    {items.map(({ id, name, mark }) => (
      <span key={id} className={chip}>
        {mark}
        {name}
      </span>
    ))}
  </span>
)

/** Many people are told apart by their pictures. */
const Faces = ({ people }: { people: { id: string; name: string }[] }) => (
  <span className="flex flex-wrap gap-1 py-1">
    {people.map(({ id, name }) => (
      <span key={id} title={name}>
        <Avatar name={name} size={20} />
      </span>
    ))}
  </span>
)

/** Everything about a project that is chosen from a menu, in the order in which it is shown. */
export function useProjectProperties(project: Project, changeVisibility: (anchor: Element | null) => void): Property[] {
  const choose = useChooseProject()
  const by = (question: (anchor: Element | null, project: Project) => void) => (anchor: Element | null) =>
    question(anchor, project)
  const { start_date, target_date, health_status, initiative_id } = project
  const initiative = useQuery(initiativesQuery).data?.find(({ id }) => id === initiative_id)
  return [
    {
      id: 'status',
      label: 'Status',
      keys: 's',
      icon: <ProjectStatusIcon status={project.status} />,
      value: projectStatusLabel(project.status),
      isEmpty: false,
      change: by(choose.status),
    },
    {
      id: 'health',
      label: 'Health',
      keys: 'h',
      icon: <HealthDot health={health_status} />,
      value: healthLabel(health_status),
      isEmpty: !health_status,
      chip: true,
      change: by(choose.health),
    },
    {
      id: 'priority',
      label: 'Priority',
      keys: 'p',
      icon: <PriorityIcon priority={project.priority} />,
      value: priorityLabel(project.priority),
      isEmpty: project.priority === 'no_priority',
      change: by(choose.priority),
    },
    usePersonProperty(project.lead_id, { id: 'lead', label: 'Lead', keys: 'a', icon: UserRound }, by(choose.lead)),
    {
      ...usePersonProperty(project.owner_id, { id: 'owner', label: 'Owner', icon: Crown }, by(choose.owner)),
      chip: false,
    },
    ...useListProperties(project, by),
    {
      id: 'initiative',
      label: 'Initiative',
      keys: 'i',
      icon: <Mark icon={Target} />,
      value: initiative_id ? (initiative?.name ?? '…') : 'No initiative',
      isEmpty: !initiative_id,
      change: by(choose.initiative),
    },
    {
      id: 'start',
      label: 'Start date',
      keys: 'shift+s',
      icon: <Mark icon={CalendarClock} />,
      value: start_date ? dayOf(start_date) : 'No start date',
      isEmpty: !start_date,
      change: by(choose.start),
    },
    {
      id: 'target',
      label: 'Target date',
      keys: 'shift+d',
      icon: <Mark icon={CalendarCheck} />,
      value: target_date ? dayOf(target_date) : 'No target date',
      isEmpty: !target_date,
      change: by(choose.target),
    },
    {
      id: 'visibility',
      label: 'Seen by',
      icon: <Mark icon={Lock} />,
      value: project.personal ? 'Only you' : 'Everybody',
      isEmpty: !project.personal,
      change: changeVisibility,
    },
  ]
}

function usePersonProperty(
  personId: string | null,
  about: { id: string; label: string; keys?: string; icon: LucideIcon },
  change: Property['change'],
): Property {
  const people = usePeople()
  const person = people.get(personId ?? '')
  return {
    ...about,
    icon: person ? (
      <Avatar name={person.display_name} src={person.avatar_url} agent={person.user_kind === 'application'} size={16} />
    ) : (
      <Mark icon={about.icon} />
    ),
    // Until it is known who there is, nobody has left.
    value: personId ? (person?.display_name ?? (people.size > 0 ? 'Somebody who left' : '…')) : 'Nobody',
    isEmpty: !personId,
    change,
  }
}

function useListProperties(
  project: Project,
  by: (question: ReturnType<typeof useChooseProject>['members']) => Property['change'],
): Property[] {
  const choose = useChooseProject()
  const people = usePeople()
  const members = project.member_ids.flatMap((id) => {
    const person = people.get(id)
    return person ? [{ id, name: person.display_name, mark: <Avatar name={person.display_name} size={16} /> }] : []
  })
  const teams = useTeams().filter(({ id }) => project.team_ids.includes(id))
  const labels = (useQuery(labelsQuery).data ?? [])
    .filter(({ id }) => project.label_ids.includes(id))
    .map(({ id, name, color }) => ({ id, name, mark: <LabelDot color={color} /> }))
  const list = (
    id: string,
    label: string,
    icon: LucideIcon,
    items: Parameters<typeof Chips>[0]['items'],
    change: Property['change'],
    keys?: string,
  ): Property => ({
    id,
    label,
    ...(keys && { keys }),
    icon: items.length === 0 ? <Mark icon={icon} /> : null,
    value: items.length === 0 ? `No ${label.toLowerCase()}` : <Chips items={items} />,
    ...(items.length > 0 && { words: items.map(({ name }) => name).join(', ') }),
    isEmpty: items.length === 0,
    change,
  })
  return [
    {
      ...list('members', 'Members', UsersRound, members, by(choose.members), 'shift+m'),
      chip: false,
      // Until it is known who there is, nobody has left.
      ...(people.size === 0 && project.member_ids.length > 0 && { value: '…' }),
      ...(members.length > 2 && { value: <Faces people={members} /> }),
    },
    list('teams', 'Teams', Users, teams, by(choose.teams), 't'),
    list('labels', 'Labels', Tag, labels, by(choose.labels), 'l'),
  ]
}
