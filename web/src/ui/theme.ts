import { createStore, useStore } from './store.ts'

export type Theme = 'system' | 'light' | 'dark'
const storageKey = 'baton.theme'
const theme = createStore((localStorage.getItem(storageKey) ?? 'system') as Theme)

const apply = () => {
  const chosen = theme.get()
  if (chosen === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
}
apply()

export function chooseTheme(chosen: Theme) {
  localStorage.setItem(storageKey, chosen)
  theme.set(chosen)
  apply()
}

export const useTheme = () => useStore(theme)
