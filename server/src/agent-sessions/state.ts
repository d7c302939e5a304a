import type { AppActivityType, EndReason, SessionState } from '@baton/protocol'
import { plus } from '../clock.ts'

/** Where a session stands. Nobody sets it: it follows from what the agent and people did, and from time (3.1). */
export interface Standing {
  state: SessionState
  /** The later of the person's action that made it pending, and the agent's last activity. */
  quietSince: Date
  stoppingSince: Date | null
  /** Of the agent's first activity or link. */
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

export const opened = (now: Date): Standing => ({
  state: 'pending',
  quietSince: now,
  stoppingSince: null,
  answeredAt: null,
  endReason: null,
  endedAt: null,
  updatedAt: now,
})

/** What time has made of it by now. True at every read and write, whether or not a timer has run (decisions 6). */
export function advance(standing: Standing, now: Date, rules: TimeRules): Standing {
  const at = turnsAt(standing, rules)
  if (!at || now < at) return standing
  return standing.state === 'stopping'
    ? { ...standing, state: 'complete', endedAt: at, updatedAt: at }
    : { ...standing, state: 'stale', updatedAt: at }
}

/** When time alone will change its state, if it will. */
export function turnsAt(standing: Standing, rules: TimeRules): Date | null {
  if (standing.endedAt) return null
  switch (standing.state) {
    case 'stopping':
      return plus(standing.stoppingSince as Date, rules.stoppingTimeoutMs)
    case 'pending':
    case 'active':
      return plus(standing.quietSince, rules.staleAfterMs)
    default:
      return null
  }
}

export function afterAppActivity(standing: Standing, type: AppActivityType, now: Date): Standing {
  const state = stateAfter(standing.state, type)
  const ends = standing.state === 'stopping' && state !== 'stopping'
  return {
    ...standing,
    state,
    quietSince: now,
    answeredAt: standing.answeredAt ?? now,
    endedAt: ends ? now : standing.endedAt,
    updatedAt: now,
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

/** Whether a person can still be heard in it (decisions 6). */
export const takesMessages = ({ state, endedAt }: Standing) => endedAt === null && state !== 'stopping'

/** A person wrote. What was at rest begins anew; what is under way goes on. */
export function afterMessage(standing: Standing, now: Date): Standing {
  const underWay = standing.state === 'pending' || standing.state === 'active'
  return underWay ? { ...standing, updatedAt: now } : { ...standing, state: 'pending', quietSince: now, updatedAt: now }
}

/** Its reason is known at once, its end comes with the agent's last word or after a minute. */
export const stop = (standing: Standing, endReason: 'stopped' | 'undelegated', now: Date): Standing => ({
  ...standing,
  state: 'stopping',
  stoppingSince: now,
  endReason,
  updatedAt: now,
})

/** Immediate ends (3.1): nobody is asked for a last word. */
export const endNow = (
  standing: Standing,
  endReason: Exclude<EndReason, 'stopped' | 'undelegated'>,
  now: Date,
): Standing => ({ ...standing, state: 'complete', endReason, endedAt: now, updatedAt: now })

/** The agent set a link, which counts as an answer too. */
export const afterLink = (standing: Standing, now: Date): Standing => ({
  ...standing,
  answeredAt: standing.answeredAt ?? now,
})

export interface Opening {
  createdAt: Date
  openedByAgent: boolean
}

/** Since when an answer has been missing: from ten seconds after the opening until the agent's first sign of life. */
export function unresponsiveSince(
  { createdAt, openedByAgent }: Opening,
  { answeredAt, endedAt }: Standing,
  now: Date,
  rules: TimeRules,
): Date | null {
  const at = plus(createdAt, rules.unresponsiveAfterMs)
  const expected = !openedByAgent && !answeredAt && !(endedAt && endedAt < at)
  return expected && now >= at ? at : null
}

/** When it will next look different without anybody doing anything. */
export function dueAt(opening: Opening, standing: Standing, now: Date, rules: TimeRules): Date | null {
  const noticed = plus(opening.createdAt, rules.unresponsiveAfterMs)
  const waits = !opening.openedByAgent && !standing.answeredAt && !standing.endedAt && now < noticed
  const turns = turnsAt(standing, rules)
  if (!waits) return turns
  return turns && turns < noticed ? turns : noticed
}
