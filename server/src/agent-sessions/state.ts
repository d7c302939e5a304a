import type { AppActivityType, EndReason, SessionState } from '@baton/protocol'
import { plus } from '../clock.ts'

/** The state of a session and its times. It follows only from activities, messages and time. */
export interface Lifecycle {
  state: SessionState
  /** Staleness counts from here: the later of the message that made it pending and the agent's last activity. */
  quietSince: Date
  stoppingSince: Date | null
  /** Time of the agent's first activity or link. */
  answeredAt: Date | null
  endReason: EndReason | null
  endedAt: Date | null
  updatedAt: Date
}

export interface TimeRules {
  staleAfterMs: number
  stoppingTimeoutMs: number
  unresponsiveAfterMs: number
}

export const newLifecycle = (now: Date): Lifecycle => ({
  state: 'pending',
  quietSince: now,
  stoppingSince: null,
  answeredAt: null,
  endReason: null,
  endedAt: null,
  updatedAt: now,
})

/**
 * How far `now` can be behind the last change of a session: it was read before the session was locked, and waiting for
 * the lock takes at most the `lock_timeout` of db/postgres.ts. A time further ahead is from a clock that was set back.
 */
export const maxLagMs = 5_000

/**
 * The time of a change to a session. A change that waited for the lock can have an earlier `now` than the change before
 * it; the times of a session do not decrease, unless the clock was set back.
 */
function timeOfChange({ updatedAt }: Lifecycle, now: Date) {
  const aheadMs = updatedAt.getTime() - now.getTime()
  return aheadMs > 0 && aheadMs < maxLagMs ? updatedAt : now
}

/**
 * Applies the transition that is due by `now`. Called at every read and write, so the result does not depend on timers
 * (session.time-rules-without-tick).
 */
export function advance(lifecycle: Lifecycle, now: Date, rules: TimeRules): Lifecycle {
  const at = nextTransitionAt(lifecycle, rules)
  if (!at || now < at) return lifecycle
  const updatedAt = at < lifecycle.updatedAt ? lifecycle.updatedAt : at
  return lifecycle.state === 'stopping'
    ? { ...lifecycle, state: 'complete', endedAt: at, updatedAt }
    : { ...lifecycle, state: 'stale', updatedAt }
}

/** When time alone changes the state; null if it does not. */
export function nextTransitionAt(lifecycle: Lifecycle, rules: TimeRules): Date | null {
  if (lifecycle.endedAt) return null
  switch (lifecycle.state) {
    case 'stopping':
      return plus(lifecycle.stoppingSince as Date, rules.stoppingTimeoutMs)
    case 'pending':
    case 'active':
      return plus(lifecycle.quietSince, rules.staleAfterMs)
    default:
      return null
  }
}

export function afterAppActivity(lifecycle: Lifecycle, type: AppActivityType, now: Date): Lifecycle {
  const state = stateAfter(lifecycle.state, type)
  const isEnd = lifecycle.state === 'stopping' && state !== 'stopping'
  const at = timeOfChange(lifecycle, now)
  return {
    ...lifecycle,
    state,
    quietSince: at,
    answeredAt: lifecycle.answeredAt ?? at,
    endedAt: isEnd ? at : lifecycle.endedAt,
    updatedAt: at,
  }
}

function stateAfter(state: SessionState, type: AppActivityType): SessionState {
  switch (type) {
    case 'response':
      return 'complete'
    case 'error':
      return 'error'
    case 'thought':
    case 'action':
      return state === 'stopping' ? 'stopping' : 'active'
    case 'elicitation':
      return state === 'stopping' ? 'stopping' : 'awaitingInput'
  }
}

/** session.message-in-stopping-or-ended-refused */
export const acceptsMessages = ({ state, endedAt }: Lifecycle) => endedAt === null && state !== 'stopping'

/** A message reopens an idle session; a pending or active one keeps its state. */
export function afterMessage(lifecycle: Lifecycle, now: Date): Lifecycle {
  const updatedAt = timeOfChange(lifecycle, now)
  return lifecycle.state === 'pending' || lifecycle.state === 'active'
    ? { ...lifecycle, updatedAt }
    : { ...lifecycle, state: 'pending', quietSince: updatedAt, updatedAt }
}

/** The reason is set at once; the session ends with the agent's response or error, or when the timeout has passed. */
export function beginStopping(lifecycle: Lifecycle, endReason: 'stopped' | 'undelegated', now: Date): Lifecycle {
  const at = timeOfChange(lifecycle, now)
  return { ...lifecycle, state: 'stopping', stoppingSince: at, endReason, updatedAt: at }
}

/** Ends without waiting for the agent (session.immediate-end-state-complete). */
export function endNow(
  lifecycle: Lifecycle,
  endReason: Exclude<EndReason, 'stopped' | 'undelegated'>,
  now: Date,
): Lifecycle {
  const at = timeOfChange(lifecycle, now)
  return { ...lifecycle, state: 'complete', endReason, endedAt: at, updatedAt: at }
}

/** The agent changed its plan or links. Only a link counts as an answer (session.unresponsive-needs-activity-or-url). */
export function afterUpdate(lifecycle: Lifecycle, { addsLinks }: { addsLinks: boolean }, now: Date): Lifecycle {
  const at = timeOfChange(lifecycle, now)
  return { ...lifecycle, answeredAt: lifecycle.answeredAt ?? (addsLinks ? at : null), updatedAt: at }
}

export interface Opening {
  createdAt: Date
  openedByAgent: boolean
}

/** session.unresponsive-after-10s; null before that time and once the agent has answered. */
export function unresponsiveSince(
  { createdAt, openedByAgent }: Opening,
  { answeredAt, endedAt }: Lifecycle,
  now: Date,
  rules: TimeRules,
): Date | null {
  const at = plus(createdAt, rules.unresponsiveAfterMs)
  const expected = !openedByAgent && !answeredAt && !(endedAt && endedAt < at)
  return expected && now >= at ? at : null
}

/** When time alone next changes how the session is shown: its state, or `unresponsive_since`. */
export function dueAt(opening: Opening, lifecycle: Lifecycle, now: Date, rules: TimeRules): Date | null {
  const unresponsiveAt = plus(opening.createdAt, rules.unresponsiveAfterMs)
  const waits = !opening.openedByAgent && !lifecycle.answeredAt && !lifecycle.endedAt && now < unresponsiveAt
  const transitionAt = nextTransitionAt(lifecycle, rules)
  if (!waits) return transitionAt
  return transitionAt && transitionAt < unresponsiveAt ? transitionAt : unresponsiveAt
}
