import { type FocusEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import { isTyping, useCommands } from './shortcuts.ts'

/** How an item of a list shows that one is at its row; the row itself has no ring. */
export const rowItem = 'hover:bg-hover focus-within:bg-hover has-focus-visible:shadow-[inset_2px_0_var(--accent)]'

const rowAt = (target: EventTarget) =>
  target instanceof Element ? target.closest('li')?.querySelector<HTMLElement>('[data-row]') : null

/**
 * A list whose items each have a link with `data-row={id}`: J, K and the pointer give it the focus, and so Enter opens
 * it. `list` goes on what is around them all; `at` is the one with the focus, for keys that change it.
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
    // Its row is another one now, in another group; or it went, and the next one takes its place.
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
      // Going elsewhere is leaving; a row that is taken away is not, nor a menu over the list.
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
