import { cx } from '../../ui/class-names.ts'
import { noDay } from '../../ui/day.ts'
import { none, usePicker } from '../../ui/picker.tsx'
import { showError } from '../../ui/toast.tsx'
import type { Directory } from '../fields/directory.ts'
import { menuOptions, nameOf, optionOf } from '../fields/field.tsx'
import { fieldsIn } from '../fields/fields.tsx'
import type { Draft } from './draft.ts'
import { TemplateChoice } from './template-choice.tsx'

type Change = (update: (draft: Draft) => Partial<Draft>) => void

interface Props {
  draft: Draft
  change: Change
  directory: Directory
  errors: Record<string, string>
}

const formFields = fieldsIn('form').map((field) => ({ ...field, ...field.form }))
type FormField = (typeof formFields)[number]

const pill =
  'inline-flex h-7 max-w-56 min-w-0 items-center gap-1.5 rounded border px-2 text-xs hover:bg-hover aria-invalid:border-bad'

/** The fields of a new issue other than its text. Each opens the menu of the page. */
export function FormFields({ draft, change, directory, errors }: Props) {
  const shown = formFields.filter(({ visible }) => visible?.(draft, directory) ?? true)
  const labelled = [{ key: 'description', label: 'Description' }, ...formFields]
  return (
    <div className="space-y-1.5">
      <div className="flex flex-wrap gap-1.5">
        <TemplateChoice draft={draft} change={change} className={pill} />
        {shown.map((field) => (
          <MenuButton
            key={field.id}
            {...{ field, draft, change, directory }}
            invalid={errors[field.key] !== undefined}
          />
        ))}
      </div>
      {labelled
        .filter(({ key }) => errors[key])
        .map(({ key, label }) => (
          <p key={key} role="alert" className="text-xs text-bad-ink">
            {label}: {errors[key]}
          </p>
        ))}
    </div>
  )
}

interface InputProps {
  field: FormField
  draft: Draft
  change: Change
  directory: Directory
  invalid: boolean
}

function MenuButton({ field, draft, change, directory, invalid }: InputProps) {
  const ask = usePicker()
  const values = field.read(draft)
  const names = values.map((value) => nameOf(field, value, directory))
  const value = names.length > 2 ? `${names.length} ${field.label.toLowerCase()}` : names.join(', ')
  const icon = !field.remove && values[0] ? optionOf(field, values[0], directory)?.icon : undefined
  const { icon: Icon, remove, resolve } = field
  const open = (anchor: Element) =>
    ask(anchor, {
      title: field.label,
      options: menuOptions(field, directory, draft),
      selected: values.length > 0 || remove ? values : [none],
      ...(remove && { multiple: true }),
      ...(field.calendar && { calendar: true, empty: noDay }),
      onPick: async (_, option) => {
        try {
          const { value } = resolve ? await resolve(option) : option
          change((draft) =>
            remove && field.read(draft).includes(value) ? remove(draft, value) : field.change(draft, value),
          )
        } catch (error) {
          showError(error)
        }
      },
    })
  return (
    <button
      type="button"
      aria-label={`${field.label}: ${value || 'none'}`}
      aria-invalid={invalid || undefined}
      onClick={({ currentTarget }) => open(currentTarget)}
      className={cx(pill, value ? 'text-ink' : 'text-ink-3')}
    >
      {icon ?? <Icon size={13} aria-hidden className="shrink-0 text-ink-3" />}
      <span className="truncate">{value || field.label}</span>
    </button>
  )
}
