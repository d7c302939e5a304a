import { ChevronDown, ChevronUp } from 'lucide-react'
import { type ReactNode, useId, useRef, useState } from 'react'
import { cx } from './class-names.ts'
import { type Command, useCommands } from './shortcuts.ts'
import { Tip } from './tip.tsx'

/** Something about an issue or project that is chosen from a menu. */
export interface Property {
  id: string
  label: string
  /** What the command is called, where the label would not do. */
  title?: string
  keys?: string
  icon: ReactNode
  value: ReactNode
  /** The value in words, where it is drawn. */
  words?: string
  /** Nothing is chosen: shown quietly, and not among the chips. */
  isEmpty: boolean
  /** Among the chips: always, never, or if something is chosen. */
  chip?: boolean
  /** Under the row, quietly. */
  hint?: string
  change: (anchor: Element | null) => void
}

const commandOf = (section: Command['section'], { id }: Property) => `${section.toLowerCase()}.${id}`

/** The keys of the properties; each opens its menu beside the property if that is on the screen. */
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
  /** What they are properties of, as the commands say. */
  of: Command['section']
  properties: Property[]
}

/** One under the other, beside the text. */
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

function textOf({ label, value, words }: Property) {
  const said = words ?? (typeof value === 'string' ? value : undefined)
  return said === undefined ? label : `${label}: ${said}`
}

function PropertyButton({ property, command }: { property: Property; command: string }) {
  const { id, label, icon, value, isEmpty, change } = property
  return (
    <Tip label={`Change ${label.toLowerCase()}`} command={command}>
      <button
        type="button"
        data-property={id}
        aria-haspopup="dialog"
        aria-label={textOf(property)}
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

/** Where there is no room beside the text: what is set, as chips; the rest behind a button. */
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
              aria-label={textOf(property)}
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
