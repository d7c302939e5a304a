import { useCallback, useRef, useState } from 'react'

/** Selected items of a list, by id. `ids` are those in the list, in order; ids that left it no longer count. */
export function useIdSelection(ids: readonly string[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const from = useRef<string | null>(null)
  const latest = useRef(ids)
  latest.current = ids
  const toggle = useCallback((id: string) => {
    from.current = id
    setChosen((before) => {
      const after = new Set(before)
      if (!after.delete(id)) after.add(id)
      return after
    })
  }, [])
  /** Selects everything between the item that was last toggled and this one. */
  const extendTo = useCallback((id: string) => {
    const list = latest.current
    const end = list.indexOf(id)
    const start = from.current === null ? -1 : list.indexOf(from.current)
    const [first, last] = start < 0 ? [end, end] : [Math.min(start, end), Math.max(start, end)]
    setChosen((before) => new Set([...before, ...list.slice(first, last + 1)]))
    from.current = id
  }, [])
  const all = useCallback(() => setChosen(new Set(latest.current)), [])
  const clear = useCallback(() => setChosen(new Set()), [])
  return { selected: new Set(ids.filter((id) => chosen.has(id))), toggle, extendTo, all, clear }
}
