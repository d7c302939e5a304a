import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'
const remembered = 'baton.theme'
const listeners = new Set<() => void>()
let theme = (localStorage.getItem(remembered) ?? 'system') as Theme

const show = () => {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
show()

export function chooseTheme(chosen: Theme) {
  theme = chosen
  localStorage.setItem(remembered, chosen)
  show()
  for (const listener of listeners) listener()
}

export const useTheme = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => theme,
  )
