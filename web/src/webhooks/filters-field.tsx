import type { ResourceType, WebhookFilters } from '@baton/protocol'
import { Plus, X } from 'lucide-react'
import { Button, IconButton } from '../ui/button.tsx'
import { none, orNull, usePicker } from '../ui/picker.tsx'
import { sentence } from '../ui/sentence.ts'
import { filterKeys } from './filter-keys.ts'
import { useFilterText, useOptionsOf } from './filter-text.ts'

type Values = (string | null)[]
/** The filters of one type. The API checks the values. */
type TypeFilters = Record<string, Values>

interface Props {
  types: readonly ResourceType[]
  value: WebhookFilters | null
  onChange: (value: WebhookFilters | null) => void
  errors: Record<string, string>
}

const nouns: Record<ResourceType, string> = { Issue: 'issues', Comment: 'comments', Project: 'projects' }

/** Limits the events of each type: all conditions of a type have to match. */
export function FiltersField({ types, value, onChange, errors }: Props) {
  const filters = (value ?? {}) as Partial<Record<ResourceType, TypeFilters>>
  const set = (type: ResourceType, next: TypeFilters) => {
    const { [type]: _, ...rest } = filters
    const all = Object.keys(next).length > 0 ? { ...rest, [type]: next } : rest
    onChange(Object.keys(all).length > 0 ? (all as WebhookFilters) : null)
  }
  return (
    <fieldset className="space-y-3">
      <legend className="mb-1 font-medium">Filters</legend>
      <p className="text-xs text-ink-3">
        Without filters all events are sent. An update that leaves a filter is sent too.
      </p>
      {types.map((type) => (
        <Filters
          key={type}
          type={type}
          value={filters[type] ?? {}}
          onChange={(next) => set(type, next)}
          errors={errors}
        />
      ))}
    </fieldset>
  )
}

interface FiltersProps {
  type: ResourceType
  value: TypeFilters
  onChange: (value: TypeFilters) => void
  errors: Record<string, string>
}

function Filters({ type, value, onChange, errors }: FiltersProps) {
  const ask = usePicker()
  const optionsOf = useOptionsOf()
  const textOf = useFilterText()
  const keys = filterKeys[type]
  const unused = Object.entries(keys).filter(([key]) => !(key in value))
  const choose = (anchor: Element, key: string) => {
    const { label, source, none: noneLabel } = keys[key] ?? { label: key, source: [] }
    // The menu stays open, so each pick continues from the one before.
    let chosen = value[key] ?? []
    ask(anchor, {
      title: label,
      multiple: true,
      options: [...(noneLabel ? [{ value: none, label: noneLabel }] : []), ...optionsOf(source)],
      selected: chosen.map((one) => one ?? none),
      onPick: (picked) => {
        const one = orNull(picked)
        chosen = chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one]
        const { [key]: _, ...rest } = value
        onChange(chosen.length > 0 ? { ...rest, [key]: chosen } : rest)
      },
    })
  }
  const remove = (key: string) => {
    const { [key]: _, ...rest } = value
    onChange(rest)
  }
  return (
    <div className="space-y-1.5">
      {Object.keys(value).map((key) => {
        const error = errors[`filters.${type}.${key}`]
        return (
          <div key={key}>
            <div className="flex items-center gap-1">
              <Button size="sm" onClick={({ currentTarget }) => choose(currentTarget, key)}>
                <span className="text-ink-3">{textOf(type, key, value[key]).subject}:</span>
                <span className="max-w-56 truncate">{textOf(type, key, value[key]).values}</span>
              </Button>
              <IconButton
                label={`Remove the filter ${textOf(type, key, value[key]).subject}`}
                icon={X}
                onClick={() => remove(key)}
              />
            </div>
            {error && (
              <p role="alert" className="text-xs text-bad-ink">
                {sentence(error)}
              </p>
            )}
          </div>
        )
      })}
      {unused.length > 0 && (
        <Button
          size="sm"
          look="quiet"
          icon={Plus}
          onClick={({ currentTarget }) =>
            ask(currentTarget, {
              title: `Filter ${nouns[type]} by`,
              options: unused.map(([key, { label }]) => ({ value: key, label })),
              onPick: (key) => choose(currentTarget, key),
            })
          }
        >
          Filter {nouns[type]}
        </Button>
      )}
    </div>
  )
}
