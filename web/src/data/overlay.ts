import type { PersonalAgent } from '@baton/protocol'
import { useSyncExternalStore } from 'react'

/** What lies over the screen, opened from anywhere by its name: one at a time. */
export type Overlay =
  | { name: 'palette' }
  | { name: 'help' }
  | { name: 'create-issue'; with?: Record<string, unknown> }
  | { name: 'create-project' }
  | { name: 'personal-agent'; agent?: PersonalAgent }
  | null

let overlay: Overlay = null
const listeners = new Set<() => void>()

export function showOverlay(next: Overlay) {
  overlay = next
  for (const listener of listeners) listener()
}

export const useOverlay = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => overlay,
  )
