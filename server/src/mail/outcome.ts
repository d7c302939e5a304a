import { minutes, plus } from '../clock.ts'

/** The result of one attempt. `problem` and `reason` are for people; neither contains the server's password. */
export type Outcome =
  | { kind: 'sent' }
  /** The server refused this mail; `badAddress` if it has no mailbox for the address. */
  | { kind: 'refused'; permanent: boolean; badAddress: boolean; problem: string }
  /** The connection was lost after DATA, or the mail could not be composed: perhaps the fault of this mail. */
  | { kind: 'uncertain'; problem: string }
  /** The server cannot be used; no mail is at fault. */
  | { kind: 'unavailable'; reason: string }

export type NextState =
  | { state: 'sent' | 'failed'; attempts: number; problem: string | null }
  | { state: 'pending'; attempts: number; nextAt: Date; problem: string }

/** What becomes of a mail after an attempt that reached the server. */
export function afterAttempt(
  attempts: number,
  outcome: Exclude<Outcome, { kind: 'unavailable' }>,
  retryDelaysMs: readonly number[],
  now: Date,
): NextState {
  const made = attempts + 1
  if (outcome.kind === 'sent') return { state: 'sent', attempts: made, problem: null }
  const delayMs = outcome.kind === 'refused' && outcome.permanent ? undefined : retryDelaysMs[attempts]
  const { problem } = outcome
  return delayMs === undefined
    ? { state: 'failed', attempts: made, problem }
    : { state: 'pending', attempts: made, nextAt: plus(now, delayMs), problem }
}

const pausesMs = [minutes(1), minutes(5), minutes(15)]

/** How long the queue pauses when the server cannot be used, after so many pauses in a row. */
export const pauseMs = (pauses: number) => pausesMs[Math.min(pauses, pausesMs.length - 1)] as number
