import { createStore, useStore } from './store.ts'

/** The composer in use, by its draft key. Opening one closes the others; their drafts are kept. */
const inUse = createStore<string | null>(null)

export const openComposer = (key: string) => {
  if (inUse.get() !== key) inUse.set(key)
}

/** Closes the composer, unless another one was opened since. */
export const closeComposer = (key: string) => {
  if (inUse.get() === key) inUse.set(null)
}

export const useIsComposerOpen = (key: string) => useStore(inUse, (open) => open === key)
