import type { PersonalAgent } from '@baton/protocol'
import { createStore, useStore } from '../ui/store.ts'

/** The dialog that is open over the screen, at most one. Any code can open it. */
export type Overlay =
  | { name: 'palette' }
  | { name: 'help' }
  | { name: 'create-issue'; with?: Record<string, unknown> }
  | { name: 'create-project' }
  | { name: 'personal-agent'; agent?: PersonalAgent }
  | null

const overlay = createStore<Overlay>(null)

export const showOverlay = overlay.set

export const useOverlay = () => useStore(overlay)
