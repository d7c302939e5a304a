import { type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'

/** Rows rendered beyond the edges, so that scrolling shows no gap. */
const overscan = 10

interface Range {
  /** The first visible item, and the first one after the visible ones. */
  first: number
  end: number
}

/** The index of the item at this height. */
function itemAt(tops: Float64Array, height: number): number {
  let low = 0
  let high = tops.length - 2
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((tops[middle] ?? 0) <= height) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}

/**
 * The visible items of a long list. Heights are known in advance, so nothing is measured and a jump to the end of ten
 * thousand items costs the same as a step.
 */
export function useVisible(scroller: RefObject<HTMLElement | null>, heights: readonly number[]) {
  const tops = useMemo(() => {
    const tops = new Float64Array(heights.length + 1)
    for (const [index, height] of heights.entries()) tops[index + 1] = (tops[index] ?? 0) + height
    return tops
  }, [heights])
  const [range, setRange] = useState<Range>({ first: 0, end: 40 })
  const latest = useRef(tops)
  latest.current = tops

  const update = useCallback(() => {
    const { scrollTop = 0, clientHeight = 0 } = scroller.current ?? {}
    const first = itemAt(latest.current, scrollTop)
    const end = itemAt(latest.current, scrollTop + clientHeight) + 1
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
  useLayoutEffect(update, [update, tops])

  /** Scrolls as little as needed, and keeps the item below the sticky heading. */
  const scrollTo = useCallback(
    (index: number, stickyHeight: number) => {
      const element = scroller.current
      if (!element) return
      const top = (latest.current[index] ?? 0) - stickyHeight
      const bottom = (latest.current[index + 1] ?? 0) - element.clientHeight
      if (element.scrollTop > top) element.scrollTop = top
      else if (element.scrollTop < bottom) element.scrollTop = bottom
      // The scroll event comes a frame later; the row is needed now.
      update()
    },
    [scroller, update],
  )
  const from = Math.max(0, range.first - overscan)
  const to = Math.min(heights.length, range.end + overscan)
  return { first: range.first, from, to, tops, total: tops.at(-1) ?? 0, scrollTo }
}
