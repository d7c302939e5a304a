import { type RefObject, useRef } from 'react'
import { useCommands } from '../shortcuts.ts'

/** J and K go from row to row of a list whose rows are links; Enter opens the one that has the focus. */
export function useRowFocus<List extends HTMLElement>(): RefObject<List | null> {
  const list = useRef<List>(null)
  const go = (step: 1 | -1) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
    const at = rows.findIndex((row) => row.contains(document.activeElement))
    const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + step))
    rows[next]?.focus()
  }
  useCommands([
    { id: 'row.next', title: 'Next row', section: 'View', keys: 'j', hidden: true, run: () => go(1) },
    { id: 'row.previous', title: 'Previous row', section: 'View', keys: 'k', hidden: true, run: () => go(-1) },
  ])
  return list
}
