import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'
import type { Layout } from './layout.ts'

/** Rows rendered beyond the edges, so that scrolling shows no gap. */
const overscan = 10

interface Range {
  /** The first visible item, and the first one after the visible ones. */
  first: number
  end: number
}

/**
 * The visible items of a long list. Heights are known in advance, so nothing is measured and a jump to the end of ten
 * thousand items costs the same as a step.
 */
export function useVisible(scroller: RefObject<HTMLElement | null>, layout: Layout) {
  const [range, setRange] = useState<Range>({ first: 0, end: 40 })
  const latest = useRef(layout)
  latest.current = layout

  const update = useCallback(() => {
    const { scrollTop = 0, clientHeight = 0 } = scroller.current ?? {}
    const first = latest.current.itemAt(scrollTop)
    const end = latest.current.itemAt(scrollTop + clientHeight) + 1
    setRange((before) => (before.first === first && before.end === end ? before : { first, end }))
  }, [scroller])

  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const observer = new ResizeObserver(update)
    observer.observe(element)
    element.addEventListener('scroll', update, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', update)
    }
  }, [scroller, update])
  // biome-ignore lint/correctness/useExhaustiveDependencies: new items change the range
  useLayoutEffect(update, [update, layout])

  /** Scrolls to a row as little as needed, and keeps it below the sticky heading. */
  const scrollTo = useCallback(
    (index: number) => {
      const element = scroller.current
      const { rowHeight, headHeight } = latest.current
      const { top = 0 } = latest.current.item(index) ?? {}
      if (!element) return
      const bottom = top + rowHeight - element.clientHeight
      if (element.scrollTop > top - headHeight) element.scrollTop = top - headHeight
      else if (element.scrollTop < bottom) element.scrollTop = bottom
      // The scroll event comes a frame later; the row is needed now.
      update()
    },
    [scroller, update],
  )
  const from = Math.max(0, range.first - overscan)
  const to = Math.min(layout.length, range.end + overscan)
  return { first: range.first, from, to, scrollTo }
}
