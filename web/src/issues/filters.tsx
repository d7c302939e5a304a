import { ListFilter, Search, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { usePicker } from '../ui/picker.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import type { Directory } from './fields/directory.ts'
import { nameOf, optionsOf } from './fields/field.tsx'
import { filterFields, filterLabel, idFromUrl } from './fields/fields.tsx'
import { type IssueSearch, isFiltered, valuesOf, withoutFilters, withValues } from './fields/search.ts'

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
    ask(anchor, {
      title: `${filterLabel(field)} is`,
      options: optionsOf(field, directory),
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
      options: filterFields.map((field) => ({ value: field.id, label: filterLabel(field) })),
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
      {set.map((field) => (
        <Chip
          key={field.id}
          name={filterLabel(field)}
          value={listText(valuesOf(search, field.id).map((value) => valueName(field, value, directory)))}
          onEdit={(anchor) => askValues(anchor, field)}
          onRemove={() => onSearch((before) => withValues(before, field.id, []))}
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

const valueName = (field: FilterField, value: string, directory: Directory) =>
  value === 'me' ? 'Me' : nameOf(field, idFromUrl(field, value, directory), directory)

const listText = (values: string[]) => (values.length > 2 ? `${values.length} values` : values.join(' or '))

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
      aria-label={`Remove filter: ${props.name} is ${props.value}`}
      onClick={props.onRemove}
      className="flex h-full w-6 shrink-0 items-center justify-center rounded-r border-l text-ink-3 hover:bg-hover hover:text-ink"
    >
      <X size={12} aria-hidden />
    </button>
  </span>
)

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
