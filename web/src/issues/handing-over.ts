import { useSyncExternalStore } from 'react'

/** Issues on their way to an agent: not done before the server says so. By issue, what stands there meanwhile. */
let underWay: ReadonlyMap<string, string> = new Map()
const listeners = new Set<() => void>()
const changed = (next: ReadonlyMap<string, string>) => {
  underWay = next
  for (const listener of listeners) listener()
}

export async function whileHandingOver<T>(issueId: string, words: string, work: () => Promise<T>): Promise<T> {
  changed(new Map(underWay).set(issueId, words))
  try {
    return await work()
  } finally {
    const rest = new Map(underWay)
    rest.delete(issueId)
    changed(rest)
  }
}

/** "Handing over…" while the issue is on its way, else nothing. */
export const useHandingOver = (issueId: string) =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    () => underWay.get(issueId),
  )
