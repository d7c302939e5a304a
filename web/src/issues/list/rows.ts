import { useCallback, useMemo, useRef, useState } from 'react'
import type { Group, Row } from '../fields/group-issues.ts'

export const rowsOf = (groups: readonly Group[], collapsed: ReadonlySet<string>): Row[] =>
  groups.flatMap(({ value, rows }) => (collapsed.has(value) ? [] : rows))

interface Place {
  row: Row
  /** Its last position, for when it disappears. */
  index: number
}

/** The current row. It follows its issue to other groups; when the issue disappears, the next row becomes current. */
export function useCurrentRow(rows: readonly Row[]) {
  const [place, setPlace] = useState<Place | null>(null)
  const index = useMemo(() => indexOf(rows, place), [rows, place])
  const now = rows[index]
  // From now on follows the row that replaced it.
  if (place && now && (now !== place.row || index !== place.index)) setPlace({ row: now, index })
  const latest = useRef({ rows, index })
  latest.current = { rows, index }
  const goTo = useCallback((next: number) => {
    const { rows } = latest.current
    const at = Math.max(0, Math.min(next, rows.length - 1))
    const row = rows[at]
    // Several keys may be pressed before the next render.
    latest.current = { rows, index: row ? at : -1 }
    setPlace(row ? { row, index: at } : null)
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
  const expect = useCallback((row: Row) => setPlace({ row, index: 0 }), [])
  return { index, row: rows[index], goTo, goToKey, expect, move, latest }
}
export type CurrentRow = ReturnType<typeof useCurrentRow>

function indexOf(rows: readonly Row[], place: Place | null): number {
  if (!place) return -1
  const { row, index } = place
  if (rows[index] === row) return index
  const same = rows.indexOf(row)
  if (same >= 0) return same
  const changed = rows.findIndex(({ key }) => key === row.key)
  if (changed >= 0) return changed
  const moved = rows.findIndex(({ issue }) => issue.id === row.issue.id)
  return moved >= 0 ? moved : Math.min(index, rows.length - 1)
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
export function toColumn(by: 1 | -1, groups: readonly Group[], current: CurrentRow) {
  const { row, latest } = current
  if (!row) return current.goTo(0)
  const columns = groups.filter(({ rows }) => rows.length > 0)
  const at = columns.findIndex(({ value }) => value === row.group)
  const next = columns[at + by]?.rows
  if (!next) return row
  const height = columns[at]?.rows.indexOf(row) ?? 0
  const beside = next[Math.min(height, next.length - 1)]
  return beside ? current.goTo(latest.current.rows.indexOf(beside)) : row
}
