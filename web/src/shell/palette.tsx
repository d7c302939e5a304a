import type { Issue } from '@baton/protocol'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react'
import { api } from '../data/api.ts'
import { useIssues } from '../data/issues.ts'
import { showOverlay, useOverlay } from '../data/overlay.ts'
import { StatusIcon } from '../issues/fields/values.tsx'
import { cx } from '../ui/class-names.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { useCommandList } from '../ui/shortcuts.ts'

interface Entry {
  id: string
  section: string
  title: string
  icon?: ReactNode
  keys?: string | undefined
  run: () => void
}

/** Searches issues and the commands of this screen. */
export function Palette() {
  const open = useOverlay()?.name === 'palette'
  return (
    <Dialog open={open} onClose={() => showOverlay(null)} title="Search and commands" bare>
      {open && <Search />}
    </Dialog>
  )
}

const matches = (wanted: string, title: string) =>
  wanted.split(/\s+/).every((word) => title.toLowerCase().includes(word))

/** Loaded issues at once, then the results of a search on the server. */
function useFoundIssues(wanted: string): Issue[] {
  const { issues, complete } = useIssues()
  const [remote, setRemote] = useState<Issue[]>([])
  useEffect(() => {
    setRemote([])
    if (wanted.length < 2) return
    let current = true
    const timer = setTimeout(
      async () => {
        const found = await api.listIssues({ query: wanted, limit: 20 }).catch(() => ({ data: [] }))
        if (current) setRemote(found.data)
      },
      complete ? 250 : 100,
    )
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [wanted, complete])
  return useMemo(() => {
    if (!wanted) return []
    const local = issues.filter(({ code, title }) => matches(wanted, `${code} ${title}`)).slice(0, 12)
    const known = new Set(local.map(({ id }) => id))
    return [...local, ...remote.filter(({ id }) => !known.has(id))].slice(0, 20)
  }, [wanted, issues, remote])
}

function Search() {
  const navigate = useNavigate()
  const commands = useCommandList()
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const wanted = query.trim().toLowerCase()
  const issues = useFoundIssues(wanted)
  const listId = useId()
  const listRef = useRef<HTMLDivElement>(null)
  const entries: Entry[] = [
    ...issues.map((issue) => ({
      id: issue.id,
      section: 'Issues',
      title: `${issue.code}  ${issue.title}`,
      icon: <StatusIcon status={issue.status} />,
      run: () => void navigate({ to: '/issue/$code', params: { code: issue.code } }),
    })),
    ...commands.filter(({ hidden, title, section }) => !hidden && matches(wanted, `${section} ${title}`)),
  ]
  const active = entries[Math.min(at, entries.length - 1)]

  useEffect(() => {
    if (active) listRef.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' })
  }, [active])

  const run = (entry: Entry | undefined) => {
    if (!entry) return
    showOverlay(null)
    // The dialog must be closed before the command can move the focus.
    setTimeout(entry.run)
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown') setAt((at + 1) % Math.max(1, entries.length))
    else if (event.key === 'ArrowUp') setAt((at - 1 + entries.length) % Math.max(1, entries.length))
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
        placeholder="Search issues, or type a command…"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value)
          setAt(0)
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
        {entries.length === 0 && <p className="px-3 py-4 text-ink-3">No results for “{query}”.</p>}
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
              onPointerMove={() => setAt(index)}
              onClick={() => run(entry)}
              className={cx('flex h-8 items-center gap-2.5 rounded px-2.5', entry === active && 'bg-hover')}
            >
              {entry.icon}
              <span className="min-w-0 flex-1 truncate">{entry.title}</span>
              {entry.keys && <Kbd keys={entry.keys} />}
            </div>
          </div>
        ))}
      </div>
    </div>
  )
}
