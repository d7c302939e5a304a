import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { showOverlay, useOverlay } from '../data/overlay.ts'
import { cx } from '../ui/class-names.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { useCommandList } from '../ui/shortcuts.ts'
import { commandIcon, listedCommands } from './palette-commands.ts'
import { type Entry, matches, useFound } from './palette-search.tsx'

/** Searches the workspace, and lists the commands of this screen. */
export function Palette() {
  const open = useOverlay()?.name === 'palette'
  return (
    <Dialog open={open} onClose={() => showOverlay(null)} title="Search and commands" bare>
      {open && <Search />}
    </Dialog>
  )
}

function Search() {
  const commands = listedCommands(useCommandList())
  const [query, setQuery] = useState('')
  /** By id: results that arrive later must not move the choice to another entry. */
  const [chosen, setChosen] = useState<string | null>(null)
  const wanted = query.trim().toLowerCase()
  const { found, comments, searching } = useFound(wanted)
  const listId = useId()
  const listRef = useRef<HTMLDivElement>(null)
  const entries: Entry[] = [
    ...found,
    ...commands
      .filter(({ title, section }) => matches(wanted, `${section} ${title}`))
      .map((command) => {
        const Icon = commandIcon(command)
        return { ...command, icon: <Icon size={15} aria-hidden className="shrink-0 text-ink-3" /> }
      }),
    ...comments,
  ]
  const at = Math.max(
    0,
    entries.findIndex(({ id }) => id === chosen),
  )
  const active = entries[at]

  // biome-ignore lint/correctness/useExhaustiveDependencies: when another entry becomes active
  useEffect(() => {
    listRef.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' })
  }, [active?.id])

  const run = (entry: Entry | undefined) => {
    if (!entry) return
    showOverlay(null)
    // The dialog must be closed before the command can move the focus.
    setTimeout(entry.run)
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const count = Math.max(1, entries.length)
    if (event.key === 'ArrowDown') setChosen(entries[(at + 1) % count]?.id ?? null)
    else if (event.key === 'ArrowUp') setChosen(entries[(at - 1 + count) % count]?.id ?? null)
    else if (event.key === 'Enter') run(active)
    else return
    event.preventDefault()
  }
  return (
    <div className="flex max-h-[60dvh] flex-col">
      <input
        role="combobox"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={active ? `${listId}-${active.id}` : undefined}
        aria-label="Search issues and commands"
        placeholder="Search or type a command…"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value)
          setChosen(null)
        }}
        onKeyDown={pressed}
        className="h-12 shrink-0 border-b bg-transparent px-4 text-lg outline-none placeholder:text-ink-3"
      />
      <div
        ref={listRef}
        id={listId}
        role="listbox"
        aria-label="Results"
        className="min-h-0 flex-1 overflow-y-auto p-1.5"
      >
        {entries.length === 0 && (
          <p className="px-3 py-4 text-ink-3">{searching ? 'Searching…' : `No results for “${query}”.`}</p>
        )}
        {entries.map((entry, index) => (
          <div key={entry.id} role="presentation">
            {entry.section !== entries[index - 1]?.section && (
              <div role="presentation" className="px-2.5 pt-2 pb-1 text-2xs font-medium text-ink-3">
                {entry.section}
              </div>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the combobox above handles the keys */}
            {/* biome-ignore lint/a11y/useFocusableInteractive: focus stays in the combobox */}
            <div
              id={`${listId}-${entry.id}`}
              role="option"
              aria-selected={entry === active}
              data-active={entry === active ? '' : undefined}
              onPointerMove={() => setChosen(entry.id)}
              onClick={() => run(entry)}
              className={cx('flex h-8 items-center gap-2.5 rounded px-2.5', entry === active && 'bg-hover')}
            >
              {entry.icon}
              <span className="min-w-0 flex-1 truncate">
                <bdi>{entry.title}</bdi>
              </span>
              {entry.hint && <span className="max-w-48 shrink-0 truncate text-xs text-ink-3">{entry.hint}</span>}
              {entry.keys && <Kbd keys={entry.keys} />}
            </div>
          </div>
        ))}
      </div>
    </div>
  )
}
