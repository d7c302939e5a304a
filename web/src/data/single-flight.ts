import { isBatonError } from './api.ts'

const running = new Map<string, { again: boolean }>()

/** Runs `work` once at a time per key. Calls during a run cause one more run afterwards. */
export async function singleFlight(key: string, work: () => Promise<unknown>): Promise<void> {
  const current = running.get(key)
  if (current) {
    current.again = true
    return
  }
  const run = { again: true }
  running.set(key, run)
  try {
    while (run.again) {
      run.again = false
      await work().catch(ignoreFailedRequest)
    }
  } finally {
    running.delete(key)
  }
}

/** Safe to ignore: the next change, or the resync after a reconnect, repeats the request. */
function ignoreFailedRequest(error: unknown) {
  if (!isBatonError(error)) throw error
}
