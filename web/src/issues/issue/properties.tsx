import type { Issue } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import {
  Calendar,
  CircleDashed,
  Flag,
  Folder,
  Hourglass,
  Lock,
  type LucideIcon,
  RefreshCw,
  Shapes,
  UserRound,
  Users,
} from 'lucide-react'
import { agentName } from '../../agent-sessions/state.tsx'
import { issueSessionsQuery } from '../../data/agent-sessions.ts'
import { cyclesQuery, labelsQuery, milestonesQuery } from '../../data/planning.ts'
import { projectsQuery } from '../../data/projects.ts'
import { usePeople, useTeams } from '../../data/workspaces.ts'
import { useDelegate } from '../../delegation/delegate.tsx'
import { useHandingOver } from '../../delegation/hand-over.ts'
import { LabelDot } from '../../planning/label-dot.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import { dayOf } from '../../ui/day.ts'
import { hours } from '../../ui/day-options.ts'
import type { Property } from '../../ui/property-list.tsx'
import { useChoices } from '../edit/choices.tsx'
import { PriorityIcon, priorityLabel, StatusIcon, statusLabel, typeLabel } from '../fields/words.tsx'

const Mark = ({ icon: Icon }: { icon: LucideIcon }) => <Icon size={14} aria-hidden className="shrink-0 text-ink-3" />

/** Until it is known who there is, nobody has left. */
const absent = (known: number, otherwise: string) => (known > 0 ? otherwise : '…')

const named = (list: { id: string; name: string }[] | undefined, id: string | null, otherwise: string) =>
  id ? (list?.find((one) => one.id === id)?.name ?? '…') : otherwise

/** Everything about an issue that is chosen from a menu, in the order in which it is shown. */
export function useProperties(issue: Issue): Property[] {
  const choose = useChoices(issue)
  const people = usePeople()
  const teams = useTeams()
  const projects = useQuery(projectsQuery).data?.map(({ id, title }) => ({ id, name: title }))
  const milestones = useQuery(milestonesQuery).data
  const cycles = useQuery(cyclesQuery).data
  const assignee = people.get(issue.assignee_id ?? '')
  const { due_date, time_estimate } = issue
  return [
    {
      id: 'status',
      label: 'Status',
      keys: 's',
      icon: <StatusIcon status={issue.status} />,
      value: statusLabel(issue.status),
      isEmpty: false,
      chip: true,
      change: choose.status,
    },
    {
      id: 'priority',
      label: 'Priority',
      keys: 'p',
      icon: <PriorityIcon priority={issue.priority} />,
      value: priorityLabel(issue.priority),
      isEmpty: issue.priority === 'no_priority',
      chip: true,
      change: choose.priority,
    },
    {
      id: 'type',
      label: 'Type',
      keys: 'shift+t',
      icon: <Mark icon={Shapes} />,
      value: typeLabel(issue.type),
      isEmpty: false,
      chip: false,
      change: choose.type,
    },
    {
      id: 'assignee',
      label: 'Assignee',
      keys: 'a',
      icon: assignee ? <Avatar name={assignee.display_name} size={16} /> : <Mark icon={UserRound} />,
      value: issue.assignee_id ? (assignee?.display_name ?? absent(people.size, 'Somebody who left')) : 'Nobody',
      isEmpty: !issue.assignee_id,
      chip: true,
      change: choose.assignee,
    },
    useDelegateProperty(issue),
    useLabelsProperty(issue, choose.labels),
    {
      id: 'project',
      label: 'Project',
      keys: 'shift+p',
      icon: <Mark icon={Folder} />,
      value: named(projects, issue.project_id, 'No project'),
      isEmpty: !issue.project_id,
      change: choose.project,
    },
    ...(issue.project_id
      ? [
          {
            id: 'milestone',
            label: 'Milestone',
            keys: 'shift+m',
            icon: <Mark icon={Flag} />,
            value: named(milestones, issue.milestone_id, 'No milestone'),
            isEmpty: !issue.milestone_id,
            change: choose.milestone,
          },
        ]
      : []),
    ...(issue.team_id
      ? [
          {
            id: 'cycle',
            label: 'Cycle',
            keys: 'shift+c',
            icon: <Mark icon={RefreshCw} />,
            value: named(cycles, issue.cycle_id, 'No cycle'),
            isEmpty: !issue.cycle_id,
            change: choose.cycle,
          },
        ]
      : []),
    {
      id: 'due',
      label: 'Due date',
      keys: 'shift+d',
      icon: <Mark icon={Calendar} />,
      value: due_date ? dayOf(due_date) : 'No due date',
      isEmpty: !due_date,
      change: choose.dueDate,
    },
    {
      id: 'estimate',
      label: 'Estimate',
      keys: 'shift+e',
      icon: <Mark icon={Hourglass} />,
      value: time_estimate === null ? 'No estimate' : hours(time_estimate),
      isEmpty: time_estimate === null,
      change: choose.estimate,
    },
    {
      id: 'team',
      label: 'Team',
      title: 'Move to team',
      chip: false,
      icon: <Mark icon={Users} />,
      value: named(teams, issue.team_id, 'No team'),
      isEmpty: !issue.team_id,
      change: choose.team,
    },
    {
      id: 'visibility',
      label: 'Seen by',
      chip: false,
      icon: <Mark icon={Lock} />,
      value: issue.personal ? 'Only you' : 'Everybody',
      isEmpty: !issue.personal,
      change: choose.visibility,
    },
  ]
}

function useDelegateProperty(issue: Issue): Property {
  const delegate = useDelegate()
  const underWay = useHandingOver(issue.id)
  const people = usePeople()
  const agent = people.get(issue.delegate_id ?? '')
  const session = useQuery(issueSessionsQuery(issue.id)).data?.find(
    ({ app_user_id }) => app_user_id === issue.delegate_id,
  )
  return {
    id: 'delegate',
    label: 'Delegate',
    keys: 'd',
    icon: agent ? (
      <Avatar name={agent.display_name} agent src={agent.avatar_url} size={16} />
    ) : (
      <Mark icon={CircleDashed} />
    ),
    value:
      underWay ??
      (issue.delegate_id
        ? (agent?.display_name ?? absent(people.size, session ? agentName(people, session) : 'An agent'))
        : 'No agent'),
    isEmpty: !issue.delegate_id,
    chip: true,
    hint: 'The assignee stays accountable.',
    change: (anchor) => delegate(anchor, [issue]),
  }
}

function useLabelsProperty(issue: Issue, change: (anchor: Element | null) => void): Property {
  const labels = (useQuery(labelsQuery).data ?? []).filter(({ id }) => issue.label_ids.includes(id))
  return {
    id: 'labels',
    label: 'Labels',
    keys: 'l',
    icon: null,
    value:
      labels.length === 0 ? (
        'No labels'
      ) : (
        <span className="flex flex-wrap gap-x-3 py-0.5">
          {labels.map(({ id, name, color }) => (
            <span key={id} className="inline-flex items-center gap-1.5">
              <LabelDot color={color} />
              {name}
            </span>
          ))}
        </span>
      ),
    isEmpty: labels.length === 0,
    change,
  }
}
