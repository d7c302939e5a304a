import { sessionStates } from '@baton/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plus } from '../clock.ts'
import {
  advance,
  afterAppActivity,
  afterLink,
  afterMessage,
  dueAt,
  endNow,
  opened,
  type Standing,
  stop,
  takesMessages,
  turnsAt,
  unresponsiveSince,
} from './state.ts'

const rules = { staleAfterMs: 1_800_000, stoppingTimeoutMs: 60_000, unresponsiveAfterMs: 10_000 }
const begin = new Date('2026-03-02T09:00:00.000Z')
const later = (ms: number) => plus(begin, ms)
const types = ['thought', 'action', 'elicitation', 'response', 'error'] as const

/** A session that has been in a state since the beginning. */
const inState = (state: Standing['state']): Standing => ({
  ...opened(begin),
  state,
  ...(state === 'stopping' ? { stoppingSince: begin, endReason: 'stopped' } : {}),
})

describe('what the agent says', () => {
  const after = {
    thought: 'active',
    action: 'active',
    elicitation: 'awaitingInput',
    response: 'complete',
    error: 'error',
  }
  for (const state of sessionStates.filter((one) => one !== 'stopping')) {
    test(`moves on from ${state}, and ends nothing`, () => {
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

  test('while stopping is a last word or nothing', () => {
    const stopping = inState('stopping')
    for (const type of ['thought', 'action', 'elicitation'] as const) {
      expect(afterAppActivity(stopping, type, later(5))).toMatchObject({ state: 'stopping', endedAt: null })
    }
    for (const [type, state] of [['response', 'complete'] as const, ['error', 'error'] as const]) {
      const over = { state, endedAt: later(5), endReason: 'stopped' }
      expect(afterAppActivity(stopping, type, later(5))).toMatchObject(over)
    }
  })

  test('is answered by the first of it', () => {
    const once = afterAppActivity(opened(begin), 'thought', later(1))
    expect(afterAppActivity(once, 'thought', later(2)).answeredAt).toEqual(later(1))
    expect(afterLink(once, later(2)).answeredAt).toEqual(later(1))
    expect(afterLink(opened(begin), later(2))).toMatchObject({ answeredAt: later(2), quietSince: begin })
  })
})

describe('what a person does', () => {
  test('is heard while it has neither ended nor been told to stop', () => {
    for (const state of sessionStates) expect(takesMessages(inState(state))).toBe(state !== 'stopping')
    expect(takesMessages(endNow(opened(begin), 'issue_deleted', begin))).toBe(false)
  })

  test('begins anew what was at rest, and leaves alone what is under way', () => {
    for (const state of ['pending', 'active'] as const) {
      expect(afterMessage(inState(state), later(5))).toMatchObject({ state, quietSince: begin })
    }
    for (const state of ['awaitingInput', 'complete', 'error', 'stale'] as const) {
      expect(afterMessage(inState(state), later(5))).toMatchObject({ state: 'pending', quietSince: later(5) })
    }
  })

  test('can stop it from everywhere', () => {
    for (const state of sessionStates) {
      expect(stop(inState(state), 'undelegated', later(5))).toMatchObject({
        state: 'stopping',
        stoppingSince: later(5),
        endReason: 'undelegated',
        endedAt: null,
      })
    }
  })
})

describe('time', () => {
  test('makes stale what has been silent for so long, and nothing else', () => {
    for (const state of sessionStates.filter((one) => one !== 'stopping')) {
      const silent = inState(state)
      expect(advance(silent, later(rules.staleAfterMs - 1), rules)).toBe(silent)
      const expected = state === 'pending' || state === 'active' ? 'stale' : state
      expect(advance(silent, later(rules.staleAfterMs), rules).state).toBe(expected)
    }
  })

  test('ends what was told to stop, at the moment it was over', () => {
    const stopping = inState('stopping')
    expect(advance(stopping, later(59_999), rules)).toBe(stopping)
    for (const now of [60_000, 3_600_000]) {
      expect(advance(stopping, later(now), rules)).toMatchObject({ state: 'complete', endedAt: later(60_000) })
    }
  })

  test('does nothing more to what has ended', () => {
    const over = endNow(opened(begin), 'uninstalled', begin)
    expect(advance(over, later(rules.staleAfterMs), rules)).toBe(over)
    expect(turnsAt(over, rules)).toBeNull()
  })

  test('notices silence ten seconds after the opening', () => {
    const opening = { createdAt: begin, openedByAgent: false }
    const since = (standing: Standing, ms: number, agent = false) =>
      unresponsiveSince({ ...opening, openedByAgent: agent }, standing, later(ms), rules)
    const silent = opened(begin)
    expect(since(silent, 9_999)).toBeNull()
    expect(since(silent, 10_000)).toEqual(later(10_000))
    expect(since(silent, 10_000, true)).toBeNull()
    expect(since(afterLink(silent, later(20_000)), 20_000)).toBeNull()
    expect(since(endNow(silent, 'uninstalled', later(9_999)), 20_000)).toBeNull()
    expect(since(endNow(silent, 'uninstalled', later(10_000)), 20_000)).toEqual(later(10_000))
  })
})

type Step = (standing: Standing, now: Date) => Standing
const heard =
  (step: Step): Step =>
  (standing, now) =>
    takesMessages(standing) ? step(standing, now) : standing
const step = fc.oneof(
  fc.constantFrom(...types).map(
    (type): Step =>
      (standing, now) => {
        return standing.endedAt ? standing : afterAppActivity(standing, type, now)
      },
  ),
  fc.constant(heard(afterMessage)),
  fc.constant(heard((standing, now) => stop(standing, 'stopped', now))),
)
const course = fc.array(fc.tuple(fc.nat(2_000_000), step), { maxLength: 12 })

describe('whatever happens', () => {
  test('a timer that looks when it should sees every change, and looking more often changes nothing', () => {
    fc.assert(
      fc.property(course, fc.boolean(), (steps, openedByAgent) => {
        const opening = { createdAt: begin, openedByAgent }
        const looks = (standing: Standing, now: Date) =>
          [advance(standing, now, rules).state, unresponsiveSince(opening, standing, now, rules)?.getTime()].join()
        let now = begin
        let standing = opened(begin)
        for (const [pause, act] of steps) {
          const next = plus(now, pause)
          for (let due = dueAt(opening, standing, now, rules); due && due <= next; ) {
            expect(looks(standing, plus(due, -1))).toBe(looks(standing, now))
            standing = advance(standing, due, rules)
            now = due
            due = dueAt(opening, standing, now, rules)
          }
          expect(looks(standing, next)).toBe(looks(standing, now))
          now = next
          standing = act(advance(standing, now, rules), now)
        }
      }),
    )
  })

  test('it has ended if and only if nothing is heard any more, with a reason; no reason comes without a Stop', () => {
    fc.assert(
      fc.property(course, (steps) => {
        let now = begin
        let standing = opened(begin)
        for (const [pause, act] of steps) {
          now = plus(now, pause)
          standing = act(advance(standing, now, rules), now)
          if (standing.endedAt) expect(['complete', 'error']).toContain(standing.state)
          expect(standing.endReason !== null).toBe(standing.stoppingSince !== null)
          expect(standing.endReason !== null).toBe(!takesMessages(standing))
        }
      }),
    )
  })
})
