import { ChevronDown, ChevronUp } from 'lucide-react'
import { type ReactNode, useId, useRef, useState } from 'react'
import { cx } from './class-names.ts'
import { type Command, useCommands } from './shortcuts.ts'
import { Tip } from './tip.tsx'

/** A property of an issue or project whose value is picked from a menu. */
export interface Property {
  id: string
  label: string
  /** Title of the command, if it differs from the label. */
  title?: string
  keys?: string
  icon: ReactNode
  value: ReactNode
  /** The value as text, if `value` is not a string. */
  words?: string
  /** No value is set: shown in a muted color, and not as a chip. */
  isEmpty: boolean
  /** Shown as a chip: always, never, or by default if a value is set. */
  chip?: boolean
  /** Shown under the row in a muted color. */
  hint?: string
  change: (anchor: Element | null) => void
}

const commandOf = (section: Command['section'], { id }: Property) => `${section.toLowerCase()}.${id}`

/** Registers the shortcuts of the properties. Each opens its menu next to the property if that is visible. */
export function usePropertyKeys(section: Command['section'], properties: Property[]) {
  const ref = useRef<HTMLDivElement>(null)
  useCommands(
    properties.map((property) => ({
      id: commandOf(section, property),
      title: property.title ?? property.label,
      section,
      ...(property.keys && { keys: property.keys }),
      run: () => {
        const shown = [...(ref.current?.querySelectorAll(`[data-property="${property.id}"]`) ?? [])]
        property.change(shown.find((element) => element.getClientRects().length > 0) ?? null)
      },
    })),
  )
  return ref
}

interface Props {
  /** Section of their commands. */
  of: Command['section']
  properties: Property[]
}

/** The properties as rows, for the column next to the text. */
export const PropertyRows = ({ of, properties }: Props) => (
  <dl>
    {properties.map((property) => (
      <div key={property.id} className="grid grid-cols-[84px_minmax(0,1fr)] items-start">
        <dt className="flex h-8 items-center text-xs text-ink-3">{property.label}</dt>
        <dd className="min-w-0">
          <PropertyButton property={property} command={commandOf(of, property)} />
          {property.hint && !property.isEmpty && <p className="px-2 pb-1 text-xs text-ink-3">{property.hint}</p>}
        </dd>
      </div>
    ))}
  </dl>
)

function accessibleName({ label, value, words = typeof value === 'string' ? value : undefined }: Property) {
  return words === undefined ? label : `${label}: ${words}`
}

function PropertyButton({ property, command }: { property: Property; command: string }) {
  const { id, label, icon, value, isEmpty, change } = property
  return (
    <Tip label={`Change ${label.toLowerCase()}`} command={command}>
      <button
        type="button"
        data-property={id}
        aria-haspopup="dialog"
        aria-label={accessibleName(property)}
        onClick={(event) => change(event.currentTarget)}
        className={cx(
          'flex min-h-8 w-full items-center gap-2 rounded px-2 text-left hover:bg-hover',
          isEmpty && 'text-ink-3',
        )}
      >
        {icon && <span className="flex w-4 shrink-0 justify-center">{icon}</span>}
        <span className={cx('min-w-0', typeof value === 'string' && 'truncate')}>{value}</span>
      </button>
    </Tip>
  )
}

/** For narrow screens: the set properties as chips, and all of them behind a button. */
export function PropertyChips({ of, properties }: Props) {
  const [open, setOpen] = useState(false)
  const id = useId()
  const chips = properties.filter(({ chip, isEmpty }) => chip ?? !isEmpty)
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-1.5">
        {!open &&
          chips.map((property) => (
            <button
              key={property.id}
              type="button"
              data-property={property.id}
              aria-haspopup="dialog"
              aria-label={accessibleName(property)}
              onClick={(event) => property.change(event.currentTarget)}
              className={cx(
                'flex min-h-7 max-w-full items-center gap-1.5 rounded-full border bg-surface px-2.5 hover:bg-hover',
                property.isEmpty && 'text-ink-3',
              )}
            >
              {property.icon}
              <span className={cx('min-w-0', typeof property.value === 'string' && 'truncate')}>{property.value}</span>
            </button>
          ))}
        <button
          type="button"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
          className="flex h-7 items-center gap-1 rounded-full px-2 text-xs text-ink-2 hover:bg-hover"
        >
          {open ? 'Fewer properties' : 'All properties'}
          {open ? <ChevronUp size={13} aria-hidden /> : <ChevronDown size={13} aria-hidden />}
        </button>
      </div>
      <div id={id} hidden={!open}>
        {open && <PropertyRows of={of} properties={properties} />}
      </div>
    </div>
  )
}
