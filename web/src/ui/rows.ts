import { type FocusEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import { isTyping, useCommands } from './shortcuts.ts'

/** Marks the item whose row has the focus; the row itself has no focus ring. */
export const rowItem = 'hover:bg-hover focus-within:bg-hover has-focus-visible:shadow-[inset_2px_0_var(--accent)]'

const rowAt = (target: EventTarget) =>
  target instanceof Element ? target.closest('li')?.querySelector<HTMLElement>('[data-row]') : null

/**
 * Keyboard navigation for a list whose items each have a link with `data-row={id}`: J, K and the pointer focus it, and
 * Enter opens it. Spread `list` on the container; `at` is the id of the focused row.
 */
export function useRows(noun: string) {
  const list = useRef<HTMLElement>(null)
  const [at, setAt] = useState<string | null>(null)
  const index = useRef(0)
  const rows = () => [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
  const indexOf = (id: string | null) => rows().findIndex(({ dataset }) => dataset.row === id)
  const go = (step: 1 | -1) => {
    const all = rows()
    const now = indexOf(at)
    const next = now < 0 ? (step > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, now + step))
    all[next]?.focus()
  }
  useEffect(() => {
    // The focused row was rendered again in another group, or removed: focus it, or the row now in its position.
    if (!at || document.activeElement !== document.body) return
    const all = rows()
    const row = all[indexOf(at)] ?? all[Math.min(index.current, all.length - 1)]
    row?.focus({ preventScroll: true })
  })
  useCommands([
    { id: 'row.next', title: `Next ${noun}`, section: 'View', keys: 'j', hidden: true, run: () => go(1) },
    { id: 'row.previous', title: `Previous ${noun}`, section: 'View', keys: 'k', hidden: true, run: () => go(-1) },
  ])
  return {
    at,
    list: {
      ref: (element: HTMLElement | null) => {
        list.current = element
      },
      onFocus: ({ target }: FocusEvent) => {
        const id = rowAt(target)?.dataset.row ?? null
        index.current = indexOf(id)
        setAt(id)
      },
      // Keep `at` when the row is removed (no relatedTarget) or a menu over the list takes the focus.
      onBlur: ({ relatedTarget }: FocusEvent) => {
        if (relatedTarget && !relatedTarget.closest('dialog')) setAt(null)
      },
      onPointerMove: ({ target, pointerType }: PointerEvent) => {
        const row = rowAt(target)
        if (!row || row.dataset.row === at || pointerType === 'touch' || isTyping(document.activeElement)) return
        row.focus({ preventScroll: true })
      },
    },
  }
}
