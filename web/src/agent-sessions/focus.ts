import { useEffect } from 'react'
import { isTyping } from '../ui/shortcuts.ts'

const sessionAround = (element: Element | null) => element?.closest<HTMLElement>('[data-session]') ?? null

/** Whether `next` may take the focus: nobody types, no menu is open, and there is a keyboard to type with. */
export function mayTakeFocus(next: Element | null): boolean {
  if (!next || document.querySelector('dialog[open]') || matchMedia('(pointer: coarse)').matches) return false
  const now = document.activeElement
  const there = sessionAround(now)
  // Whoever is about to answer one agent must not find themselves answering another.
  if (there && there !== sessionAround(next)) return false
  // Whoever waits in the empty box of the same session waits for just this.
  return !isTyping(now) || (there !== null && now instanceof HTMLTextAreaElement && now.value === '')
}

const onScreen = { stop: new Set<string>(), answer: new Set<string>() }

/** Which of the sessions on the screen a key means: the one that has the focus, or the only one that can hear it. */
export function useMeant(what: keyof typeof onScreen, sessionId: string, can: boolean) {
  useEffect(() => {
    if (!can) return
    onScreen[what].add(sessionId)
    return () => {
      onScreen[what].delete(sessionId)
    }
  }, [what, sessionId, can])
  const hasFocus = () => sessionAround(document.activeElement)?.dataset.session === sessionId
  return { hasFocus, isMeant: () => hasFocus() || onScreen[what].size === 1 }
}
