import type { AutomationAction } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useAgents } from '../data/agents.ts'
import { labelsQuery } from '../data/planning.ts'
import { projectsQuery } from '../data/projects.ts'
import { templatesQuery } from '../data/templates.ts'
import { usePeople } from '../data/workspaces.ts'
import { priorities, statuses, types } from '../issues/fields/values.tsx'
import { Button } from '../ui/button.tsx'
import { Checkbox, Field, Input, Select, Textarea } from '../ui/field.tsx'
import { usePicker } from '../ui/picker.tsx'
import { sentence } from '../ui/sentence.ts'
import { placeholderHint } from './places.ts'

type Of<Type extends AutomationAction['type']> = Extract<AutomationAction, { type: Type }>

interface Props<Action = AutomationAction> {
  action: Action
  teamId: string
  /** Whether there is an issue that texts can name and whose people can be notified. */
  withIssue: boolean
  onChange: (action: Action) => void
  errorOf: (field: string) => string | undefined
}

/** The fields of one action. */
export function ActionFields({ action, ...rest }: Props) {
  switch (action.type) {
    case 'create_issue':
      return <CreateIssue action={action} {...rest} />
    case 'set_fields':
      return <SetFields action={action} {...rest} />
    case 'delegate':
      return <AgentField action={action} {...rest} />
    case 'ask_agent':
      return (
        <div className="space-y-3">
          <AgentField action={action} {...rest} />
          <TextField label="Question" action={action} {...rest} />
        </div>
      )
    case 'comment':
      return <TextField label="Comment" action={action} {...rest} />
    case 'notify':
      return <Notify action={action} {...rest} />
  }
}

function TextField({
  label,
  action,
  withIssue,
  onChange,
  errorOf,
}: Props<Of<'comment'> | Of<'ask_agent'>> & { label: string }) {
  return (
    <Field label={label} hint={placeholderHint(withIssue)} error={sentence(errorOf('text'))}>
      <Textarea value={action.text} onChange={({ target }) => onChange({ ...action, text: target.value })} />
    </Field>
  )
}

function AgentField({ action, onChange, errorOf }: Props<Of<'delegate'> | Of<'ask_agent'>>) {
  const agents = useAgents()
  return (
    <Field label="Agent" error={sentence(errorOf('agent_id'))}>
      <Select
        className="w-64 max-w-full"
        value={action.agent_id}
        onChange={({ target }) => onChange({ ...action, agent_id: target.value })}
      >
        <option value="">Choose an agent</option>
        {[...agents].map(([id, { display_name }]) => (
          <option key={id} value={id}>
            {display_name}
          </option>
        ))}
      </Select>
    </Field>
  )
}

interface ChoiceProps {
  label: string
  value: string | null | undefined
  unset: string
  options: readonly { value: string; label: string }[]
  onChange: (value: string | undefined) => void
  error?: string | undefined
}

const Choice = ({ label, value, unset, options, onChange, error }: ChoiceProps) => (
  <Field label={label} error={sentence(error)}>
    <Select value={value ?? ''} onChange={({ target }) => onChange(target.value || undefined)}>
      <option value="">{unset}</option>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </Select>
  </Field>
)

/** Sets a field, or removes it where the value is undefined. */
function withField<Action extends AutomationAction>(action: Action, field: string, value: unknown): Action {
  const { [field as keyof Action]: _, ...rest } = action
  return (value === undefined ? rest : { ...rest, [field]: value }) as Action
}

function Placed({
  action,
  onChange,
  errorOf,
  unset,
}: Props<Of<'create_issue'> | Of<'set_fields'>> & { unset: string }) {
  const people = usePeople()
  const projects = useQuery(projectsQuery).data ?? []
  const set = (field: string) => (value: unknown) => onChange(withField(action, field, value))
  const persons = [...people].map(([value, { display_name }]) => ({ value, label: display_name }))
  const shared = projects.filter(({ personal }) => !personal).map(({ id, title }) => ({ value: id, label: title }))
  return (
    <>
      <Choice label="Status" value={action.status} unset={unset} options={statuses} onChange={set('status')} />
      <Choice label="Priority" value={action.priority} unset={unset} options={priorities} onChange={set('priority')} />
      <Choice label="Type" value={action.issue_type} unset={unset} options={types} onChange={set('issue_type')} />
      <Choice
        label="Assignee"
        value={action.assignee_id}
        unset={unset}
        options={persons}
        onChange={set('assignee_id')}
        error={errorOf('assignee_id')}
      />
      <Choice
        label="Project"
        value={action.project_id}
        unset={unset}
        options={shared}
        onChange={set('project_id')}
        error={errorOf('project_id')}
      />
      <Field label="Due in days" error={sentence(errorOf('due_in_days'))}>
        <Input
          inputMode="numeric"
          value={action.due_in_days ?? ''}
          onChange={({ target }) =>
            set('due_in_days')(/^\d{1,3}$/.test(target.value) ? Number(target.value) : undefined)
          }
        />
      </Field>
      <Checkbox
        className="self-end pb-1.5"
        label="Current cycle"
        checked={action.current_cycle ?? false}
        onChange={({ target }) => set('current_cycle')(target.checked || undefined)}
      />
    </>
  )
}

/** Several labels or people, chosen from a menu. */
function Several(props: {
  label: string
  value: readonly string[]
  options: { value: string; label: string }[]
  onChange: (value: string[]) => void
  error?: string | undefined
}): ReactNode {
  const ask = usePicker()
  const names = new Map(props.options.map(({ value, label }) => [value, label]))
  return (
    <div className="space-y-1">
      <p className="font-medium">{props.label}</p>
      <Button
        size="sm"
        aria-label={props.label}
        onClick={({ currentTarget }) => {
          let chosen = [...props.value]
          ask(currentTarget, {
            title: props.label,
            multiple: true,
            options: props.options,
            selected: chosen,
            onPick: (picked) => {
              chosen = chosen.includes(picked) ? chosen.filter((one) => one !== picked) : [...chosen, picked]
              props.onChange(chosen)
            },
          })
        }}
      >
        <span className="max-w-64 truncate">{props.value.map((id) => names.get(id) ?? id).join(', ') || 'None'}</span>
      </Button>
      {props.error && (
        <p role="alert" className="text-xs text-bad-ink">
          {sentence(props.error)}
        </p>
      )}
    </div>
  )
}

const useLabelOptions = () => (useQuery(labelsQuery).data ?? []).map(({ id, name }) => ({ value: id, label: name }))
const orNothing = (ids: string[]) => (ids.length > 0 ? ids : undefined)

function CreateIssue(props: Props<Of<'create_issue'>>) {
  const { action, teamId, withIssue, onChange, errorOf } = props
  const templates = useQuery(templatesQuery).data ?? []
  const agents = useAgents()
  const labels = useLabelOptions()
  const set = (field: string) => (value: unknown) => onChange(withField(action, field, value))
  return (
    <div className="space-y-3">
      <Field label="Title" hint={placeholderHint(withIssue)} error={sentence(errorOf('title'))}>
        <Input value={action.title ?? ''} onChange={({ target }) => set('title')(target.value || undefined)} />
      </Field>
      <Field label="Description" optional error={sentence(errorOf('description'))}>
        <Textarea
          value={action.description ?? ''}
          onChange={({ target }) => set('description')(target.value || undefined)}
        />
      </Field>
      <div className="grid gap-3 sm:grid-cols-3">
        <Choice
          label="Template"
          value={action.template_id}
          unset="None"
          options={templates
            .filter(({ team_id }) => team_id === null || team_id === teamId)
            .map(({ id, name }) => ({ value: id, label: name }))}
          onChange={set('template_id')}
          error={errorOf('template_id')}
        />
        <Placed {...props} onChange={(next) => onChange(next as Of<'create_issue'>)} unset="Default" />
        <Choice
          label="Delegate"
          value={action.delegate_id}
          unset="None"
          options={[...agents].map(([value, { display_name }]) => ({ value, label: display_name }))}
          onChange={set('delegate_id')}
          error={errorOf('delegate_id')}
        />
      </div>
      <Several
        label="Labels"
        value={action.label_ids ?? []}
        options={labels}
        onChange={(ids) => set('label_ids')(orNothing(ids))}
        error={errorOf('label_ids')}
      />
      <Checkbox
        label="Skip while the previous issue is not done"
        checked={action.skip_if_open ?? false}
        onChange={({ target }) => set('skip_if_open')(target.checked || undefined)}
      />
    </div>
  )
}

function SetFields(props: Props<Of<'set_fields'>>) {
  const { action, onChange, errorOf } = props
  const labels = useLabelOptions()
  const set = (field: string) => (value: unknown) => onChange(withField(action, field, value))
  return (
    <div className="space-y-3">
      <div className="grid gap-3 sm:grid-cols-3">
        <Placed {...props} onChange={(next) => onChange(next as Of<'set_fields'>)} unset="Keep" />
      </div>
      <div className="flex flex-wrap gap-6">
        <Several
          label="Add labels"
          value={action.add_label_ids ?? []}
          options={labels}
          onChange={(ids) => set('add_label_ids')(orNothing(ids))}
          error={errorOf('add_label_ids')}
        />
        <Several
          label="Remove labels"
          value={action.remove_label_ids ?? []}
          options={labels}
          onChange={(ids) => set('remove_label_ids')(orNothing(ids))}
          error={errorOf('remove_label_ids')}
        />
      </div>
      {errorOf('type') && (
        <p role="alert" className="text-xs text-bad-ink">
          {sentence(errorOf('type'))}
        </p>
      )}
    </div>
  )
}

function Notify({ action, withIssue, onChange, errorOf }: Props<Of<'notify'>>) {
  const people = usePeople()
  return (
    <div className="flex flex-wrap gap-6">
      <Field label="Who" error={sentence(errorOf('who'))}>
        <Select
          className="w-44"
          value={action.who ?? ''}
          onChange={({ target }) =>
            onChange(
              target.value
                ? { type: 'notify', who: target.value as NonNullable<Of<'notify'>['who']> }
                : { type: 'notify', user_ids: [] },
            )
          }
        >
          <option value="team">The team</option>
          {(withIssue || action.who === 'assignee') && <option value="assignee">The assignee</option>}
          {(withIssue || action.who === 'reporter') && <option value="reporter">The reporter</option>}
          <option value="">Chosen people</option>
        </Select>
      </Field>
      {!action.who && (
        <Several
          label="People"
          value={action.user_ids ?? []}
          options={[...people].map(([value, { display_name }]) => ({ value, label: display_name }))}
          onChange={(user_ids) => onChange({ type: 'notify', user_ids })}
          error={errorOf('user_ids')}
        />
      )}
    </div>
  )
}
