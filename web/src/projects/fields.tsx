import type { Project, ProjectChange } from '@baton/protocol'
import {
  CalendarCheck,
  CalendarClock,
  CircleDot,
  Crown,
  HeartPulse,
  Lock,
  SignalHigh,
  Tag,
  Target,
  UserRound,
  Users,
  UsersRound,
} from 'lucide-react'
import { api, queries } from '../data/api.ts'
import { initiativesQuery } from '../data/planning.ts'
import type { Directory } from '../issues/fields/directory.ts'
import type { Field } from '../issues/fields/field.tsx'
import { createIfNew, createLabel, labelOptions, orCreate } from '../issues/fields/label-options.tsx'
import { labelList, memberOptions, priorityOptions, teamList } from '../issues/fields/options.tsx'
import { dayOf } from '../ui/day.ts'
import { daysFor } from '../ui/day-options.ts'
import { type Option, orNull } from '../ui/picker.tsx'
import { HealthDot, healths, ProjectStatusIcon, projectStatuses } from './values.tsx'

// The fields of a project in the order of the panel. To add one, add its record here: see CONTRIBUTING.md.

export interface ProjectField extends Field<Project, ProjectChange> {
  /** Its shortcut also works in the list of projects. */
  inList?: true
  /** Shows several people by their pictures. */
  faces?: true
  /** Changed after a confirmation, which the page shows. */
  confirms?: true
}

type FieldRecord = Omit<ProjectField, 'id'>

const valuesIn = (value: string | null) => (value === null ? [] : [value])

const person = (key: 'lead_id' | 'owner_id', about: Pick<FieldRecord, 'label' | 'icon' | 'keys' | 'inList' | 'chip'>) =>
  ({
    ...about,
    key,
    none: `No ${about.label.toLowerCase()}`,
    missing: 'a former member',
    read: (project) => valuesIn(project[key]),
    options: memberOptions,
    change: (_, value) => ({ [key]: orNull(value) }),
  }) satisfies FieldRecord

const day = (key: 'start_date' | 'target_date', about: Pick<FieldRecord, 'label' | 'icon' | 'keys'>) => {
  const none = `No ${about.label.toLowerCase()}`
  return {
    ...about,
    key,
    none,
    labelOf: (moment) => dayOf(moment),
    read: (project) => valuesIn(project[key]),
    options: () => [],
    search: async (query) => daysFor(query, new Date(), none),
    change: (_, value) => ({ [key]: orNull(value) }),
    calendar: true,
  } satisfies FieldRecord
}

/** A list of ids. */
const several = (key: 'member_ids' | 'team_ids' | 'label_ids') =>
  ({
    key,
    read: (project) => project[key],
    change: (project, value) => ({ [key]: [...new Set([...project[key], value])] }),
    remove: (project, value) => ({ [key]: project[key].filter((id) => id !== value) }),
  }) satisfies Partial<FieldRecord>

const records = {
  status: {
    key: 'status',
    label: 'Status',
    icon: CircleDot,
    keys: 's',
    inList: true,
    read: ({ status }) => [status],
    options: () =>
      projectStatuses.map(({ value, label }) => ({ value, label, icon: <ProjectStatusIcon status={value} /> })),
    change: (_, value) => ({ status: value as Project['status'] }),
  },
  health: {
    key: 'health_status',
    label: 'Health',
    icon: HeartPulse,
    keys: 'h',
    inList: true,
    chip: true,
    none: 'No health',
    read: ({ health_status }) => valuesIn(health_status),
    options: () => healths.map(({ value, label }) => ({ value, label, icon: <HealthDot health={value} /> })),
    change: (_, value) => ({ health_status: orNull(value) as Project['health_status'] }),
  },
  priority: {
    key: 'priority',
    label: 'Priority',
    icon: SignalHigh,
    keys: 'p',
    inList: true,
    isEmpty: ({ priority }) => priority === 'no_priority',
    read: ({ priority }) => [priority],
    options: () => priorityOptions,
    change: (_, value) => ({ priority: value as Project['priority'] }),
  },
  lead: person('lead_id', { label: 'Lead', icon: UserRound, keys: 'a', inList: true }),
  owner: person('owner_id', { label: 'Owner', icon: Crown, chip: false }),
  members: {
    ...several('member_ids'),
    label: 'Members',
    icon: UsersRound,
    keys: 'shift+m',
    chip: false,
    faces: true,
    options: memberOptions,
  },
  teams: { ...several('team_ids'), label: 'Teams', icon: Users, keys: 't', options: teamList },
  labels: {
    ...several('label_ids'),
    label: 'Labels',
    icon: Tag,
    keys: 'l',
    options: labelList,
    search: labelOptions,
    resolve: createLabel,
  },
  initiative: {
    key: 'initiative_id',
    label: 'Initiative',
    icon: Target,
    keys: 'i',
    none: 'No initiative',
    missing: 'a deleted initiative',
    read: ({ initiative_id }) => valuesIn(initiative_id),
    options: initiativeList,
    search: async (query, directory) => {
      const options = initiativeList(directory.complete ? directory : await directory.load())
      return orCreate([{ value: 'none', label: 'No initiative' }, ...options], 'initiative', query)
    },
    resolve: (picked) => createIfNew(picked, createInitiative),
    change: (_, value) => ({ initiative_id: orNull(value) }),
    footer: () => 'Type a name to create one.',
  },
  start: day('start_date', { label: 'Start date', icon: CalendarClock, keys: 'shift+s' }),
  target: day('target_date', { label: 'Target date', icon: CalendarCheck, keys: 'shift+d' }),
  visibility: {
    key: 'personal',
    label: 'Visibility',
    icon: Lock,
    confirms: true,
    isEmpty: ({ personal }) => !personal,
    read: ({ personal }) => [personal ? 'private' : 'workspace'],
    options: ({ me }, project) => [
      { value: 'workspace', label: 'Workspace', icon: <Users size={14} aria-hidden className="text-ink-3" /> },
      {
        value: 'private',
        label: 'Private',
        icon: <Lock size={14} aria-hidden className="text-ink-3" />,
        ...(project && project.owner_id !== me && { unavailable: 'Only the owner can make a project private.' }),
      },
    ],
    change: (_, value) => ({ personal: value === 'private' }),
  },
} satisfies Record<string, FieldRecord>

function initiativeList({ initiatives }: Directory): Option[] {
  const icon = <Target size={14} aria-hidden className="text-ink-3" />
  return [...initiatives.values()]
    .map(({ id, name }) => ({ value: id, label: name, icon }))
    .sort((a, b) => a.label.localeCompare(b.label))
}

async function createInitiative(name: string) {
  const initiative = await api.createInitiative({ name })
  queries.setQueryData(initiativesQuery.queryKey, (before) => before && [...before, initiative])
  return initiative
}

export type ProjectFieldId = keyof typeof records
const ids = Object.keys(records) as ProjectFieldId[]
export const projectFields = Object.fromEntries(ids.map((id) => [id, { id, ...records[id] }])) as Record<
  ProjectFieldId,
  ProjectField
>
