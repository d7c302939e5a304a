import type { Issue, IssueChange } from '@baton/protocol'
import type { ReactNode } from 'react'
import { cachedOrRead } from '../../data/api.ts'
import { useMe } from '../../data/me.ts'
import { cyclesQuery, milestonesQuery } from '../../data/planning.ts'
import { projectsQuery } from '../../data/projects.ts'
import { membersQuery, teamsQuery } from '../../data/workspaces.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { dayOf } from '../../ui/day.ts'
import { daysFor, hoursFor } from '../../ui/day-options.ts'
import { none, type Option, orNull, type Question, usePicker } from '../../ui/picker.tsx'
import { PriorityIcon, priorities, StatusIcon, statuses, types } from '../fields/words.tsx'
import { editIssues, toProject, toTeam } from './edit.ts'
import { labelOptions, matching, toggleLabel } from './label-choice.tsx'

/** Changes one field of an issue by the page's menu: at once, with a way back. */
export function useChoices(issue: Issue) {
  const ask = usePicker()
  const { user } = useMe()
  const set = (change: IssueChange, done: string) => void editIssues([issue.id], change, done)
  const question = (anchor: Element | null, about: Question) => ask(anchor, about)

  const one = (
    title: string,
    selected: string | null,
    options: (query: string) => Promise<Option[]>,
    change: (value: string | null) => IssueChange,
    done: string,
    footer?: ReactNode,
  ) => ({
    title,
    options,
    selected: [selected ?? none],
    footer,
    onPick: (value: string) => set(change(orNull(value)), done),
  })

  return {
    status: (anchor: Element | null) =>
      question(anchor, {
        title: 'Status',
        selected: [issue.status],
        options: statuses.map(({ value, label }) => ({ value, label, icon: <StatusIcon status={value} /> })),
        onPick: (value) => {
          const status = statuses.find((one) => one.value === value)
          if (status) set({ status: status.value }, `Moved to ${status.label}.`)
        },
      }),
    priority: (anchor: Element | null) =>
      question(anchor, {
        title: 'Priority',
        selected: [issue.priority],
        options: priorities.map(({ value, label }) => ({ value, label, icon: <PriorityIcon priority={value} /> })),
        onPick: (value) => {
          const priority = priorities.find((one) => one.value === value)
          if (priority) set({ priority: priority.value }, `Priority: ${priority.label}.`)
        },
      }),
    type: (anchor: Element | null) =>
      question(anchor, {
        title: 'Type',
        selected: [issue.type],
        options: types,
        onPick: (value) => {
          const type = types.find((one) => one.value === value)
          if (type) set({ type: type.value }, `Type: ${type.label}.`)
        },
      }),
    assignee: (anchor: Element | null) =>
      question(
        anchor,
        one(
          'Assignee',
          issue.assignee_id,
          async (query) => {
            const members = await cachedOrRead(membersQuery)
            const people = [...members].sort(
              (a, b) =>
                Number(b.id === user.id) - Number(a.id === user.id) || a.display_name.localeCompare(b.display_name),
            )
            return matching(
              [
                ...(issue.delegate_id ? [] : [{ value: none, label: 'Nobody' }]),
                ...people.map(({ id, display_name }) => ({
                  value: id,
                  label: display_name,
                  icon: <Avatar name={display_name} size={16} />,
                  ...(id === user.id && { hint: 'you' }),
                })),
              ],
              query,
            )
          },
          (assignee_id) => ({ assignee_id }),
          'Assignee changed.',
          issue.delegate_id ? 'While an agent works on it, somebody stays accountable.' : undefined,
        ),
      ),
    labels: (anchor: Element | null) =>
      question(anchor, {
        title: 'Labels',
        multiple: true,
        selected: issue.label_ids,
        options: labelOptions,
        empty: 'No labels yet. Type a name to create one.',
        onPick: (value) => void toggleLabel(issue.id, value),
      }),
    project: (anchor: Element | null) =>
      question(
        anchor,
        one(
          'Project',
          issue.project_id,
          async (query) => {
            const projects = await cachedOrRead(projectsQuery)
            const options = projects.map(({ id, title }) => ({ value: id, label: title }))
            return matching([{ value: none, label: 'No project' }, ...options], query)
          },
          (project_id) => toProject(issue, project_id),
          'Project changed.',
        ),
      ),
    milestone: (anchor: Element | null) =>
      question(
        anchor,
        one(
          'Milestone',
          issue.milestone_id,
          async (query) => {
            const milestones = await cachedOrRead(milestonesQuery)
            const options = milestones
              .filter(({ project_id }) => project_id === issue.project_id)
              .map(({ id, name }) => ({ value: id, label: name }))
            return matching([{ value: none, label: 'No milestone' }, ...options], query)
          },
          (milestone_id) => ({ milestone_id }),
          'Milestone changed.',
        ),
      ),
    cycle: (anchor: Element | null) =>
      question(
        anchor,
        one(
          'Cycle',
          issue.cycle_id,
          async (query) => {
            const cycles = await cachedOrRead(cyclesQuery)
            const options = cycles
              .filter(({ team_id }) => team_id === issue.team_id)
              .map(({ id, name, starts_at, ends_at }) => ({
                value: id,
                label: name,
                hint: starts_at && ends_at ? `${dayOf(starts_at)} – ${dayOf(ends_at)}` : undefined,
              }))
            return matching([{ value: none, label: 'No cycle' }, ...options], query)
          },
          (cycle_id) => ({ cycle_id }),
          'Cycle changed.',
        ),
      ),
    estimate: (anchor: Element | null) =>
      question(
        anchor,
        one(
          'Estimate in hours',
          issue.time_estimate === null ? null : String(issue.time_estimate),
          async (query) => hoursFor(query),
          (value) => ({ time_estimate: value === null ? null : Number(value) }),
          'Estimate changed.',
        ),
      ),
    dueDate: (anchor: Element | null) =>
      question(
        anchor,
        one(
          'Due date',
          issue.due_date,
          async (query) => daysFor(query, new Date()),
          (due_date) => ({ due_date }),
          'Due date changed.',
          'Or type a date, such as 2027-03-31.',
        ),
      ),
    team: (anchor: Element | null) =>
      question(anchor, {
        title: 'Move to team',
        selected: issue.team_id ? [issue.team_id] : [],
        options: async (query) => {
          const teams = await cachedOrRead(teamsQuery)
          return matching(
            teams.map(({ id, name, key }) => ({ value: id, label: name, hint: key })),
            query,
          )
        },
        footer: `It gets a new code in that team; ${issue.code} still finds it. An agent that does not reach the team loses it.`,
        onPick: (team_id, { label }) => {
          if (team_id !== issue.team_id) set(toTeam(issue, team_id), `Moved to ${label}.`)
        },
      }),
    visibility: (anchor: Element | null) =>
      question(anchor, {
        title: 'Who sees it',
        selected: [issue.personal ? 'personal' : 'shared'],
        options: [
          { value: 'shared', label: 'Everybody in the workspace' },
          {
            value: 'personal',
            label: 'Only you',
            unavailable: issue.reporter_id === user.id ? undefined : 'Only who reported it can make it personal',
          },
        ],
        footer: 'What only you see has no team, and agents lose it.',
        onPick: (value) => {
          const personal = value === 'personal'
          if (personal === issue.personal) return
          void editIssues(
            [issue.id],
            personal ? { personal, team_id: null, cycle_id: null } : { personal },
            'Changed who sees it.',
          )
        },
      }),
  }
}
