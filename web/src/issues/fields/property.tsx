import type { ReactNode } from 'react'
import { none, type Option } from '../../ui/picker.tsx'
import type { Property } from '../../ui/property-list.tsx'
import type { Directory } from './directory.ts'
import { type Field, nameOf, optionOf } from './field.tsx'

/** A field of one issue or project as the property list shows it. */
export function propertyOf<S, C>(
  field: Field<S, C>,
  subject: S,
  directory: Directory,
  change: Property['change'],
  /** Shows several values. */
  list: (options: Option[]) => ReactNode,
): Property {
  const { id, label, menuTitle, keys, chip, icon: Icon, remove } = field
  const values = field.read(subject)
  const [value = none] = values
  const options = values.flatMap((one) => optionOf(field, one, directory) ?? [])
  const mark = <Icon size={14} aria-hidden className="shrink-0 text-ink-3" />
  const about = {
    id,
    label,
    ...(menuTitle && { title: menuTitle }),
    ...(keys && { keys }),
    ...(chip !== undefined && { chip }),
    change,
  }
  if (!remove) {
    return {
      ...about,
      icon: (value !== none && optionOf(field, value, directory)?.icon) || mark,
      value: nameOf(field, value, directory),
      isEmpty: field.isEmpty?.(subject) ?? values.length === 0,
    }
  }
  if (options.length === 0) {
    const unread = values.length > 0 && !directory.complete
    return { ...about, icon: mark, value: unread ? '…' : `No ${label.toLowerCase()}`, isEmpty: true }
  }
  return {
    ...about,
    icon: null,
    value: list(options),
    words: options.map(({ label }) => label).join(', '),
    isEmpty: false,
  }
}
