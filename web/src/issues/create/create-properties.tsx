import { useQuery } from '@tanstack/react-query'
import { Bot, Box, CircleUser, Lock, RefreshCw, Shapes, Tag, Users } from 'lucide-react'
import type { ReactNode } from 'react'
import { readAll } from '../../data/api.ts'
import { kindHint, reasonWords, sharedOnly } from '../../delegation/available-agents.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { cx } from '../../ui/class-names.ts'
import { none, type Option, orNull, usePicker } from '../../ui/picker.tsx'
import type { Known } from '../fields/known.tsx'
import { PriorityIcon, priorityLabel, StatusIcon, statusLabel, typeLabel } from '../fields/words.tsx'
import type { Draft } from './draft.ts'

interface Props {
  draft: Draft
  change: (fields: Partial<Draft>) => void
  known: Known
  problems: Record<string, string>
}

const pill =
  'inline-flex h-7 max-w-56 items-center gap-1.5 rounded border px-2 text-xs hover:bg-hover aria-invalid:border-bad'
const quiet = (Icon: typeof Box) => <Icon size={13} aria-hidden className="shrink-0 text-ink-3" />

/** Everything about a new issue but its words; each opens the menu of the page. */
export function CreateProperties({ draft, change, known, problems }: Props) {
  const ask = usePicker()
  const agents = useAgentsFor(draft)
  const team = known.teams.find(({ id }) => id === draft.team_id)
  const property = (about: {
    name: string
    field: keyof Draft
    icon: ReactNode
    value: string | null
    options: Option[]
    selected?: string[]
    multiple?: boolean
    pick: (value: string) => void
  }) => (
    <button
      key={about.field}
      type="button"
      aria-label={`${about.name}: ${about.value ?? 'none'}`}
      aria-invalid={problems[about.field] ? true : undefined}
      onClick={({ currentTarget }) =>
        ask(currentTarget, {
          title: about.name,
          options: about.options,
          selected: about.selected ?? [],
          ...(about.multiple && { multiple: true }),
          onPick: about.pick,
        })
      }
      className={cx(pill, about.value ? 'text-ink' : 'text-ink-3')}
    >
      {about.icon}
      <span className="truncate">{about.value ?? about.name}</span>
    </button>
  )
  const personName = (id: string | null) => (id ? (known.people.get(id)?.display_name ?? 'Somebody') : null)
  let labels = draft.label_ids
  const toggleLabel = (id: string) => {
    labels = labels.includes(id) ? labels.filter((one) => one !== id) : [...labels, id]
    change({ label_ids: labels })
  }
  const labelNames = draft.label_ids.map((id) => known.nameOf('label', id))
  const cycles = known.options.cycle.filter(
    ({ value }) => value === none || known.cycles.get(value)?.team_id === draft.team_id,
  )
  const agent = agents.find(({ value }) => value === draft.delegate_id)
  return (
    <div className="space-y-1.5">
      <div className="flex flex-wrap gap-1.5">
        {property({
          name: 'Team',
          field: 'team_id',
          icon: quiet(draft.personal ? Lock : Users),
          value: draft.personal ? 'Only for me' : (team?.name ?? null),
          options: [
            ...known.teams.map(({ id, name, key }) => ({ value: id, label: name, hint: key })),
            { value: none, label: 'Only for me', hint: 'personal', icon: quiet(Lock) },
          ],
          selected: [draft.personal ? none : (draft.team_id ?? none)],
          pick: (value) =>
            value === none
              ? change({ personal: true, delegate_id: null, assignee_id: null, cycle_id: null })
              : change({ personal: false, team_id: value, delegate_id: null, cycle_id: null }),
        })}
        {property({
          name: 'Status',
          field: 'status',
          icon: <StatusIcon status={draft.status} />,
          value: statusLabel(draft.status),
          options: known.options.status,
          selected: [draft.status],
          pick: (value) => change({ status: value as Draft['status'] }),
        })}
        {property({
          name: 'Priority',
          field: 'priority',
          icon: <PriorityIcon priority={draft.priority} />,
          value: priorityLabel(draft.priority),
          options: known.options.priority,
          selected: [draft.priority],
          pick: (value) => change({ priority: value as Draft['priority'] }),
        })}
        {property({
          name: 'Type',
          field: 'type',
          icon: quiet(Shapes),
          value: typeLabel(draft.type),
          options: known.options.type,
          selected: [draft.type],
          pick: (value) => change({ type: value as Draft['type'] }),
        })}
        {!draft.personal &&
          property({
            name: 'Assignee',
            field: 'assignee_id',
            icon: draft.assignee_id ? (
              <Avatar name={personName(draft.assignee_id) ?? ''} size={16} />
            ) : (
              quiet(CircleUser)
            ),
            value: personName(draft.assignee_id),
            options: known.options.assignee,
            selected: [draft.assignee_id ?? none],
            pick: (value) => change({ assignee_id: orNull(value) }),
          })}
        {property({
          name: 'Delegate',
          field: 'delegate_id',
          icon: agent?.icon ?? quiet(Bot),
          value: agent?.label ?? null,
          options: [{ value: none, label: 'No agent', icon: quiet(Bot) }, ...agents],
          selected: [draft.delegate_id ?? none],
          pick: (value) => change({ delegate_id: orNull(value) }),
        })}
        {property({
          name: 'Labels',
          field: 'label_ids',
          icon: quiet(Tag),
          value: labelNames.length > 2 ? `${labelNames.length} labels` : labelNames.join(', ') || null,
          options: known.options.label.filter(({ value }) => value !== none),
          selected: draft.label_ids,
          multiple: true,
          pick: toggleLabel,
        })}
        {property({
          name: 'Project',
          field: 'project_id',
          icon: quiet(Box),
          value: draft.project_id ? known.nameOf('project', draft.project_id) : null,
          options: known.options.project,
          selected: [draft.project_id ?? none],
          pick: (value) => change({ project_id: orNull(value) }),
        })}
        {cycles.length > 1 &&
          property({
            name: 'Cycle',
            field: 'cycle_id',
            icon: quiet(RefreshCw),
            value: draft.cycle_id ? known.nameOf('cycle', draft.cycle_id) : null,
            options: cycles,
            selected: [draft.cycle_id ?? none],
            pick: (value) => change({ cycle_id: orNull(value) }),
          })}
        <label className={cx(pill, draft.due ? 'text-ink' : 'text-ink-3')}>
          Due
          <input
            type="date"
            value={draft.due}
            onChange={(event) => change({ due: event.target.value })}
            className="bg-transparent outline-none"
          />
        </label>
      </div>
      {Object.entries(names).map(([field, name]) =>
        problems[field] ? (
          <p key={field} role="alert" className="text-xs text-bad-ink">
            {name}: {problems[field]}
          </p>
        ) : null,
      )}
    </div>
  )
}

const names: Record<string, string> = {
  description: 'Description',
  team_id: 'Team',
  status: 'Status',
  priority: 'Priority',
  type: 'Type',
  assignee_id: 'Assignee',
  delegate_id: 'Delegate',
  label_ids: 'Labels',
  project_id: 'Project',
  cycle_id: 'Cycle',
  due_date: 'Due',
}

/** Agents that a new issue there could be handed to; those that it could not, with why. */
function useAgentsFor({ personal, team_id }: Draft): Option[] {
  const teamId = personal ? null : team_id
  const { data = [] } = useQuery({
    queryKey: ['agents', 'team', teamId],
    queryFn: () =>
      readAll('listAgents', { ...(teamId && { team_id: teamId }), include_apps: true, include_deployment: true }),
  })
  return data.map((agent) => ({
    value: agent.id,
    label: agent.display_name,
    icon: <Avatar name={agent.display_name} src={agent.avatar_url} agent size={16} />,
    unavailable: personal && agent.agent_kind !== 'personal' ? sharedOnly : reasonWords(agent),
    hint: kindHint(agent),
  }))
}
