import type { IssueStatus, IssueType, Priority } from '@baton/protocol'
import {
  Bot,
  Box,
  Calendar,
  CalendarClock,
  CalendarPlus,
  CircleDashed,
  CircleUser,
  Flag,
  Hourglass,
  Lock,
  RefreshCw,
  Shapes,
  SignalHigh,
  Tag,
  UserPen,
  Users,
} from 'lucide-react'
import { inOrder, stateOfCycle } from '../../planning/cycle-state.ts'
import { dayOf, hours } from '../../ui/day.ts'
import { none, orNull } from '../../ui/picker.tsx'
import { dateFilter } from './date-filter.ts'
import type { Directory } from './directory.ts'
import { type IssueField, type IssueFilter, listHistory } from './issue-field.ts'
import { byLabel, labelList, mark, memberOptions, personOption, priorityOptions, teamList } from './options.tsx'
import { byPriority, priorities, StatusIcon, statuses, types } from './values.tsx'

// The fields of an issue. To add one, add its record here: see CONTRIBUTING.md.
// Heavy parts are imported when they are used, because the list of issues loads this file.

const valuesIn = (value: string | null) => (value === null ? [] : [value])

/** In a list, work in progress comes first; on a board, columns follow the workflow. */
const listOrder: IssueStatus[] = ['in_progress', 'qa', 'release', 'todo', 'backlog', 'done']

const records = {
  status: {
    key: 'status',
    label: 'Status',
    icon: CircleDashed,
    keys: 's',
    at: { panel: 1, form: 2, filter: 1, group: 1, bulk: 1 },
    action: 'Change status',
    chip: true,
    read: ({ status }) => [status],
    options: () => statuses.map(({ value, label }) => ({ value, label, icon: <StatusIcon status={value} /> })),
    change: (_, value) => ({ status: value as IssueStatus }),
    groupOrder: (board) => (board ? statuses.map(({ value }) => value) : listOrder),
    done: (issues, value) => `${issues} moved to ${value}`,
    history: ({ from, to }, name) => `moved it from ${name(from)} to ${name(to)}`,
  },
  priority: {
    key: 'priority',
    label: 'Priority',
    icon: SignalHigh,
    keys: 'p',
    at: { panel: 2, form: 3, filter: 2, group: 5, bulk: 2 },
    action: 'Change priority',
    chip: true,
    isEmpty: ({ priority }) => priority === 'no_priority',
    read: ({ priority }) => [priority],
    options: () => priorityOptions,
    change: (_, value) => ({ priority: value as Priority }),
    groupOrder: () => priorities.map(({ value }) => value).sort(byPriority),
    done: (issues, value) => `${issues}: ${value.toLowerCase()}${value === 'No priority' ? '' : ' priority'}`,
    history: ({ to }, name) => `set the priority to ${name(to)}`,
  },
  type: {
    key: 'type',
    label: 'Type',
    icon: Shapes,
    keys: 'shift+t',
    at: { panel: 3, form: 4, filter: 8 },
    chip: false,
    read: ({ type }) => [type],
    options: () => types,
    change: (_, value) => ({ type: value as IssueType }),
    history: ({ to }, name) => `changed the type to ${name(to).toLowerCase()}`,
  },
  assignee: {
    key: 'assignee_id',
    label: 'Assignee',
    icon: CircleUser,
    keys: 'a',
    at: { panel: 4, form: 5, filter: 3, group: 2, bulk: 3 },
    action: 'Assign to…',
    chip: true,
    none: 'No assignee',
    missing: 'a former member',
    nameOfMissing: (id, { nameOfPerson }) => nameOfPerson?.(id),
    read: ({ assignee_id }) => valuesIn(assignee_id),
    // A private issue is its reporter's, so My issues has it.
    filterRead: ({ assignee_id, personal, reporter_id }) => [
      ...(personal && reporter_id ? [reporter_id] : []),
      assignee_id ?? none,
    ],
    // A private issue can only be assigned to its owner, who is the only person to see it.
    options: (directory, subject) =>
      memberOptions(directory).filter(({ value }) => !subject?.personal || value === directory.me),
    clearable: ({ delegate_id }) => delegate_id === null,
    change: (_, value) => ({ assignee_id: orNull(value) }),
    footer: ({ delegate_id }) => delegate_id && 'A delegated issue needs an assignee.',
    // Only the author sees a private issue.
    form: { visible: ({ personal }) => !personal, clearable: () => true },
    done: (issues, value) => (value === 'No assignee' ? `${issues} unassigned` : `${issues} assigned to ${value}`),
    history: ({ from, to }, name) => (to ? `assigned it to ${name(to)}` : `unassigned ${name(from)}`),
  },
  delegate: {
    key: 'delegate_id',
    label: 'Delegate',
    filterLabel: 'Agent',
    icon: Bot,
    keys: 'd',
    at: { panel: 5, form: 6, filter: 4, group: 3, bulk: 5 },
    action: 'Delegate to an agent',
    chip: true,
    none: 'No agent',
    // Personal agents of other members are not listed.
    missing: 'an agent',
    delegates: true,
    read: ({ delegate_id }) => valuesIn(delegate_id),
    options: ({ people, me }) =>
      [...people.values()]
        .filter(({ user_kind }) => user_kind === 'application')
        .map((agent) => personOption(agent, me))
        .sort(byLabel),
    change: (_, value) => ({ delegate_id: orNull(value) }),
    form: {
      search: async (query, _, subject) =>
        (await import('../../delegation/agent-options.tsx')).agentsForDraft(query, subject),
    },
    history: ({ from, to }, name) => (to ? `delegated it to ${name(to)}` : `removed the delegation to ${name(from)}`),
  },
  label: {
    key: 'label_ids',
    label: 'Labels',
    filterLabel: 'Label',
    icon: Tag,
    keys: 'l',
    at: { panel: 6, form: 7, filter: 5, group: 6, bulk: 4 },
    action: 'Labels',
    none: 'No label',
    missing: 'a deleted label',
    noMatch: 'No labels yet. Type a name to create one.',
    read: ({ label_ids }) => label_ids,
    options: labelList,
    search: async (query) => (await import('./label-options.tsx')).labelOptions(query),
    resolve: async (picked) => (await import('./label-options.tsx')).createLabel(picked),
    change: ({ label_ids }, value, from) => ({
      label_ids: [...new Set([...label_ids.filter((id) => id !== from), ...(orNull(value) ? [value] : [])])],
    }),
    remove: ({ label_ids }, value) => ({ label_ids: label_ids.filter((id) => id !== value) }),
    history: listHistory('added the label', 'removed the label'),
  },
  project: {
    key: 'project_id',
    label: 'Project',
    icon: Box,
    keys: 'shift+p',
    at: { panel: 7, form: 8, filter: 6, group: 4, bulk: 6 },
    action: 'Add to project…',
    none: 'No project',
    missing: 'a project',
    read: ({ project_id }) => valuesIn(project_id),
    options: ({ projects }) =>
      [...projects.values()].map(({ id, title }) => ({ value: id, label: title, icon: mark(Box) })).sort(byLabel),
    // The server clears the milestone of another project. The change includes it, so that Undo restores it.
    change: ({ project_id }, value) =>
      orNull(value) === project_id ? { project_id } : { project_id: orNull(value), milestone_id: null },
    history: ({ from, to }, name) => (to ? `added it to ${name(to)}` : `removed it from ${name(from)}`),
  },
  milestone: {
    key: 'milestone_id',
    label: 'Milestone',
    icon: Flag,
    keys: 'shift+m',
    at: { panel: 8 },
    none: 'No milestone',
    missing: 'a deleted milestone',
    visible: ({ project_id }) => project_id !== null,
    read: ({ milestone_id }) => valuesIn(milestone_id),
    options: ({ milestones }, subject) =>
      [...milestones.values()]
        .filter(({ project_id }) => !subject || project_id === subject.project_id)
        .map(({ id, name }) => ({ value: id, label: name })),
    change: (_, value) => ({ milestone_id: orNull(value) }),
    history: ({ to }, name) => (to ? `set the milestone ${name(to)}` : 'removed the milestone'),
  },
  cycle: {
    key: 'cycle_id',
    label: 'Cycle',
    icon: RefreshCw,
    keys: 'shift+c',
    at: { panel: 9, form: 9, filter: 7, group: 7 },
    none: 'No cycle',
    missing: 'a cycle',
    visible: ({ team_id }) => team_id !== null,
    read: ({ cycle_id }) => valuesIn(cycle_id),
    options: ({ cycles, teams }, subject) =>
      inOrder([...cycles.values()])
        .filter(({ team_id }) => !subject || team_id === subject.team_id)
        .map((cycle) => {
          const { id, name, team_id, starts_at, ends_at } = cycle
          const ended = ends_at && stateOfCycle(cycle) === 'closed' && `Ended ${dayOf(ends_at)}`
          const dates = starts_at && ends_at && `${dayOf(starts_at)} – ${dayOf(ends_at)}`
          const details = subject ? [ended || dates] : [teams.get(team_id)?.name, ended]
          return { value: id, label: name, icon: mark(RefreshCw), hint: details.filter(Boolean).join(' · ') }
        }),
    change: (_, value) => ({ cycle_id: orNull(value) }),
    form: { visible: ({ team_id }, { cycles }) => [...cycles.values()].some((cycle) => cycle.team_id === team_id) },
    history: ({ to }, name) => (to ? `added it to ${name(to)}` : 'removed it from its cycle'),
  },
  due: {
    key: 'due_date',
    label: 'Due date',
    icon: Calendar,
    keys: 'shift+d',
    at: { panel: 10, form: 10, filter: 10 },
    none: 'No due date',
    labelOf: (moment) => dayOf(moment),
    conditions: dateFilter('ahead', ({ due_date }) => due_date),
    read: ({ due_date }) => valuesIn(due_date),
    options: () => [],
    search: async (query) => (await import('../../ui/day-options.ts')).daysFor(query, new Date()),
    change: (_, value) => ({ due_date: orNull(value) }),
    calendar: true,
    done: (issues, value) => (value === 'No due date' ? `${issues}: no due date` : `${issues} due ${value}`),
    history: ({ to }, name) => (to ? `set the due date to ${name(to)}` : 'removed the due date'),
  },
  estimate: {
    key: 'time_estimate',
    label: 'Estimate',
    menuTitle: 'Estimate in hours',
    icon: Hourglass,
    keys: 'shift+e',
    at: { panel: 11 },
    none: 'No estimate',
    labelOf: (count) => hours(Number(count)),
    read: ({ time_estimate }) => valuesIn(time_estimate === null ? null : String(time_estimate)),
    options: () => [],
    search: async (query) => (await import('../../ui/day-options.ts')).hoursFor(query),
    change: (_, value) => ({ time_estimate: orNull(value) === null ? null : Number(value) }),
    history: ({ to }) => (to === null ? 'removed the estimate' : `estimated ${to} h`),
  },
  team: {
    key: 'team_id',
    label: 'Team',
    menuTitle: 'Move to team',
    icon: Users,
    at: { panel: 12, form: 1, filter: 9 },
    chip: false,
    none: 'No team',
    missing: 'a deleted team',
    clearable: () => false,
    read: ({ team_id }) => valuesIn(team_id),
    options: teamList,
    toUrl: (id, { teams }) => teams.get(id)?.key ?? id,
    fromUrl: (key, { teams }) => [...teams.values()].find((team) => team.key === key)?.id ?? key,
    // The server clears the cycle of another team. The change includes it, so that Undo restores it.
    change: ({ team_id }, value) =>
      value === team_id ? { team_id } : { team_id: value, personal: false, cycle_id: null },
    footer: ({ code }) =>
      `It gets a new ID in that team; ${code} keeps working. Agents without access to the team stop.`,
    form: {
      read: ({ personal, team_id }) => (personal ? ['private'] : valuesIn(team_id)),
      options: (directory) => [...teamList(directory), { value: 'private', label: 'Private', icon: mark(Lock) }],
      change: (_, value) =>
        value === 'private'
          ? { personal: true, delegate_id: null, assignee_id: null, cycle_id: null }
          : { personal: false, team_id: value, delegate_id: null, cycle_id: null },
    },
    done: (issues, value) => `${issues} moved to ${value}`,
    history: ({ to }, name) => (to ? `moved it to the team ${name(to)}` : 'removed it from its team'),
  },
  visibility: {
    key: 'personal',
    label: 'Visibility',
    icon: Lock,
    at: { panel: 13 },
    chip: false,
    isEmpty: ({ personal }) => !personal,
    read: ({ personal }) => [personal ? 'private' : 'workspace'],
    options: ({ me }, subject) => [
      { value: 'workspace', label: 'Workspace' },
      {
        value: 'private',
        label: 'Private',
        ...(subject && subject.reporter_id !== me && { unavailable: 'Only the reporter can make it private.' }),
      },
    ],
    change: (_, value) =>
      value === 'private' ? { personal: true, team_id: null, cycle_id: null } : { personal: false },
    footer: () => 'Private issues have no team. Only your personal agents can work on them.',
    history: ({ to }) => (to ? 'made it private' : 'shared it with the workspace'),
  },
} satisfies Record<string, Omit<IssueField, 'id'>>

export type FieldId = keyof typeof records
type Place = keyof IssueField['at']

const ids = Object.keys(records) as FieldId[]
export const fields = Object.fromEntries(ids.map((id) => [id, { id, ...records[id] }])) as Record<
  FieldId,
  IssueField & { id: FieldId }
>

/** The fields that appear in a place, in their order there. */
export const fieldsIn = (place: Place) =>
  Object.values(fields)
    .filter(({ at }) => at[place] !== undefined)
    .sort((a, b) => (a.at[place] ?? 0) - (b.at[place] ?? 0))

/** Filters by values that are not fields of a form. */
const filterOnly = {
  reporter: {
    label: 'Reporter',
    icon: UserPen,
    missing: 'a former member',
    nameOfMissing: (id, { nameOfPerson }) => nameOfPerson?.(id),
    read: ({ reporter_id }) => valuesIn(reporter_id),
    options: ({ people, me }) => [...people.values()].map((person) => personOption(person, me)).sort(byLabel),
  },
  created: {
    label: 'Created',
    icon: CalendarPlus,
    read: ({ created_at }) => [created_at],
    options: () => [],
    conditions: dateFilter('past', ({ created_at }) => created_at),
  },
  updated: {
    label: 'Updated',
    icon: CalendarClock,
    read: ({ updated_at }) => [updated_at],
    options: () => [],
    conditions: dateFilter('past', ({ updated_at }) => updated_at),
  },
} satisfies Record<string, Omit<IssueFilter, 'id'>>

export type FilterId = FieldId | keyof typeof filterOnly

export const filterFields: (IssueFilter & { id: FilterId })[] = [
  ...fieldsIn('filter'),
  ...(Object.keys(filterOnly) as (keyof typeof filterOnly)[]).map((id) => ({ id, ...filterOnly[id] })),
]
export const groupFields = fieldsIn('group')

/** The label of a field in filters and groupings. */
export const filterLabel = ({ label, filterLabel = label }: IssueFilter) => filterLabel

/** The id of a value from the URL. */
export const idFromUrl = (field: Pick<IssueFilter, 'fromUrl'>, value: string, directory: Directory) =>
  value === 'me' ? directory.me : (field.fromUrl?.(value, directory) ?? value)
