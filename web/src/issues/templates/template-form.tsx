import type { IssueTemplate } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, rereadKey } from '../../data/api.ts'
import { labelsQuery } from '../../data/planning.ts'
import { useTeams } from '../../data/workspaces.ts'
import { LabelDot } from '../../planning/label-dot.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, Field, Input, Select, Textarea } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { isolated } from '../../ui/isolated.ts'
import { usePicker } from '../../ui/picker.tsx'
import { Notice } from '../../ui/states.tsx'
import { showToast } from '../../ui/toast.tsx'
import { priorities, types } from '../fields/values.tsx'

type Fields = Omit<IssueTemplate, 'id' | 'created_at' | 'updated_at'>

const blank: Fields = {
  team_id: null,
  name: '',
  title: '',
  description: '',
  priority: 'no_priority',
  type: 'task',
  label_ids: [],
  default: false,
}

interface Props {
  /** The template to edit; without it a new one is created. */
  template?: IssueTemplate
  onClose: () => void
}

export function TemplateForm({ template, onClose }: Props) {
  const [fields, setFields] = useState<Fields>(template ?? blank)
  const teams = useTeams()
  const set = (change: Partial<Fields>) => setFields((before) => ({ ...before, ...change }))
  const form = useForm(async () => {
    const { team_id, name, title, description, priority, type, label_ids, default: isDefault } = fields
    const values = { name: name.trim(), title, description, priority, type, label_ids, default: isDefault }
    const saved = template
      ? await api.updateTemplate({ template_id: template.id, ...values })
      : await api.createTemplate({ team_id, ...values })
    await rereadKey('workspace', 'templates')
    showToast(`${isolated(saved.name)} ${template ? 'saved' : 'created'}`)
    onClose()
  }, ['name', 'team_id', 'title', 'description', 'label_ids'])
  return (
    <Dialog open onClose={onClose} title={template ? `Edit ${isolated(template.name)}` : 'New template'}>
      <form onSubmit={form.submit} className="space-y-4 pb-3">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Name" error={form.errors.name}>
            <Input
              required
              autoFocus
              maxLength={limits.name}
              value={fields.name}
              onChange={(event) => set({ name: event.target.value })}
            />
          </Field>
          <Field label="Team" error={form.errors.team_id}>
            <Select
              value={fields.team_id ?? ''}
              disabled={template !== undefined}
              onChange={(event) => set({ team_id: event.target.value || null })}
            >
              <option value="">All teams</option>
              {teams.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          </Field>
        </div>
        <Field label="Issue title" optional error={form.errors.title}>
          <Input
            maxLength={limits.title}
            value={fields.title}
            onChange={(event) => set({ title: event.target.value })}
          />
        </Field>
        <Field label="Description" optional hint="Markdown" error={form.errors.description}>
          <Textarea
            rows={6}
            maxLength={limits.description}
            value={fields.description}
            onChange={(event) => set({ description: event.target.value })}
            className="max-h-72"
          />
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Priority">
            <Select
              value={fields.priority}
              onChange={(event) => set({ priority: event.target.value as Fields['priority'] })}
            >
              {priorities.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          </Field>
          <Field label="Type">
            <Select value={fields.type} onChange={(event) => set({ type: event.target.value as Fields['type'] })}>
              {types.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          </Field>
        </div>
        <LabelsField ids={fields.label_ids} onChange={(label_ids) => set({ label_ids })} />
        {form.errors.label_ids && <Notice tone="bad">{form.errors.label_ids}</Notice>}
        <Checkbox
          label="Default"
          hint="Preselected for new issues of this team, or of teams without a default."
          checked={fields.default}
          onChange={(event) => set({ default: event.target.checked })}
        />
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={form.busy}>
            {template ? 'Save template' : 'Create template'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function LabelsField({ ids, onChange }: { ids: string[]; onChange: (ids: string[]) => void }) {
  const ask = usePicker()
  const { data: labels = [] } = useQuery(labelsQuery)
  const chosen = labels.filter(({ id }) => ids.includes(id))
  const open = (anchor: Element) => {
    // The menu stays open while several are picked.
    let now = ids
    ask(anchor, {
      title: 'Labels',
      options: [...labels]
        .sort((a, b) => a.name.localeCompare(b.name))
        .map(({ id, name, color }) => ({ value: id, label: name, icon: <LabelDot color={color} /> })),
      selected: ids,
      multiple: true,
      empty: 'No label matches.',
      onPick: (id) => {
        now = now.includes(id) ? now.filter((one) => one !== id) : [...now, id]
        onChange(now)
      },
    })
  }
  return (
    <div className="space-y-1">
      <p className="font-medium">Labels</p>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={`Labels: ${chosen.map(({ name }) => name).join(', ') || 'none'}`}
        onClick={({ currentTarget }) => open(currentTarget)}
        className="flex min-h-8 w-full flex-wrap items-center gap-x-3 gap-y-1 rounded border border-line-strong bg-surface px-2.5 py-1 text-left hover:bg-hover"
      >
        {chosen.length === 0 && <span className="text-ink-3">None</span>}
        {chosen.map(({ id, name, color }) => (
          <span key={id} className="inline-flex items-center gap-1.5">
            <LabelDot color={color} />
            {name}
          </span>
        ))}
      </button>
    </div>
  )
}
