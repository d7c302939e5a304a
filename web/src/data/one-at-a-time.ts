/** Work by its name: never twice at once, and once more afterwards if it was asked for meanwhile. */
const running = new Map<string, { again: boolean }>()

export async function oneAtATime(name: string, work: () => Promise<unknown>): Promise<void> {
  const now = running.get(name)
  if (now) {
    now.again = true
    return
  }
  const run = { again: true }
  running.set(name, run)
  try {
    while (run.again) {
      run.again = false
      await work()
    }
  } catch {
    // What could not be read now is read at the next change, or when the connection is back.
  } finally {
    running.delete(name)
  }
}
