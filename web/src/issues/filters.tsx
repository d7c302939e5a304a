import { ListFilter, Search, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { usePicker } from '../ui/picker.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import {
  type FilterField,
  filterFields,
  type IssueSearch,
  isFiltered,
  valuesOf,
  withoutFilters,
  withValues,
} from '../views/search.ts'
import { fieldNames, type Known } from './fields/known.tsx'

interface Props {
  search: IssueSearch
  known: Known
  onSearch: (next: (before: IssueSearch) => IssueSearch, how?: { replace: boolean }) => void
  /** From the text to the list below it. */
  onLeave: () => void
  actions?: ReactNode
}

/** Which issues are shown, as chips; what they say stands in the address. */
export function Filters({ search, known, onSearch, onLeave, actions }: Props) {
  const ask = usePicker()
  const button = useRef<HTMLButtonElement>(null)

  const askValues = (anchor: Element | null, field: FilterField) => {
    let chosen = valuesOf(search, field)
    let begun = false
    ask(anchor, {
      title: `${fieldNames[field]} is`,
      options: known.options[field],
      multiple: true,
      selected: chosen.map((value) => (value === 'me' ? known.me : value)),
      onPick: (value) => {
        const same = (one: string) => one === value || (one === 'me' && value === known.me)
        chosen = chosen.some(same) ? chosen.filter((one) => !same(one)) : [...chosen, value]
        const next = chosen
        // One step to go back, however many are picked.
        onSearch((before) => withValues(before, field, next), { replace: begun })
        begun = true
      },
    })
  }
  const askField = (anchor: Element | null) =>
    ask(anchor, {
      title: 'Filter by',
      options: filterFields.map((field) => ({ value: field, label: fieldNames[field] })),
      onPick: (value) => {
        const field = filterFields.find((one) => one === value)
        // At once, in the same menu: what is typed next belongs to it.
        if (field) askValues(anchor, field)
      },
    })
  useCommands([
    { id: 'issues.filter', title: 'Filter issues', section: 'View', keys: 'f', run: () => askField(button.current) },
    {
      id: 'issues.clear-filters',
      title: 'Clear filters',
      section: 'View',
      keys: 'shift+f',
      run: () => onSearch(withoutFilters),
    },
  ])
  const set = filterFields.filter((field) => search[field])
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-1.5 px-4 pb-2">
      <TextFilter search={search} onSearch={onSearch} onLeave={onLeave} />
      <Button
        ref={button}
        size="sm"
        look="quiet"
        icon={ListFilter}
        onClick={({ currentTarget }) => askField(currentTarget)}
      >
        Filter
      </Button>
      {set.map((field) => (
        <Chip
          key={field}
          name={fieldNames[field]}
          value={words(valuesOf(search, field).map((value) => known.nameOf(field, value)))}
          onEdit={(anchor) => askValues(anchor, field)}
          onRemove={() => onSearch((before) => withValues(before, field, []))}
        />
      ))}
      {isFiltered(search) && (
        <Button size="sm" look="quiet" onClick={() => onSearch(withoutFilters)}>
          Clear
        </Button>
      )}
      <span className="flex-1" />
      {actions}
    </div>
  )
}

const words = (values: string[]) => (values.length > 2 ? `${values.length} chosen` : values.join(' or '))

const Chip = (props: { name: string; value: string; onEdit: (anchor: Element) => void; onRemove: () => void }) => (
  <span className="inline-flex h-6 max-w-full items-center rounded border border-line-strong bg-surface text-xs">
    <button
      type="button"
      onClick={({ currentTarget }) => props.onEdit(currentTarget)}
      className="h-full min-w-0 truncate rounded-l px-2 hover:bg-hover"
    >
      <span className="text-ink-3">{props.name} is </span>
      <span className="font-medium">{props.value}</span>
    </button>
    <button
      type="button"
      aria-label={`Remove the filter ${props.name} is ${props.value}`}
      onClick={props.onRemove}
      className="flex h-full w-6 shrink-0 items-center justify-center rounded-r border-l text-ink-3 hover:bg-hover hover:text-ink"
    >
      <X size={12} aria-hidden />
    </button>
  </span>
)

const waitMs = 120

/** What is typed is shown at once and looked for a moment later, so that no key waits for a long list. */
function TextFilter({ search: { q = '' }, onSearch, onLeave }: Pick<Props, 'search' | 'onSearch' | 'onLeave'>) {
  const [text, setText] = useState(q)
  const input = useRef<HTMLInputElement>(null)
  const told = useRef(q)
  useEffect(() => {
    // Changed elsewhere: by going back, by a view, by clearing.
    if (q === told.current) return
    told.current = q
    setText(q)
  }, [q])
  useEffect(() => {
    if (text === told.current) return
    const timer = setTimeout(() => {
      told.current = text
      onSearch(({ q: _, ...others }) => (text ? { ...others, q: text } : others), { replace: true })
    }, waitMs)
    return () => clearTimeout(timer)
  }, [text, onSearch])
  useCommands([
    {
      id: 'issues.find',
      title: 'Find in this list',
      section: 'View',
      keys: 'mod+f',
      run: () => input.current?.focus(),
    },
  ])
  return (
    <label className="relative flex items-center">
      <Search size={13} aria-hidden className="pointer-events-none absolute left-2 text-ink-3" />
      <input
        ref={input}
        type="search"
        aria-label="Find in this list"
        placeholder="Find…"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Escape' && text) setText('')
          else if (event.key === 'Escape' || event.key === 'Enter' || event.key === 'ArrowDown') onLeave()
          else return
          event.preventDefault()
          event.stopPropagation()
        }}
        className="h-6 w-36 rounded border border-transparent bg-sunken pr-1 pl-7 text-xs outline-none placeholder:text-ink-3 focus:w-56 focus:border-accent max-sm:w-28"
      />
    </label>
  )
}
