/** Time as the package sees it. Give one of your own in tests, and nothing has to be waited for. */
export interface Clock {
  now(): Date
  /** Calls `then` once that much time has passed; the answer takes it back. */
  after(ms: number, then: () => void): () => void
}

export const systemClock: Clock = {
  now: () => new Date(),
  after: (ms, then) => {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}

/** Rejects with the signal's reason as soon as it is aborted. */
export const sleep = (clock: Clock, ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const aborted = () => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    })
    signal?.addEventListener('abort', aborted, { once: true })
  })
