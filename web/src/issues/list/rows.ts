import type { Issue } from '@baton/protocol'
import { useCallback, useMemo, useRef, useState } from 'react'
import type { Group } from '../fields/filter-and-group.ts'

/** An issue in a group. Grouped by label, an issue has a row in each of its labels. */
export interface Row {
  key: string
  issue: Issue
  group: string
}

export const rowIn = (group: string, issue: Issue): Row => ({ key: `${group}/${issue.id}`, issue, group })

export const rowsOf = (groups: readonly Group[], collapsed: ReadonlySet<string>): Row[] =>
  groups
    .filter(({ value }) => !collapsed.has(value))
    .flatMap(({ value, issues }) => issues.map((issue) => rowIn(value, issue)))

interface Place {
  key: string
  issueId: string
  /** Its last position, for when it disappears. */
  index: number
}

/** The current row. It follows its issue to other groups; when the issue disappears, the next row becomes current. */
export function useCurrentRow(rows: readonly Row[]) {
  const [place, setPlace] = useState<Place | null>(null)
  const index = useMemo(() => indexOf(rows, place), [rows, place])
  const now = rows[index]
  // From now on follows the row that replaced it.
  if (place && now && (now.key !== place.key || index !== place.index)) {
    setPlace({ key: now.key, issueId: now.issue.id, index })
  }
  const latest = useRef({ rows, index })
  latest.current = { rows, index }
  const goTo = useCallback((next: number) => {
    const { rows } = latest.current
    const at = Math.max(0, Math.min(next, rows.length - 1))
    const row = rows[at]
    // Several keys may be pressed before the next render.
    latest.current = { rows, index: row ? at : -1 }
    setPlace(row ? { key: row.key, issueId: row.issue.id, index: at } : null)
    return row
  }, [])
  const move = useCallback(
    (by: number) => {
      const { index, rows } = latest.current
      return goTo(index < 0 ? (by > 0 ? 0 : rows.length - 1) : index + by)
    },
    [goTo],
  )
  const goToKey = useCallback((key: string) => goTo(latest.current.rows.findIndex((row) => row.key === key)), [goTo])
  /** Moves to a row that appears with the next render. */
  const expect = useCallback(({ key, issue }: Row) => setPlace({ key, issueId: issue.id, index: 0 }), [])
  return { index, row: rows[index], goTo, goToKey, expect, move, latest }
}
export type CurrentRow = ReturnType<typeof useCurrentRow>

function indexOf(rows: readonly Row[], place: Place | null): number {
  if (!place) return -1
  if (rows[place.index]?.key === place.key) return place.index
  const same = rows.findIndex(({ key }) => key === place.key)
  if (same >= 0) return same
  const moved = rows.findIndex(({ issue }) => issue.id === place.issueId)
  return moved >= 0 ? moved : Math.min(place.index, rows.length - 1)
}

/** The selected issues. A range starts at the last selected one. */
export function useSelection(rows: readonly Row[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const from = useRef<string | null>(null)
  const latest = useRef(rows)
  latest.current = rows

  const toggle = useCallback((row: Row) => {
    from.current = row.key
    setIds((before) => {
      const after = new Set(before)
      if (!after.delete(row.issue.id)) after.add(row.issue.id)
      return after
    })
  }, [])
  const extendTo = useCallback((row: Row) => {
    const rows = latest.current
    const end = rows.findIndex(({ key }) => key === row.key)
    const begin = rows.findIndex(({ key }) => key === (from.current ?? row.key))
    const [first, last] = begin < 0 ? [end, end] : [Math.min(begin, end), Math.max(begin, end)]
    setIds((before) => new Set([...before, ...rows.slice(first, last + 1).map(({ issue }) => issue.id)]))
    from.current = row.key
  }, [])
  const all = useCallback(() => setIds(new Set(latest.current.map(({ issue }) => issue.id))), [])
  const clear = useCallback(() => setIds((before) => (before.size > 0 ? new Set() : before)), [])

  /** Selected issues that are in the list. Hidden issues must not be changed. */
  const issues = useMemo(() => {
    if (ids.size === 0) return []
    return [...new Map(rows.filter(({ issue }) => ids.has(issue.id)).map(({ issue }) => [issue.id, issue])).values()]
  }, [ids, rows])
  return { ids, issues, toggle, extendTo, all, clear }
}

/** Moves to the same position in the next column that has cards. */
export function toColumn(by: 1 | -1, rows: readonly Row[], current: CurrentRow) {
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
