import { useEffect } from 'react'
import { isTyping } from '../ui/shortcuts.ts'

const sessionAround = (element: Element | null) => element?.closest<HTMLElement>('[data-session]') ?? null

/** Whether `next` may take the focus: the user is not typing, no dialog is open, and the device has a keyboard. */
export function mayTakeFocus(next: Element | null): boolean {
  if (!next || document.querySelector('dialog[open]') || matchMedia('(pointer: coarse)').matches) return false
  const now = document.activeElement
  const current = sessionAround(now)
  // Never move the focus from one session to another: the answer would reach the wrong agent.
  if (current && current !== sessionAround(next)) return false
  // An empty composer of the same session may give up the focus.
  return !isTyping(now) || (current !== null && now instanceof HTMLTextAreaElement && now.value === '')
}

const onScreen = { stop: new Set<string>(), answer: new Set<string>() }

/** Whether a shortcut applies to this session: it has the focus, or it is the only one on screen that accepts it. */
export function useShortcutTarget(what: keyof typeof onScreen, sessionId: string, can: boolean) {
  useEffect(() => {
    if (!can) return
    onScreen[what].add(sessionId)
    return () => {
      onScreen[what].delete(sessionId)
    }
  }, [what, sessionId, can])
  const hasFocus = () => sessionAround(document.activeElement)?.dataset.session === sessionId
  return { hasFocus, isTarget: () => hasFocus() || onScreen[what].size === 1 }
}
