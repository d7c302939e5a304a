import { type RefObject, useEffect } from 'react'

const scrollerOf = (element: HTMLElement | null): HTMLElement | null =>
  !element || /auto|scroll/.test(getComputedStyle(element).overflowY) ? element : scrollerOf(element.parentElement)

/** What is being typed in stays where it is on the screen, whatever comes in above it. */
export function useStayInPlace(ref: RefObject<HTMLElement | null>) {
  useEffect(() => {
    const place = ref.current
    const scroller = scrollerOf(place)
    if (!place || !scroller) return
    let top = 0
    const note = () => {
      top = place.getBoundingClientRect().top
    }
    // Told after the layout and before it is painted, so nothing is seen to move.
    const observer = new ResizeObserver(() => {
      if (place.contains(document.activeElement)) scroller.scrollTop += place.getBoundingClientRect().top - top
      note()
    })
    for (const child of scroller.children) observer.observe(child)
    if (place.parentElement) observer.observe(place.parentElement)
    scroller.addEventListener('scroll', note)
    place.addEventListener('focusin', note)
    addEventListener('resize', note)
    return () => {
      observer.disconnect()
      scroller.removeEventListener('scroll', note)
      place.removeEventListener('focusin', note)
      removeEventListener('resize', note)
    }
  }, [ref])
}
