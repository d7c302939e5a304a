import type { Issue } from '@baton/protocol'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useLatestSessions } from '../data/agent-sessions.ts'
import { showOverlay } from '../data/overlay.ts'
import { Skeletons } from '../ui/states.tsx'
import type { IssueSearch } from '../views/search.ts'
import { useDeeds } from './actions.ts'
import { presetFor, usePreset } from './create/create-preset.ts'
import { useKnown } from './fields/known.tsx'
import { rememberList } from './issue/neighbours.ts'
import { useArranged } from './list/arranged.ts'
import { foldOrUnfold, useFolded } from './list/folded.ts'
import { List } from './list/list.tsx'
import { ListOrEmpty } from './list/list-or-empty.tsx'
import type { PressEvent } from './list/press.ts'
import { type CurrentRow, type Row, rowsOf, toColumn, useCurrentRow, useSelection } from './list/rows.ts'
import { Peek } from './peek.tsx'
import { useRowCommands } from './row-commands.ts'
import { SelectionBar } from './selection-bar.tsx'
import { Toolbar } from './toolbar.tsx'

const DeleteIssues = lazy(() => import('./edit/delete-issues.tsx').then((module) => ({ default: module.DeleteIssues })))
const Board = lazy(() => import('./board/board.tsx').then((module) => ({ default: module.Board })))

/** A board folds nothing. */
const noFolds: ReadonlySet<string> = new Set()

export function IssuesScreen() {
  const search: IssueSearch = useSearch({ from: '/person/inside/issues' })
  const navigate = useNavigate()
  const known = useKnown()
  const sessions = useLatestSessions()
  const { groups, count, grouping, sorting, board } = useArranged(search, known)
  const folding = useFolded(grouping)
  const { folded } = folding
  const rows = useMemo(() => rowsOf(groups, board ? noFolds : folded), [groups, folded, board])
  const current = useCurrentRow(rows)
  const selection = useSelection(rows)
  const [editing, setEditing] = useState<string | null>(null)
  const deeds = useDeeds({ rows, current, selection, known, grouping, manual: sorting === 'manual' })
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
    else if (what === 'status' || what === 'priority' || what === 'assignee') deeds.doIt(what, anchor, [row.issue])
    else if (what === 'open' || innerWidth < 860) openPage(row.issue)
    else if (search.peek !== row.issue.code) setPeek(row.issue.code)
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
    doIt: deeds.doIt,
    // Without headings there is nothing to fold.
    ...(grouping !== 'none' && {
      sideways: board
        ? { left: 'Column to the left', right: 'Column to the right', go: (by) => toColumn(by, rows, current) }
        : { left: 'Fold the group', right: 'Unfold a group', go: (by) => foldOrUnfold(by, groups, folding, current) },
    }),
    ...(!board && folded.size > 0 && { unfoldAll: folding.unfoldAll }),
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
                <Board {...layout} onDrop={deeds.drop} />
              </Suspense>
            ) : (
              <List {...layout} folded={folded} onFold={folding.fold} />
            )}
          </ListOrEmpty>
        </div>
        <SelectionBar issues={selection.issues} onDo={deeds.doIt} onClear={selection.clear} />
      </div>
      {search.peek && <Peek code={search.peek} onClose={() => setPeek(undefined)} />}
      <Suspense>
        {deeds.deleting.length > 0 && <DeleteIssues issues={deeds.deleting} onClose={deeds.notDeleting} />}
      </Suspense>
    </div>
  )
}

/** What is open beside the list is the row that the keyboard is at, and the other way round when the screen opens. */
function useFollow(peek: string | undefined, current: CurrentRow, show: (code: string) => void) {
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
