import type { LiveChange } from '@baton/protocol'

export type News = { kind: 'change'; change: LiveChange } | { kind: 'begun' } | { kind: 'resync' }
export type Connection = 'connecting' | 'open' | 'lost'

/** Between two attempts to connect. */
export const longestPauseMs = 15_000

/** Ends early when the browser is back on the network. */
export const pause = (ms: number) =>
  new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    addEventListener('online', done)
  })
