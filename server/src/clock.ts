/** Time is an argument: everything that asks what time it is asks the clock it was given. */
export interface Clock {
  now(): Date
  /** Runs `then` once that much time has passed, unless the function it returns is called first. */
  after(ms: number, then: () => void): () => void
}

export const systemClock: Clock = {
  now: () => new Date(),
  after(ms, then) {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}

/** Does it again that long after it was done. The function it returns waits for what is being done. */
export function repeat(clock: Clock, everyMs: number, work: () => Promise<void>): () => Promise<void> {
  let stopped = false
  let cancel = () => {}
  let working = Promise.resolve()
  const wait = () => {
    cancel = clock.after(everyMs, () => {
      working = work().then(() => {
        if (!stopped) wait()
      })
    })
  }
  wait()
  return async () => {
    stopped = true
    cancel()
    await working
  }
}

export const plus = (time: Date, ms: number) => new Date(time.getTime() + ms)
export const days = (count: number) => count * 24 * 60 * 60 * 1000

/** A moment that a caller sent, as we show it. */
export const moment = (text: string | null) => (text === null ? null : new Date(text).toISOString())

/** decisions 0: receivers drop what is not newer, so a change is always later than the one before it. */
export const laterThan = (previous: string, now: Date) =>
  new Date(Math.max(now.getTime(), Date.parse(previous) + 1)).toISOString()
