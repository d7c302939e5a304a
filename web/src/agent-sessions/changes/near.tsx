import { createContext, type ReactNode, useContext, useLayoutEffect, useRef, useState } from 'react'

/** Calls back when an element comes near the visible part of the scroller, and when it is no longer near. */
export type NearObserver = (element: Element, onChange: (isNear: boolean) => void) => () => void

/** Blocks this far outside are rendered too, so that scrolling shows no gap. */
const marginPx = 800

export function createNearObserver(root: Element): NearObserver {
  const callbacks = new Map<Element, (isNear: boolean) => void>()
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) callbacks.get(target)?.(isIntersecting)
    },
    { root, rootMargin: `${marginPx}px 0px` },
  )
  return (element, onChange) => {
    callbacks.set(element, onChange)
    observer.observe(element)
    return () => {
      callbacks.delete(element)
      observer.unobserve(element)
    }
  }
}

export const NearContext = createContext<NearObserver | null>(null)

/** Renders its content only near the visible part; elsewhere it keeps the height that it had, or is estimated to have. */
export function WhenNear({ height, children }: { height: number; children: () => ReactNode }) {
  const observe = useContext(NearContext)
  const ref = useRef<HTMLDivElement>(null)
  const lastHeight = useRef<number | null>(null)
  const [isNear, setNear] = useState(false)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element || !observe) return
    return observe(element, (near) => {
      // The focus stays where it is.
      if (!near && element.contains(document.activeElement)) return
      if (!near && element.childElementCount > 0) lastHeight.current = element.offsetHeight
      setNear(near)
    })
  }, [observe])
  return (
    <div ref={ref} style={isNear ? undefined : { height: lastHeight.current ?? height }}>
      {isNear && children()}
    </div>
  )
}
