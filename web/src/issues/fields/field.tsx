import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { fold } from '../../ui/fold.ts'
import { none, type Option, type Question } from '../../ui/picker.tsx'
import type { Directory } from './directory.ts'

/** The values of an issue or project by which it is shown, filtered and grouped. */
export interface Values<Subject> {
  /** Used in URLs (`?status=todo`) and command ids (`issues.status`). */
  id: string
  label: string
  icon: LucideIcon
  /** Its values; an empty list if the field is empty. */
  read: (subject: Subject) => string[]
  /** The values to choose from. Without a subject: all of them, for filters and headings. */
  options: (directory: Directory, subject?: Subject) => Option[]
  /** Label of the empty value. A field without it always has a value. */
  none?: string
  /** Label of a value that is not in the options, such as a date. */
  labelOf?: (value: string) => string
  /** Label of an id that is not in the directory, because it was deleted or is not visible to the user. */
  missing?: string
  /** A better label for it, where one can be read. */
  nameOfMissing?: (id: string, directory: Directory) => string | undefined
}

/**
 * One field of an issue or a project. Panels, forms, menus, filters, headings, shortcuts and history read it, so that a
 * field is described in one place.
 */
export interface Field<Subject, Change> extends Values<Subject> {
  /** Its key in the API: in changes, per-field errors and history. */
  key: keyof Change & string
  keys?: string
  /** Title of its command and menu where the label is not enough. */
  menuTitle?: string
  /** Options that depend on the typed text, such as dates and new labels. */
  search?: (query: string, directory: Directory, subject: Subject | undefined) => Promise<Option[]>
  /** Creates the value that was picked, if it is new. */
  resolve?: (picked: Option) => Promise<Option>
  /** The change that sets a value. With several values it adds one, in place of `from` if that is given. */
  change: (subject: Subject, value: string, from?: string) => Change
  /** The change that removes one value. Only fields with several values have it. */
  remove?: (subject: Subject, value: string) => Change
  /** False where the empty value cannot be chosen in a menu. */
  clearable?: (subject: Subject) => boolean
  /** Message after a change. `subjects` is "ENG-4" or "3 issues". */
  done?: (subjects: string, value: string) => string
  /** The menu has a calendar: values are moments. */
  calendar?: true
  /** A line at the foot of the menu. */
  footer?: (subject: Subject) => ReactNode
  /** Shown in the menu when no option matches. */
  noMatch?: string
  /** Set to a value that counts as empty, such as no priority. */
  isEmpty?: (subject: Subject) => boolean
  /** Whether the subject has the field. */
  visible?: (subject: Subject, directory: Directory) => boolean
  /** Among the chips of a narrow page: always or never. By default only if it is set. */
  chip?: boolean
}

export const matching = (options: readonly Option[], query: string) => {
  const wanted = fold(query.trim())
  return options.filter(({ label }) => fold(label).includes(wanted))
}

/** A list grouped or filtered by a field looks up a label per row, so options are computed once per directory. */
const cache = new WeakMap<object, Map<unknown, { options: Option[]; byValue: ReadonlyMap<string, Option> }>>()

function allOptions<S>(field: Values<S>, directory: Directory) {
  const fields = cache.get(directory) ?? new Map()
  cache.set(directory, fields)
  const found = fields.get(field)
  if (found) return found
  const empty = field.none === undefined ? [] : [emptyOption(field)]
  const options = [...empty, ...field.options(directory)]
  const entry = { options, byValue: new Map(options.map((option) => [option.value, option])) }
  fields.set(field, entry)
  return entry
}

const emptyOption = <S,>({ icon: Icon, none: label = '' }: Values<S>): Option => ({
  value: none,
  label,
  icon: <Icon size={14} aria-hidden className="text-ink-3" />,
})

/** Every value of a field, with the empty one. */
export const optionsOf = <S,>(field: Values<S>, directory: Directory): Option[] => allOptions(field, directory).options

export const optionOf = <S,>(field: Values<S>, value: string, directory: Directory): Option | undefined =>
  allOptions(field, directory).byValue.get(value)

/** The label of a value, for use within a sentence. */
export const nameWithin = <S,>(field: Values<S>, value: string, directory: Directory): string =>
  optionOf(field, value, directory)?.label ??
  field.labelOf?.(value) ??
  (directory.complete ? (field.nameOfMissing?.(value, directory) ?? field.missing ?? 'an unknown value') : '…')

/** The label of a value that is shown outside a sentence. */
export function nameOf<S>(field: Values<S>, value: string, directory: Directory): string {
  const name = nameWithin(field, value, directory)
  return name === field.missing ? name.charAt(0).toUpperCase() + name.slice(1) : name
}

/** The options of a menu: at once if the lists are loaded, otherwise when they are. */
export function menuOptions<S, C>(
  field: Field<S, C>,
  directory: Directory,
  subject: S | undefined,
): Question['options'] {
  const { search } = field
  if (search) return (query) => search(query, directory, subject)
  const clearable = field.none !== undefined && !field.remove && (!subject || (field.clearable?.(subject) ?? true))
  const from = (directory: Directory) => [
    ...(clearable ? [emptyOption(field)] : []),
    ...field.options(directory, subject),
  ]
  return directory.complete ? from(directory) : async (query) => matching(from(await directory.load()), query)
}

/** The message after a change: that of the field, or by default "ENG-4: Bug". */
export const doneText = <S, C>(field: Field<S, C>, name: string, value: string, label: string) =>
  field.done?.(name, field.labelOf && value !== none ? field.labelOf(value) : label) ?? `${name}: ${label}`
