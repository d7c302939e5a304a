import { useRef, useState } from 'react'
import { messageOf } from './problem.ts'

/**
 * Work that a button or key starts, such as a request: one run at a time, with its error kept to be shown in place, or
 * passed to `onError`.
 */
export function useAction<Args extends unknown[]>(
  work: (...args: Args) => Promise<unknown>,
  onError?: (error: unknown) => void,
) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const running = useRef(false)
  /** Resolves to whether the work succeeded; false also for a call during another run, which does nothing. */
  const run = async (...args: Args): Promise<boolean> => {
    if (running.current) return false
    running.current = true
    setBusy(true)
    setError(null)
    try {
      await work(...args)
      return true
    } catch (error) {
      setError(error)
      onError?.(error)
      return false
    } finally {
      running.current = false
      setBusy(false)
    }
  }
  return { run, busy, error, problem: error === null ? null : messageOf(error), reset: () => setError(null) }
}
