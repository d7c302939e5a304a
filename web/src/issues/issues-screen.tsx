import type { Issue } from '@baton/protocol'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useLatestSessions } from '../agent-sessions/queries.ts'
import { showOverlay } from '../shell/overlay.ts'
import { none } from '../ui/picker.tsx'
import { Skeletons } from '../ui/states.tsx'
import { arrange, filterOf, groupingOf, sortingOf } from './arrange.ts'
import type { Drop } from './board-drag.ts'
import { useChoose } from './choose.ts'
import { presetFor, usePreset } from './create-preset.ts'
import { useDelegate } from './delegate.tsx'
import { handOver } from './hand-over.ts'
import { type Known, useKnown } from './known.tsx'
import { List } from './list.tsx'
import { ListOrEmpty } from './list-or-empty.tsx'
import { rememberList } from './list-order.ts'
import { dropCards } from './move.ts'
import { Peek } from './peek.tsx'
import { type PressEvent, rowId } from './press.ts'
import { useRowCommands } from './row-commands.ts'
import { type Row, rowsOf, useCurrentRow, useFolded, useSelection } from './rows.ts'
import type { IssueSearch } from './search.ts'
import { type Deed, SelectionBar } from './selection-bar.tsx'
import { useIssues } from './store.ts'
import { Toolbar } from './toolbar.tsx'

const DeleteIssues = lazy(() => import('./delete-issues.tsx').then((module) => ({ default: module.DeleteIssues })))
const Board = lazy(() => import('./board.tsx').then((module) => ({ default: module.Board })))

/** Columns of a board stand there before anything is in them. */
const always: Record<string, (known: Known) => string[]> = {
  status: ({ options }) => options.status.map(({ value }) => value),
  priority: ({ options }) => options.priority.map(({ value }) => value),
}
const noFolds: ReadonlySet<string> = new Set()

function useArranged(search: IssueSearch, known: Known) {
  const { issues } = useIssues()
  const { me, teams } = known
  const passes = useMemo(
    () => filterOf(search, { me, teamIds: new Map(teams.map(({ key, id }) => [key, id])) }),
    [search, me, teams],
  )
  const shown = useMemo(() => issues.filter(passes), [issues, passes])
  const grouping = groupingOf(search)
  const sorting = sortingOf(search)
  const board = search.layout === 'board'
  const groups = useMemo(
    () =>
      arrange(shown, {
        grouping,
        sorting,
        board,
        nameOf: (value) => (grouping === 'none' ? '' : known.nameOf(grouping, value)),
        always: board ? (always[grouping]?.(known) ?? []) : [],
      }),
    [shown, grouping, sorting, board, known],
  )
  return { groups, count: shown.length, grouping, sorting, board }
}

export function IssuesScreen() {
  const search: IssueSearch = useSearch({ from: '/person/inside/issues' })
  const navigate = useNavigate()
  const known = useKnown()
  const sessions = useLatestSessions()
  const { groups, count, grouping, sorting, board } = useArranged(useFilters(search), known)
  const { folded, fold } = useFolded(grouping)
  const rows = useMemo(() => rowsOf(groups, board ? noFolds : folded), [groups, folded, board])
  const current = useCurrentRow(rows)
  const selection = useSelection(rows)
  const [editing, setEditing] = useState<string | null>(null)
  const [deleting, setDeleting] = useState<readonly Issue[]>([])
  const choose = useChoose()
  const delegate = useDelegate()
  const grid = useRef<HTMLElement>(null)
  usePreset(search, known)
  useEffect(() => rememberList(rows.map(({ issue }) => issue.id)), [rows])

  const onSearch = useCallback(
    (next: (before: IssueSearch) => IssueSearch, { replace = false } = {}) =>
      void navigate({ to: '/issues', search: (before: IssueSearch) => next(before), replace }),
    [navigate],
  )
  const setPeek = (code: string | undefined) =>
    onSearch(({ peek, ...others }) => (code ? { ...others, peek: code } : others), {
      replace: Boolean(search.peek) && Boolean(code),
    })
  const openPage = (issue: Issue) => void navigate({ to: '/issue/$code', params: { code: issue.code } })
  const focus = useCallback(() => grid.current?.focus({ preventScroll: true }), [])
  const onEdited = useCallback(() => {
    setEditing(null)
    focus()
  }, [focus])
  const gridRef = useCallback((element: HTMLElement | null) => {
    grid.current = element
  }, [])
  const onCreateIn = useCallback(
    (value: string) => showOverlay({ name: 'create-issue', with: presetFor({ ...search, [grouping]: value }, known) }),
    [search, grouping, known],
  )
  useFollow(search.peek, current, (code) => setPeek(code))

  const doIt = (deed: Deed, anchor?: Element) => {
    const issues = selection.issues.length > 0 ? selection.issues : current.row ? [current.row.issue] : []
    if (issues.length === 0) return
    const beside = anchor ?? placeOf(current.row, deed)
    if (deed === 'delete') setDeleting(issues)
    else if (deed === 'delegate') delegate(beside, [...issues])
    else if (deed === 'move') choose.move(beside, issues, { grouping, from: current.row?.group })
    else choose[deed](beside, issues)
  }
  const stepBack = () => {
    if (selection.issues.length > 0) selection.clear()
    else if (search.peek) setPeek(undefined)
  }
  const press = (row: Row, what: string | undefined, { anchor, shiftKey, modKey, double }: PressEvent) => {
    current.goToKey(row.key)
    if (double) {
      if (what === 'title') setEditing(row.key)
    } else if (shiftKey) selection.extendTo(row)
    else if (what === 'select' || modKey) selection.toggle(row)
    else if (what === 'status' || what === 'priority' || what === 'assignee') choose[what](anchor, [row.issue])
    else if (what === 'open' || innerWidth < 860) openPage(row.issue)
    else if (search.peek !== row.issue.code) setPeek(row.issue.code)
  }
  const drop = (card: Drop) => {
    const chosen = selection.ids.has(card.row.issue.id) ? selection.issues : [card.row.issue]
    if (grouping === 'delegate' && card.column !== card.row.group) {
      const agent = card.column === none ? null : { id: card.column, name: known.nameOf('delegate', card.column) }
      const askAssignee = () => delegate(placeOf(card.row), [...chosen])
      void handOver({ issues: [...chosen], agent, me: known.me, askAssignee })
    } else dropCards(chosen, card, { rows, grouping, manual: sorting === 'manual', known })
  }
  useRowCommands({
    current,
    selection,
    page: () => Math.max(1, Math.floor((grid.current?.clientHeight ?? 600) / 36) - 2),
    focus,
    open: () => current.row && openPage(current.row.issue),
    peek: () => current.row && setPeek(search.peek === current.row.issue.code ? undefined : current.row.issue.code),
    rename: () => current.row && setEditing(current.row.key),
    escape: stepBack,
    doIt,
    ...(board && { sideways: (by) => sideways(by, rows, current) }),
  })
  const layout = {
    groups,
    grouping,
    rows,
    current: current.index,
    selected: selection.ids,
    editing,
    known,
    sessions,
    onPress: press,
    onEdited,
    onCreateIn,
    gridRef,
  }
  return (
    <div className="relative flex h-full min-w-0">
      <div className="relative flex min-w-0 flex-1 flex-col">
        <Toolbar search={search} known={known} count={count} onSearch={onSearch} onLeave={focus} />
        <div className="min-h-0 flex-1">
          <ListOrEmpty shown={count} search={search} onSearch={onSearch}>
            {board ? (
              <Suspense fallback={<Skeletons />}>
                <Board {...layout} onDrop={drop} />
              </Suspense>
            ) : (
              <List {...layout} folded={folded} onFold={fold} />
            )}
          </ListOrEmpty>
        </div>
        <SelectionBar issues={selection.issues} onDo={doIt} onClear={selection.clear} />
      </div>
      {search.peek && <Peek code={search.peek} onClose={() => setPeek(undefined)} />}
      <Suspense>{deleting.length > 0 && <DeleteIssues issues={deleting} onClose={() => setDeleting([])} />}</Suspense>
    </div>
  )
}

/** Where a menu opens: at what it changes in the row, else at the row. */
function placeOf(row: Row | undefined, deed?: Deed): Element | null {
  const place = row ? document.getElementById(rowId(row.key)) : null
  return place?.querySelector(`[data-do="${deed}"]`) ?? place?.querySelector('[data-do="title"]') ?? place
}

/** The same object for as long as the filters are the same, whatever is open beside the list. */
function useFilters({ peek: _, ...filters }: IssueSearch): IssueSearch {
  const key = JSON.stringify(filters)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what it says is its identity
  return useMemo(() => filters, [key])
}

/** What is open beside the list is the row that the keyboard is at, and the other way round when the screen opens. */
function useFollow(peek: string | undefined, current: ReturnType<typeof useCurrentRow>, show: (code: string) => void) {
  const code = current.row?.issue.code
  const rows = current.latest.current.rows
  const known = rows.length > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the keyboard moves, or the first rows are there
  useEffect(() => {
    if (!peek) return
    if (code) return peek === code ? undefined : show(code)
    const row = rows.find(({ issue }) => issue.code === peek)
    if (row) current.goToKey(row.key)
  }, [code, known])
}

/** The same height in the next column that has anything. */
function sideways(by: 1 | -1, rows: readonly Row[], current: ReturnType<typeof useCurrentRow>) {
  const { row } = current
  if (!row) return current.goTo(0)
  const columns = [...new Set(rows.map(({ group }) => group))]
  const next = columns[columns.indexOf(row.group) + by]
  if (!next) return row
  const height = rows.slice(0, current.index).filter(({ group }) => group === row.group).length
  const first = rows.findIndex(({ group }) => group === next)
  const length = rows.filter(({ group }) => group === next).length
  return current.goTo(first + Math.min(height, length - 1))
}
