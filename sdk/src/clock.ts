/** The package's source of time. Replace it in tests to avoid waiting. */
export interface Clock {
  now(): Date
  /** Calls `then` after `ms`. Returns a function that cancels it. */
  after(ms: number, then: () => void): () => void
}

export const systemClock: Clock = {
  now: () => new Date(),
  after: (ms, then) => {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}

/** Rejects with the signal's reason when it is aborted. */
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
