import { useRouterState } from '@tanstack/react-router'
import { type RefObject, useEffect } from 'react'
import { createStore, useStore } from '../ui/store.ts'

/** The session that was just opened, so that its card scrolls into view if it is on this screen. */
const opened = createStore<string | null>(null)
const forgetAfterMs = 5000

export function revealSession(id: string) {
  opened.set(id)
  setTimeout(() => opened.get() === id && opened.set(null), forgetAfterMs)
}

export const anchorOf = (sessionId: string) => `session-${sessionId}`

/** Scrolls to the card of a session that was just opened, or that the hash of the URL names. */
export function useReveal(ref: RefObject<HTMLElement | null>, sessionId: string) {
  const isOpened = useStore(opened, (id) => id === sessionId)
  const isLinked = useRouterState({ select: ({ location }) => location.hash === anchorOf(sessionId) })
  useEffect(() => {
    if (!isOpened && !isLinked) return
    const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth'
    ref.current?.scrollIntoView({ block: 'start', behavior })
  }, [ref, isOpened, isLinked])
}
