import type { Issue } from '@baton/protocol'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useLatestSessions } from '../data/agent-sessions.ts'
import { useMe } from '../data/me.ts'
import { showOverlay } from '../data/overlay.ts'
import { Skeletons } from '../ui/states.tsx'
import { presetFor, usePreset } from './create/create-preset.ts'
import { useDirectory } from './fields/directory.ts'
import type { Row } from './fields/group-issues.ts'
import type { IssueSearch } from './fields/search.ts'
import { rememberList } from './issue/neighbours.ts'
import { collapseOrExpand, useCollapsed } from './list/collapsed.ts'
import { useGroupedIssues } from './list/grouped-issues.ts'
import { List } from './list/list.tsx'
import { ListOrEmpty } from './list/list-or-empty.tsx'
import type { RowClick } from './list/row-click.ts'
import { type CurrentRow, rowsOf, toColumn, useCurrentRow, useSelection } from './list/rows.ts'
import { Preview } from './preview.tsx'
import { useRowActions } from './row-actions.ts'
import { useRowCommands } from './row-commands.ts'
import { Toolbar } from './toolbar.tsx'

const DeleteIssues = lazy(() => import('./edit/delete-issues.tsx').then((module) => ({ default: module.DeleteIssues })))
const SelectionBar = lazy(() => import('./selection-bar.tsx').then((module) => ({ default: module.SelectionBar })))
const FirstSteps = lazy(() =>
  import('../workspaces/first-steps.tsx').then((module) => ({ default: module.FirstSteps })),
)
const Board = lazy(() => import('./board/board.tsx').then((module) => ({ default: module.Board })))

/** A board collapses no columns. */
const nothingCollapsed: ReadonlySet<string> = new Set()

export function IssuesScreen() {
  const search: IssueSearch = useSearch({ from: '/person/inside/issues' })
  const navigate = useNavigate()
  const { isManager } = useMe()
  const directory = useDirectory()
  const sessions = useLatestSessions()
  const { groups, count, grouping, sorting, board } = useGroupedIssues(search, directory)
  const groupState = useCollapsed(grouping)
  const { collapsed } = groupState
  const rows = useMemo(() => rowsOf(groups, board ? nothingCollapsed : collapsed), [groups, collapsed, board])
  const current = useCurrentRow(rows)
  const selection = useSelection(rows)
  const [editing, setEditing] = useState<string | null>(null)
  const actions = useRowActions({ rows, current, selection, directory, grouping, manual: sorting === 'manual' })
  const grid = useRef<HTMLElement>(null)
  usePreset(search, directory)
  useEffect(() => {
    // For create/last-team.ts, which is loaded later.
    if (search.team) localStorage.setItem(`team.${directory.me}`, search.team)
  }, [search.team, directory.me])
  const shown = useRef(groups)
  shown.current = groups
  const idsOf = useCallback(() => shown.current.flatMap(({ rows }) => rows.map(({ issue }) => issue.id)), [])
  useEffect(() => rememberList(rows), [rows])

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
    (value: string) =>
      showOverlay({ name: 'create-issue', with: presetFor({ ...search, [grouping]: value }, directory) }),
    [search, grouping, directory],
  )
  useFollowPreview(search.peek, current, (code) => setPeek(code))

  const stepBack = () => {
    if (selection.issues.length > 0) selection.clear()
    else if (search.peek) setPeek(undefined)
  }
  const onRowClick = (row: Row, target: string | undefined, { anchor, shiftKey, modKey, double }: RowClick) => {
    current.goToKey(row.key)
    if (double) {
      if (target === 'title') setEditing(row.key)
    } else if (shiftKey) selection.extendTo(row)
    else if (target === 'select' || modKey) selection.toggle(row)
    else if (target === 'status' || target === 'priority' || target === 'assignee')
      actions.run(target, anchor, [row.issue])
    else if (target === 'open' || innerWidth < 860) openPage(row.issue)
    else if (search.peek !== row.issue.code) setPeek(row.issue.code)
  }
  useRowCommands({
    current,
    selection,
    pageSize: () => Math.max(1, Math.floor((grid.current?.clientHeight ?? 600) / 36) - 2),
    focus,
    open: () => current.row && openPage(current.row.issue),
    peek: () => current.row && setPeek(search.peek === current.row.issue.code ? undefined : current.row.issue.code),
    rename: () => current.row && setEditing(current.row.key),
    escape: stepBack,
    runAction: actions.run,
    // Without headings there is nothing to collapse.
    ...(grouping !== 'none' && {
      sideways: board
        ? { left: 'Previous column', right: 'Next column', go: (by) => toColumn(by, groups, current) }
        : {
            left: 'Collapse group',
            right: 'Expand group',
            go: (by) => collapseOrExpand(by, groups, groupState, current),
          },
    }),
    ...(!board && collapsed.size > 0 && { expandAll: groupState.expandAll }),
  })
  const layout = {
    groups,
    grouping,
    rows,
    current: current.index,
    selected: selection.ids,
    editing,
    directory,
    sessions,
    onRowClick,
    onEdited,
    onCreateIn,
    gridRef,
  }
  return (
    <div className="relative flex h-full min-w-0">
      <div className="relative flex min-w-0 flex-1 flex-col">
        <Toolbar
          search={search}
          directory={directory}
          count={count}
          idsOf={idsOf}
          onSearch={onSearch}
          onLeave={focus}
        />
        <Suspense>{isManager && <FirstSteps />}</Suspense>
        <div className="min-h-0 flex-1">
          <ListOrEmpty shown={count} search={search} onSearch={onSearch}>
            {board ? (
              <Suspense fallback={<Skeletons />}>
                <Board {...layout} onDrop={(drop) => void actions.drop(drop)} />
              </Suspense>
            ) : (
              <List {...layout} collapsed={collapsed} onCollapse={groupState.toggle} />
            )}
          </ListOrEmpty>
        </div>
        <Suspense>
          {selection.issues.length > 0 && (
            <SelectionBar issues={selection.issues} onAction={actions.run} onClear={selection.clear} />
          )}
        </Suspense>
      </div>
      {search.peek && <Preview code={search.peek} onClose={() => setPeek(undefined)} />}
      <Suspense>
        {actions.deleting.length > 0 && <DeleteIssues issues={actions.deleting} onClose={actions.cancelDelete} />}
      </Suspense>
    </div>
  )
}

/** The preview shows the current row. When the screen opens with a preview, its row becomes current. */
function useFollowPreview(peek: string | undefined, current: CurrentRow, show: (code: string) => void) {
  const code = current.row?.issue.code
  const rows = current.latest.current.rows
  const loaded = rows.length > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the current row changes or the first rows are loaded
  useEffect(() => {
    if (!peek) return
    if (code) return peek === code ? undefined : show(code)
    const row = rows.find(({ issue }) => issue.code === peek)
    if (row) current.goToKey(row.key)
  }, [code, loaded])
}
