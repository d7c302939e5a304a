import { sessionStates } from '@baton/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plus } from '../clock.ts'
import {
  acceptsMessages,
  advance,
  afterAppActivity,
  afterMessage,
  afterUpdate,
  beginStopping,
  dueAt,
  endNow,
  type Lifecycle,
  newLifecycle,
  nextTransitionAt,
  unresponsiveSince,
} from './state.ts'

const rules = { staleAfterMs: 1_800_000, stoppingTimeoutMs: 60_000, unresponsiveAfterMs: 10_000 }
const begin = new Date('2026-03-02T09:00:00.000Z')
const later = (ms: number) => plus(begin, ms)
const types = ['thought', 'action', 'elicitation', 'response', 'error'] as const

/** A session that has been in the state since it was opened. */
const inState = (state: Lifecycle['state']): Lifecycle => ({
  ...newLifecycle(begin),
  state,
  ...(state === 'stopping' ? { stoppingSince: begin, endReason: 'stopped' } : {}),
})

describe('an activity of the agent', () => {
  const after = {
    thought: 'active',
    action: 'active',
    elicitation: 'awaitingInput',
    response: 'complete',
    error: 'error',
  }
  for (const state of sessionStates.filter((one) => one !== 'stopping')) {
    test(`changes ${state} to the state of its type and does not end the session`, () => {
      for (const type of types) {
        expect(afterAppActivity(inState(state), type, later(5))).toMatchObject({
          state: after[type],
          quietSince: later(5),
          answeredAt: later(5),
          endedAt: null,
          endReason: null,
        })
      }
    })
  }

  test('ends a stopping session if it is a response or an error', () => {
    const stopping = inState('stopping')
    for (const type of ['thought', 'action', 'elicitation'] as const) {
      expect(afterAppActivity(stopping, type, later(5))).toMatchObject({ state: 'stopping', endedAt: null })
    }
    for (const [type, state] of [['response', 'complete'] as const, ['error', 'error'] as const]) {
      const over = { state, endedAt: later(5), endReason: 'stopped' }
      expect(afterAppActivity(stopping, type, later(5))).toMatchObject(over)
    }
  })

  test('counts as the answer if it is the first activity or link', () => {
    const once = afterAppActivity(newLifecycle(begin), 'thought', later(1))
    expect(afterAppActivity(once, 'thought', later(2)).answeredAt).toEqual(later(1))
    expect(afterUpdate(once, { addsLinks: true }, later(2)).answeredAt).toEqual(later(1))
    expect(afterUpdate(newLifecycle(begin), { addsLinks: false }, later(2)).answeredAt).toBeNull()
    expect(afterUpdate(newLifecycle(begin), { addsLinks: true }, later(2))).toMatchObject({
      answeredAt: later(2),
      quietSince: begin,
    })
  })
})

describe('a person', () => {
  test('can write while the session is neither stopping nor ended', () => {
    for (const state of sessionStates) expect(acceptsMessages(inState(state))).toBe(state !== 'stopping')
    expect(acceptsMessages(endNow(newLifecycle(begin), 'issue_deleted', begin))).toBe(false)
  })

  test('reopens an idle session with a message; a pending or active one keeps its state', () => {
    for (const state of ['pending', 'active'] as const) {
      expect(afterMessage(inState(state), later(5))).toMatchObject({ state, quietSince: begin })
    }
    for (const state of ['awaitingInput', 'complete', 'error', 'stale'] as const) {
      expect(afterMessage(inState(state), later(5))).toMatchObject({ state: 'pending', quietSince: later(5) })
    }
  })

  test('can stop a session in every state', () => {
    for (const state of sessionStates) {
      expect(beginStopping(inState(state), 'undelegated', later(5))).toMatchObject({
        state: 'stopping',
        stoppingSince: later(5),
        endReason: 'undelegated',
        endedAt: null,
      })
    }
  })
})

describe('time', () => {
  test('makes only pending and active sessions stale', () => {
    for (const state of sessionStates.filter((one) => one !== 'stopping')) {
      const silent = inState(state)
      expect(advance(silent, later(rules.staleAfterMs - 1), rules)).toBe(silent)
      const expected = state === 'pending' || state === 'active' ? 'stale' : state
      expect(advance(silent, later(rules.staleAfterMs), rules).state).toBe(expected)
    }
  })

  test('ends a stopping session at its timeout, also when it is read later', () => {
    const stopping = inState('stopping')
    expect(advance(stopping, later(59_999), rules)).toBe(stopping)
    for (const now of [60_000, 3_600_000]) {
      expect(advance(stopping, later(now), rules)).toMatchObject({ state: 'complete', endedAt: later(60_000) })
    }
  })

  test('does not change an ended session', () => {
    const over = endNow(newLifecycle(begin), 'uninstalled', begin)
    expect(advance(over, later(rules.staleAfterMs), rules)).toBe(over)
    expect(nextTransitionAt(over, rules)).toBeNull()
  })

  test('makes a session without an answer unresponsive after ten seconds', () => {
    const opening = { createdAt: begin, openedByAgent: false }
    const since = (lifecycle: Lifecycle, ms: number, agent = false) =>
      unresponsiveSince({ ...opening, openedByAgent: agent }, lifecycle, later(ms), rules)
    const silent = newLifecycle(begin)
    expect(since(silent, 9_999)).toBeNull()
    expect(since(silent, 10_000)).toEqual(later(10_000))
    expect(since(silent, 10_000, true)).toBeNull()
    expect(since(afterUpdate(silent, { addsLinks: true }, later(20_000)), 20_000)).toBeNull()
    expect(since(endNow(silent, 'uninstalled', later(9_999)), 20_000)).toBeNull()
    expect(since(endNow(silent, 'uninstalled', later(10_000)), 20_000)).toEqual(later(10_000))
  })
})

type Step = (lifecycle: Lifecycle, now: Date) => Lifecycle
const ifAccepted =
  (step: Step): Step =>
  (lifecycle, now) =>
    acceptsMessages(lifecycle) ? step(lifecycle, now) : lifecycle
const step = fc.oneof(
  fc.constantFrom(...types).map(
    (type): Step =>
      (lifecycle, now) => {
        return lifecycle.endedAt ? lifecycle : afterAppActivity(lifecycle, type, now)
      },
  ),
  fc.constant(ifAccepted(afterMessage)),
  fc.constant(ifAccepted((lifecycle, now) => beginStopping(lifecycle, 'stopped', now))),
)
const course = fc.array(fc.tuple(fc.nat(2_000_000), step), { maxLength: 12 })

describe('after any steps', () => {
  test('a timer at `dueAt` finds every change by time, and more frequent checks find no others', () => {
    fc.assert(
      fc.property(course, fc.boolean(), (steps, openedByAgent) => {
        const opening = { createdAt: begin, openedByAgent }
        const shown = (lifecycle: Lifecycle, now: Date) =>
          [advance(lifecycle, now, rules).state, unresponsiveSince(opening, lifecycle, now, rules)?.getTime()].join()
        let now = begin
        let lifecycle = newLifecycle(begin)
        for (const [pause, act] of steps) {
          const next = plus(now, pause)
          for (let due = dueAt(opening, lifecycle, now, rules); due && due <= next; ) {
            expect(shown(lifecycle, plus(due, -1))).toBe(shown(lifecycle, now))
            lifecycle = advance(lifecycle, due, rules)
            now = due
            due = dueAt(opening, lifecycle, now, rules)
          }
          expect(shown(lifecycle, next)).toBe(shown(lifecycle, now))
          now = next
          lifecycle = act(advance(lifecycle, now, rules), now)
        }
      }),
    )
  })

  test('a session has an end reason if and only if it was stopped and accepts no messages', () => {
    fc.assert(
      fc.property(course, (steps) => {
        let now = begin
        let lifecycle = newLifecycle(begin)
        for (const [pause, act] of steps) {
          now = plus(now, pause)
          lifecycle = act(advance(lifecycle, now, rules), now)
          if (lifecycle.endedAt) expect(['complete', 'error']).toContain(lifecycle.state)
          expect(lifecycle.endReason !== null).toBe(lifecycle.stoppingSince !== null)
          expect(lifecycle.endReason !== null).toBe(!acceptsMessages(lifecycle))
        }
      }),
    )
  })

  test('no time of a session decreases, also if `now` is earlier than the last change', () => {
    const lagging = fc.array(fc.tuple(fc.nat(2_000_000), fc.nat(4_999), step), { maxLength: 12 })
    fc.assert(
      fc.property(lagging, (steps) => {
        let clock = begin
        let lifecycle = newLifecycle(begin)
        for (const [pause, lag, act] of steps) {
          clock = plus(clock, pause)
          const before = lifecycle
          const now = plus(clock, -lag)
          lifecycle = act(advance(before, now, rules), now)
          for (const time of ['updatedAt', 'quietSince'] as const) {
            expect(lifecycle[time].getTime()).toBeGreaterThanOrEqual(before[time].getTime())
          }
          for (const time of [lifecycle.quietSince, lifecycle.stoppingSince, lifecycle.answeredAt, lifecycle.endedAt]) {
            if (time) expect(time.getTime()).toBeLessThanOrEqual(lifecycle.updatedAt.getTime())
          }
        }
      }),
    )
  })

  test('after the clock was set back, Stop and silence count from the new time', () => {
    const updated = { ...newLifecycle(begin), updatedAt: later(3_600_000) }
    expect(beginStopping(updated, 'stopped', later(100))).toMatchObject({
      updatedAt: later(100),
      stoppingSince: later(100),
    })
    expect(afterAppActivity(updated, 'thought', later(100)).quietSince).toEqual(later(100))
  })

  test('every change has the time of the last one if `now` is earlier', () => {
    const updated = { ...newLifecycle(begin), updatedAt: later(500) }
    for (const type of types) {
      expect(afterAppActivity(updated, type, later(100))).toMatchObject({
        updatedAt: later(500),
        quietSince: later(500),
        answeredAt: later(500),
      })
    }
    expect(afterMessage(updated, later(100)).updatedAt).toEqual(later(500))
    expect(beginStopping(updated, 'stopped', later(100))).toMatchObject({
      updatedAt: later(500),
      stoppingSince: later(500),
    })
    expect(endNow(updated, 'uninstalled', later(100))).toMatchObject({ updatedAt: later(500), endedAt: later(500) })
    expect(afterUpdate(updated, { addsLinks: true }, later(100))).toMatchObject({
      updatedAt: later(500),
      answeredAt: later(500),
    })
  })
})
