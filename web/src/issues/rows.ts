import type { Issue } from '@baton/protocol'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Group } from './arrange.ts'

/** An issue where it stands: with several labels it stands under each of them. */
export interface Row {
  key: string
  issue: Issue
  group: string
}

export const rowsOf = (groups: readonly Group[], folded: ReadonlySet<string>): Row[] =>
  groups
    .filter(({ value }) => !folded.has(value))
    .flatMap(({ value, issues }) => issues.map((issue) => ({ key: `${value}/${issue.id}`, issue, group: value })))

interface Place {
  key: string
  issueId: string
  /** Where to look when it is gone. */
  index: number
}

/** The row that the keyboard is at. It follows its issue to other groups; when that goes, the next one takes its place. */
export function useCurrentRow(rows: readonly Row[]) {
  const [place, setPlace] = useState<Place | null>(null)
  const index = useMemo(() => indexOf(rows, place), [rows, place])
  const now = rows[index]
  // Whoever took the place of what went is current from now on, wherever it goes.
  if (place && now && (now.key !== place.key || index !== place.index)) {
    setPlace({ key: now.key, issueId: now.issue.id, index })
  }
  const latest = useRef({ rows, index })
  latest.current = { rows, index }
  const goTo = useCallback((next: number) => {
    const { rows } = latest.current
    const at = Math.max(0, Math.min(next, rows.length - 1))
    const row = rows[at]
    // Several keys may be pressed before the screen is drawn again.
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
  return { index, row: rows[index], goTo, goToKey, move, latest }
}

function indexOf(rows: readonly Row[], place: Place | null): number {
  if (!place) return -1
  if (rows[place.index]?.key === place.key) return place.index
  const same = rows.findIndex(({ key }) => key === place.key)
  if (same >= 0) return same
  const moved = rows.findIndex(({ issue }) => issue.id === place.issueId)
  return moved >= 0 ? moved : Math.min(place.index, rows.length - 1)
}

/** Which issues are chosen together; the last one chosen is where a range begins. */
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

  /** What is chosen and can be seen; what has gone from the screen must not be changed unseen. */
  const issues = useMemo(() => {
    if (ids.size === 0) return []
    return [...new Map(rows.filter(({ issue }) => ids.has(issue.id)).map(({ issue }) => [issue.id, issue])).values()]
  }, [ids, rows])
  return { ids, issues, toggle, extendTo, all, clear }
}

const remembered = 'baton.folded'

/** Groups that are folded away, remembered for each way of grouping. */
export function useFolded(grouping: string) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => new Set(read()))
  useEffect(() => localStorage.setItem(remembered, JSON.stringify([...folded].slice(-200))), [folded])
  const own = useMemo(() => {
    const prefix = `${grouping}:`
    return new Set([...folded].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)))
  }, [folded, grouping])
  const fold = useCallback(
    (value: string) =>
      setFolded((before) => {
        const after = new Set(before)
        const key = `${grouping}:${value}`
        if (!after.delete(key)) after.add(key)
        return after
      }),
    [grouping],
  )
  return { folded: own, fold }
}

function read(): string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(remembered) ?? '[]')
    return Array.isArray(value) ? value.filter((key) => typeof key === 'string') : []
  } catch {
    return []
  }
}
