/** Injected wherever the time matters, so that tests can move it. */
export interface Clock {
  now(): Date
  /** Runs `then` after `ms`. The returned function cancels it. */
  after(ms: number, then: () => void): () => void
}

export const systemClock: Clock = {
  now: () => new Date(),
  after(ms, then) {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}

/**
 * Runs `work` repeatedly, each time `everyMs` after the last run ended. An error is passed to `onError` and does not
 * stop the runs. The returned function stops them and waits for a run in progress.
 */
export function repeat(
  clock: Clock,
  everyMs: number,
  work: () => Promise<unknown>,
  onError: (error: Error) => void,
): () => Promise<void> {
  let stopped = false
  let cancel = () => {}
  let running = Promise.resolve()
  const run = async () => {
    try {
      await work()
    } catch (error) {
      onError(error as Error)
    } finally {
      if (!stopped) schedule()
    }
  }
  const schedule = () => {
    cancel = clock.after(everyMs, () => {
      running = run()
    })
  }
  schedule()
  return async () => {
    stopped = true
    cancel()
    await running
  }
}

export const plus = (time: Date, ms: number) => new Date(time.getTime() + ms)
export const minutes = (count: number) => count * 60 * 1000
export const hours = (count: number) => count * 60 * 60 * 1000
export const days = (count: number) => count * 24 * 60 * 60 * 1000

/** A timestamp sent by a caller, in the format of the API. */
export const moment = (text: string | null) => (text === null ? null : new Date(text).toISOString())

/** http.updated-at-strictly-grows: later than `previous`, because receivers drop versions that are not newer. */
export const laterThan = (previous: string, now: Date) =>
  new Date(Math.max(now.getTime(), Date.parse(previous) + 1)).toISOString()
