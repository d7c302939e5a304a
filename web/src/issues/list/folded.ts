import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Group } from '../fields/arrange.ts'
import { type CurrentRow, rowIn } from './rows.ts'

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
  const unfoldAll = useCallback(
    () => setFolded((before) => new Set([...before].filter((key) => !key.startsWith(`${grouping}:`)))),
    [grouping],
  )
  return { folded: own, fold, unfoldAll }
}

/** Left folds the group one is in and goes on to the next; right unfolds the nearest one, and goes there. */
export function foldOrUnfold(
  by: 1 | -1,
  groups: readonly Group[],
  { folded, fold }: ReturnType<typeof useFolded>,
  current: CurrentRow,
) {
  const { row, latest } = current
  const at = groups.findIndex(({ value }) => value === row?.group)
  if (by < 0 && row) {
    const { rows } = latest.current
    const after = rows.findIndex(({ group }, index) => index > current.index && group !== row.group)
    current.goTo(after < 0 ? rows.findIndex(({ group }) => group === row.group) - 1 : after)
    fold(row.group)
  } else if (by > 0) {
    const isFolded = ({ value }: Group) => folded.has(value)
    const nearest = groups.slice(0, Math.max(0, at)).findLast(isFolded) ?? groups.slice(at + 1).find(isFolded)
    const [first] = nearest?.issues ?? []
    if (!nearest || !first) return
    current.expect(rowIn(nearest.value, first))
    fold(nearest.value)
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
