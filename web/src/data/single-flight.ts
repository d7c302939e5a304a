import { isBatonError } from './api.ts'

const running = new Map<string, { again: boolean }>()

/** Runs `work` once at a time per key. Calls during a run lead to one more run, which sees what they were made for. */
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

/** The next change, or the resync after a reconnect, leads to the same request again. */
function ignoreFailedRequest(error: unknown) {
  if (!isBatonError(error)) throw error
}
