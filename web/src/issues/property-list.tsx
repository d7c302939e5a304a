import { ChevronDown, ChevronUp } from 'lucide-react'
import { useId, useState } from 'react'
import { cx } from '../ui/class-names.ts'
import { Tip } from '../ui/tip.tsx'
import type { Property } from './properties.tsx'

/** One under the other, beside the text. */
export const PropertyRows = ({ properties }: { properties: Property[] }) => (
  <dl>
    {properties.map((property) => (
      <div key={property.id} className="grid grid-cols-[84px_minmax(0,1fr)] items-start">
        <dt className="flex h-8 items-center text-xs text-ink-3">{property.label}</dt>
        <dd className="min-w-0">
          <PropertyButton property={property} />
          {property.hint && !property.isEmpty && <p className="px-2 pb-1 text-xs text-ink-3">{property.hint}</p>}
        </dd>
      </div>
    ))}
  </dl>
)

const textOf = ({ label, value }: Property) => (typeof value === 'string' ? `${label}: ${value}` : label)

function PropertyButton({ property }: { property: Property }) {
  const { id, label, icon, value, isEmpty, change } = property
  return (
    <Tip label={`Change ${label.toLowerCase()}`} command={`issue.${id}`}>
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
        {icon}
        <span className={cx('min-w-0', typeof value === 'string' && 'truncate')}>{value}</span>
      </button>
    </Tip>
  )
}

/** Where there is no room beside the text: what is set, as chips; the rest behind a button. */
export function PropertyChips({ properties }: { properties: Property[] }) {
  const [open, setOpen] = useState(false)
  const id = useId()
  const chips = properties.filter((property) => property.chip || !property.isEmpty)
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-1.5">
        {chips
          .filter(({ id }) => !open && !['type', 'team', 'visibility'].includes(id))
          .map((property) => (
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
        {open && <PropertyRows properties={properties} />}
      </div>
    </div>
  )
}
