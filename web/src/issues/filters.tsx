import { ListFilter, Search, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { none, usePicker } from '../ui/picker.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import type { Directory } from './fields/directory.ts'
import { matching, nameOf, optionsOf } from './fields/field.tsx'
import { filterFields, filterLabel, idFromUrl } from './fields/fields.tsx'
import { mark } from './fields/options.tsx'
import { type IssueSearch, isFiltered, isNegated, valuesOf, withoutFilters, withValues } from './fields/search.ts'

type FilterField = (typeof filterFields)[number]

interface Props {
  search: IssueSearch
  directory: Directory
  onSearch: (next: (before: IssueSearch) => IssueSearch, how?: { replace: boolean }) => void
  /** Moves the focus from the text filter to the list. */
  onLeave: () => void
  actions?: ReactNode
}

/** The filters as chips. They are stored in the URL. */
export function Filters({ search, directory, onSearch, onLeave, actions }: Props) {
  const ask = usePicker()
  const button = useRef<HTMLButtonElement>(null)

  const askValues = (anchor: Element | null, field: FilterField) => {
    let chosen = valuesOf(search, field.id)
    let picked = false
    const idOf = (value: string) => idFromUrl(field, value, directory)
    const { conditions } = field
    const all = optionsOf(field, directory)
    ask(anchor, {
      title: `${filterLabel(field)} ${operatorOf(isNegated(search, field.id), chosen.length)}`,
      // Dates can be typed.
      options: conditions ? async (query) => [...matching(all, query), ...(await conditions.search(query))] : all,
      ...(conditions && { footer: 'Or type a date: tomorrow, next Friday, 24 Dec.' }),
      multiple: true,
      selected: chosen.map(idOf),
      onPick: (id) => {
        const others = chosen.filter((value) => idOf(value) !== id)
        const added = others.length < chosen.length ? [] : [field.toUrl?.(id, directory) ?? id]
        const next = [...others, ...added]
        chosen = next
        // All picks of one menu are one step in the browser history.
        onSearch((before) => withValues(before, field.id, next), { replace: picked })
        picked = true
      },
    })
  }
  const askField = (anchor: Element | null) =>
    ask(anchor, {
      title: 'Filter by',
      options: filterFields.map((field) => ({
        value: field.id,
        label: filterLabel(field),
        // The name of the field elsewhere, such as Delegate.
        keywords: field.label,
        icon: mark(field.icon),
      })),
      onPick: (value) => {
        const field = filterFields.find(({ id }) => id === value)
        // In the same menu, so that typing continues there.
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
      ...(!isFiltered(search) && { hidden: true }),
      run: () => onSearch(withoutFilters),
    },
  ])
  const set = filterFields.filter(({ id }) => search[id])
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
      {set.map((field) => {
        const values = valuesOf(search, field.id)
        const negated = isNegated(search, field.id)
        return (
          <Chip
            key={field.id}
            name={filterLabel(field)}
            operator={operatorOf(negated, values.length)}
            opposite={operatorOf(!negated, values.length)}
            value={listText(values.map((value) => valueName(field, value, directory)))}
            onOperator={() => onSearch((before) => withValues(before, field.id, values, !negated))}
            onEdit={(anchor) => askValues(anchor, field)}
            onRemove={() => onSearch((before) => withValues(before, field.id, []))}
          />
        )
      })}
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

function valueName(field: FilterField, value: string, directory: Directory) {
  if (value === 'me') return 'Me'
  if (!field.conditions || value === none) return nameOf(field, idFromUrl(field, value, directory), directory)
  const name = field.conditions.labelOf(value)
  return /^(In|Before|After|Today|Overdue)\b/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name
}

const operatorOf = (negated: boolean, count: number) =>
  count > 1 ? (negated ? 'is none of' : 'is any of') : negated ? 'is not' : 'is'

const listText = (values: string[]) => (values.length > 3 ? `${values.length} values` : values.join(', '))

interface ChipProps {
  name: string
  operator: string
  /** The operator that replaces it when it is clicked. */
  opposite: string
  value: string
  onOperator: () => void
  onEdit: (anchor: Element) => void
  onRemove: () => void
}

function Chip({ name, operator, opposite, value, onOperator, onEdit, onRemove }: ChipProps) {
  const words = `${name} ${operator} ${value}`
  return (
    <span className="inline-flex h-6 max-w-full items-center rounded border border-line-strong bg-surface text-xs">
      <span className="shrink-0 pl-2 text-ink-3">{name}</span>
      <button
        type="button"
        aria-label={`${operator}: change to “${name} ${opposite}”`}
        title={`Change to “${opposite}”`}
        onClick={onOperator}
        className="h-full shrink-0 px-1 text-ink-2 hover:bg-hover hover:text-ink"
      >
        {operator}
      </button>
      <button
        type="button"
        aria-label={words}
        onClick={({ currentTarget }) => onEdit(currentTarget)}
        className="h-full min-w-0 truncate pr-2 pl-1 font-medium hover:bg-hover"
      >
        {value}
      </button>
      <button
        type="button"
        aria-label={`Remove filter: ${words}`}
        onClick={onRemove}
        className="flex h-full w-6 shrink-0 items-center justify-center rounded-r border-l text-ink-3 hover:bg-hover hover:text-ink"
      >
        <X size={12} aria-hidden />
      </button>
    </span>
  )
}

const delayMs = 120

/** Filters a moment after the last key, so that typing does not wait for a long list. */
function TextFilter({ search: { q = '' }, onSearch, onLeave }: Pick<Props, 'search' | 'onSearch' | 'onLeave'>) {
  const [text, setText] = useState(q)
  const input = useRef<HTMLInputElement>(null)
  const sent = useRef(q)
  useEffect(() => {
    // Changed by Back, a view or Clear.
    if (q === sent.current) return
    sent.current = q
    setText(q)
  }, [q])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      onSearch(({ q: _, ...others }) => (text ? { ...others, q: text } : others), { replace: true })
    }, delayMs)
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
