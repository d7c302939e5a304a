import type { Project, ProjectChange } from '@baton/protocol'
import { Plus, Target } from 'lucide-react'
import { api, cachedOrRead, queries } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { initiativesQuery } from '../data/planning.ts'
import { membersQuery, teamsQuery } from '../data/workspaces.ts'
import { labelId, labelOptions, matching } from '../issues/edit/label-choice.tsx'
import { PriorityIcon, priorities } from '../issues/fields/words.tsx'
import { Avatar } from '../ui/avatar.tsx'
import { dayOf } from '../ui/day.ts'
import { daysFor } from '../ui/day-options.ts'
import { none, type Option, orNull, type Question, usePicker } from '../ui/picker.tsx'
import { showError } from '../ui/toast.tsx'
import { editProject, knownProject } from './edit.ts'
import { HealthDot, healths, ProjectStatusIcon, projectStatuses } from './words.tsx'

type Anchor = Element | null

/** Changes one field of a project by the page's menu: at once, with a way back. */
export function useChooseProject() {
  const ask = usePicker()
  const { user } = useMe()
  const people = async (query: string, nobody?: string) => {
    const members = await cachedOrRead(membersQuery)
    const options = [...members]
      .sort((a, b) => Number(b.id === user.id) - Number(a.id === user.id) || byName(a.display_name, b.display_name))
      .map(({ id, display_name }) => ({
        value: id,
        label: display_name,
        icon: <Avatar name={display_name} size={16} />,
        ...(id === user.id && { hint: 'you' }),
      }))
    return matching(nobody ? [{ value: none, label: nobody }, ...options] : options, query)
  }
  const person = (field: 'owner_id' | 'lead_id', title: string, nobody: string) => (anchor: Anchor, project: Project) =>
    ask(anchor, {
      title,
      selected: [project[field] ?? none],
      options: (query) => people(query, nobody),
      onPick: (value, { label }) => void editProject(project.id, { [field]: orNull(value) }, `${title}: ${label}.`),
    })
  const day = (field: 'start_date' | 'target_date', title: string) => (anchor: Anchor, project: Project) =>
    ask(anchor, {
      title,
      selected: [project[field] ?? none],
      options: async (query) => daysFor(query, new Date(), `No ${title.toLowerCase()}`),
      footer: 'Or type a day, such as 2026-12-24.',
      onPick: (value) =>
        void editProject(
          project.id,
          { [field]: orNull(value) },
          value === none ? `No ${title.toLowerCase()} any more.` : `${title}: ${dayOf(value)}.`,
        ),
    })
  return {
    status: (anchor: Anchor, project: Project) => ask(anchor, statusQuestion(project)),
    health: (anchor: Anchor, project: Project) => ask(anchor, healthQuestion(project)),
    priority: (anchor: Anchor, project: Project) => ask(anchor, priorityQuestion(project)),
    owner: person('owner_id', 'Owner', 'Nobody'),
    lead: person('lead_id', 'Lead', 'Nobody'),
    members: (anchor: Anchor, project: Project) =>
      ask(
        anchor,
        several(project, 'member_ids', 'Members', (query) => people(query)),
      ),
    teams: (anchor: Anchor, project: Project) => ask(anchor, several(project, 'team_ids', 'Teams', teamOptions)),
    labels: (anchor: Anchor, project: Project) =>
      ask(anchor, several(project, 'label_ids', 'Labels', labelOptions, labelId)),
    initiative: (anchor: Anchor, project: Project) => ask(anchor, initiativeQuestion(project)),
    start: day('start_date', 'Start date'),
    target: day('target_date', 'Target date'),
  }
}

const byName = (a: string, b: string) => a.localeCompare(b)

const statusQuestion = (project: Project): Question => ({
  title: 'Status',
  selected: [project.status],
  options: projectStatuses.map(({ value, label }) => ({ value, label, icon: <ProjectStatusIcon status={value} /> })),
  onPick: (value) => {
    const status = projectStatuses.find((one) => one.value === value)
    if (status) void editProject(project.id, { status: status.value }, `Status: ${status.label}.`)
  },
})

const healthQuestion = (project: Project): Question => ({
  title: 'Health',
  selected: [project.health_status ?? none],
  options: [
    ...healths.map(({ value, label }) => ({ value, label, icon: <HealthDot health={value} /> })),
    { value: none, label: 'No health', icon: <HealthDot health={null} /> },
  ],
  onPick: (value, { label }) => {
    const health_status = healths.find((one) => one.value === value)?.value ?? null
    void editProject(project.id, { health_status }, `Health: ${label}.`)
  },
})

const priorityQuestion = (project: Project): Question => ({
  title: 'Priority',
  selected: [project.priority],
  options: priorities.map(({ value, label }) => ({ value, label, icon: <PriorityIcon priority={value} /> })),
  onPick: (value) => {
    const priority = priorities.find((one) => one.value === value)
    if (priority) void editProject(project.id, { priority: priority.value }, `Priority: ${priority.label}.`)
  },
})

/** A list of ids, each put in or taken out by picking it. */
function several(
  project: Project,
  field: 'member_ids' | 'team_ids' | 'label_ids',
  title: string,
  options: (query: string) => Promise<Option[]>,
  idOf: (picked: string) => string | Promise<string> = (picked) => picked,
): Question {
  const toggle = async (picked: string) => {
    try {
      const id = await idOf(picked)
      const now = knownProject(project.id)?.[field] ?? []
      const next: ProjectChange = { [field]: now.includes(id) ? now.filter((one) => one !== id) : [...now, id] }
      await editProject(project.id, next, `${title} changed.`)
    } catch (error) {
      showError(error)
    }
  }
  return { title, multiple: true, selected: project[field], options, onPick: (value) => void toggle(value) }
}

async function teamOptions(query: string): Promise<Option[]> {
  const teams = await cachedOrRead(teamsQuery)
  return matching(
    teams.map(({ id, name, key }) => ({ value: id, label: name, hint: key })),
    query,
  )
}

const initiativeQuestion = (project: Project): Question => ({
  title: 'Initiative',
  selected: [project.initiative_id ?? none],
  options: initiativeOptions,
  footer: 'Type a name to create one.',
  onPick: async (value) => {
    try {
      const initiative_id = value.startsWith('new ') ? await createInitiative(value.slice(4)) : orNull(value)
      await editProject(
        project.id,
        { initiative_id },
        initiative_id ? 'Initiative changed.' : 'No initiative any more.',
      )
    } catch (error) {
      showError(error)
    }
  },
})

async function initiativeOptions(query: string): Promise<Option[]> {
  const initiatives = await cachedOrRead(initiativesQuery)
  const icon = <Target size={14} aria-hidden className="text-ink-3" />
  const options = [...initiatives]
    .sort((a, b) => byName(a.name, b.name))
    .map(({ id, name }) => ({ value: id, label: name, icon }))
  const name = query.trim()
  const isNew = name && !initiatives.some((one) => one.name.toLowerCase() === name.toLowerCase())
  return [
    ...matching([{ value: none, label: 'No initiative' }, ...options], query),
    ...(isNew
      ? [{ value: `new ${name}`, label: `Create initiative “${name}”`, icon: <Plus size={14} aria-hidden /> }]
      : []),
  ]
}

async function createInitiative(name: string): Promise<string> {
  const initiative = await api.createInitiative({ name })
  queries.setQueryData(initiativesQuery.queryKey, (known) => known && [...known, initiative])
  return initiative.id
}
