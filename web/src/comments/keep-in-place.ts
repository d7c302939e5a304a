import { type RefObject, useEffect } from 'react'

const scrollerOf = (element: HTMLElement | null): HTMLElement | null =>
  !element || /auto|scroll/.test(getComputedStyle(element).overflowY) ? element : scrollerOf(element.parentElement)

/** Keeps the element at its position on the screen while it has focus and content above it changes. */
export function useKeepInPlace(ref: RefObject<HTMLElement | null>) {
  useEffect(() => {
    const element = ref.current
    const scroller = scrollerOf(element)
    if (!element || !scroller) return
    let top = 0
    const measure = () => {
      top = element.getBoundingClientRect().top
    }
    // The observer runs after layout and before paint, so no movement is visible.
    const observer = new ResizeObserver(() => {
      if (element.contains(document.activeElement)) scroller.scrollTop += element.getBoundingClientRect().top - top
      measure()
    })
    for (const child of scroller.children) observer.observe(child)
    if (element.parentElement) observer.observe(element.parentElement)
    scroller.addEventListener('scroll', measure)
    element.addEventListener('focusin', measure)
    addEventListener('resize', measure)
    return () => {
      observer.disconnect()
      scroller.removeEventListener('scroll', measure)
      element.removeEventListener('focusin', measure)
      removeEventListener('resize', measure)
    }
  }, [ref])
}
