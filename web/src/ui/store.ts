import { useSyncExternalStore } from 'react'

/** State outside React: any code reads and replaces it, components follow it with `useStore`. */
export interface Store<State> {
  get: () => State
  set: (next: State) => void
  subscribe: (listener: () => void) => () => void
}

export function createStore<State>(initial: State): Store<State> {
  let state = initial
  const listeners = new Set<() => void>()
  return {
    get: () => state,
    set: (next) => {
      state = next
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Renders again when `select` returns another value; it must not build a new object at each call. */
export function useStore<State>(store: Store<State>): State
export function useStore<State, Selected>(store: Store<State>, select: (state: State) => Selected): Selected
export function useStore<State>(store: Store<State>, select: (state: State) => unknown = (state) => state) {
  return useSyncExternalStore(store.subscribe, () => select(store.get()))
}
