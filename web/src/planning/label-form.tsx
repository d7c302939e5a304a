import type { Label } from '@baton/protocol'
import { Check } from 'lucide-react'
import { useState } from 'react'
import { api, rereadKey } from '../data/api.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Notice } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'
import { labelColors, nextLabelColor } from './label-colors.ts'
import { useSameNameWarning } from './same-name.ts'

interface Props {
  /** The label to edit; without it a new one is created. */
  label?: Label
  labels: readonly Label[]
  /** Opens the dialog that merges the edited label into another. */
  onMerge: (label: Label, into: Label) => void
  onClose: () => void
}

export function LabelForm({ label, labels, onMerge, onClose }: Props) {
  const [name, setName] = useState(label?.name ?? '')
  const [color, setColor] = useState(label ? label.color : nextLabelColor(labels.length))
  const { same, warn } = useSameNameWarning(
    name,
    labels.filter(({ id }) => id !== label?.id),
  )
  const form = useForm(async () => {
    if (name.trim() !== label?.name && warn()) return
    const fields = { name: name.trim(), color }
    const saved = label ? await api.updateLabel({ label_id: label.id, ...fields }) : await api.createLabel(fields)
    await rereadKey('workspace', 'labels')
    showToast(label ? `${isolated(saved.name)} saved` : `${isolated(saved.name)} created`)
    onClose()
  }, ['name', 'color'])
  return (
    <Dialog open onClose={onClose} title={label ? `Edit ${isolated(label.name)}` : 'New label'} size="sm">
      <form onSubmit={form.submit} className="space-y-4 pb-3">
        <Field label="Name" error={form.errors.name}>
          <Input required autoFocus value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        {same && (
          <div role="alert">
            <Notice
              tone="warn"
              actions={
                label && (
                  <Button size="sm" onClick={() => onMerge(label, same)}>
                    <span>
                      Merge into <bdi>{same.name}</bdi>…
                    </span>
                  </Button>
                )
              }
            >
              A label named <bdi className="font-semibold">{same.name}</bdi> exists already.
            </Notice>
          </div>
        )}
        <ColorChoice value={color} onChange={setColor} />
        {form.errors.color && <Notice tone="bad">{form.errors.color}</Notice>}
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={form.busy}>
            {label ? (same ? 'Save anyway' : 'Save label') : same ? 'Create anyway' : 'Create label'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function ColorChoice({ value, onChange }: { value: string | null; onChange: (color: string | null) => void }) {
  const custom = value !== null && !labelColors.some((color) => color.value === value)
  const choices = [{ name: 'No colour', value: null }, ...labelColors, ...(custom ? [{ name: value, value }] : [])]
  return (
    <fieldset>
      <legend className="mb-1 font-medium">Colour</legend>
      <div className="flex flex-wrap items-center gap-2">
        {choices.map((choice) => (
          <label
            key={choice.name}
            title={choice.name}
            className="relative flex size-6 items-center justify-center rounded-full border border-line-strong has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
            style={choice.value ? { background: choice.value, borderColor: choice.value } : undefined}
          >
            <input
              type="radio"
              name="color"
              aria-label={choice.name}
              checked={value === choice.value}
              onChange={() => onChange(choice.value)}
              className="absolute inset-0 size-full cursor-pointer appearance-none rounded-full outline-none"
            />
            {value === choice.value && (
              <Check size={13} aria-hidden className={choice.value ? 'text-white' : 'text-ink-2'} />
            )}
          </label>
        ))}
        <label className="ml-1 flex items-center gap-2 text-xs text-ink-2">
          Other
          <input
            type="color"
            aria-label="Other colour"
            value={value ?? '#6b7280'}
            onChange={(event) => onChange(event.target.value)}
            className="h-6 w-9 rounded border border-line-strong bg-surface"
          />
        </label>
      </div>
    </fieldset>
  )
}
