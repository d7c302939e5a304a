import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Group } from '../fields/group-issues.ts'
import type { CurrentRow } from './rows.ts'

const remembered = 'baton.folded'

/** The collapsed groups, remembered for each grouping. */
export function useCollapsed(grouping: string) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(() => new Set(read()))
  useEffect(() => localStorage.setItem(remembered, JSON.stringify([...collapsed].slice(-200))), [collapsed])
  const own = useMemo(() => {
    const prefix = `${grouping}:`
    return new Set([...collapsed].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)))
  }, [collapsed, grouping])
  const toggle = useCallback(
    (value: string) =>
      setCollapsed((before) => {
        const after = new Set(before)
        const key = `${grouping}:${value}`
        if (!after.delete(key)) after.add(key)
        return after
      }),
    [grouping],
  )
  const expandAll = useCallback(
    () => setCollapsed((before) => new Set([...before].filter((key) => !key.startsWith(`${grouping}:`)))),
    [grouping],
  )
  return { collapsed: own, toggle, expandAll }
}

/** Left collapses the current group and moves to the next; right expands the nearest group and moves there. */
export function collapseOrExpand(
  by: 1 | -1,
  groups: readonly Group[],
  { collapsed, toggle }: ReturnType<typeof useCollapsed>,
  current: CurrentRow,
) {
  const { row, latest } = current
  const at = groups.findIndex(({ value }) => value === row?.group)
  if (by < 0 && row) {
    const { rows } = latest.current
    const after = rows.findIndex(({ group }, index) => index > current.index && group !== row.group)
    current.goTo(after < 0 ? rows.findIndex(({ group }) => group === row.group) - 1 : after)
    toggle(row.group)
  } else if (by > 0) {
    const isCollapsed = ({ value }: Group) => collapsed.has(value)
    const nearest = groups.slice(0, Math.max(0, at)).findLast(isCollapsed) ?? groups.slice(at + 1).find(isCollapsed)
    const [first] = nearest?.rows ?? []
    if (!nearest || !first) return
    current.expect(first)
    toggle(nearest.value)
  }
}

function read(): string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(remembered) ?? '[]')
    return Array.isArray(value) ? value.filter((key) => typeof key === 'string') : []
  } catch {
    return []
  }
}
