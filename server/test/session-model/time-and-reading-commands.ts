import fc from 'fast-check'
import { settleDue } from '../../src/agent-sessions/timers.ts'
import { command, inSession, issueOf, pick, type Step } from './command.ts'
import type { SessionModel } from './model.ts'
import type { Person, Robot } from './types.ts'

// Time

const pass = (model: SessionModel, ms: number): Step => ({
  model: () => {
    model.advance(ms)
    return null
  },
  real: async ({ app }) => {
    app.clock.advance({ milliseconds: ms })
    return undefined
  },
})

const spans = [1, 1, 500, 999, 1000, 1000, 2000, 9999, 10_000, 59_999, 60_000, 1_799_999, 1_800_000]
export const wait = command('wait', fc.constantFrom(...spans), pass)

/** Moves the clock to 1 ms before, exactly at or 1 ms after a deadline of a session. */
export const approachDeadline = inSession(
  'approachDeadline',
  fc.record({ at: pick, deadline: fc.constantFrom(0, 1, 2), off: fc.constantFrom(-1, 0, 1) }),
  (model, session, _, { deadline, off }) => {
    const ms = (model.deadlines(session)[deadline] as number) + off - model.now
    return ms > 0 ? pass(model, ms) : null
  },
)

export const tick = command('tick', fc.constant(null), () => ({
  model: () => null,
  real: async ({ app }) => {
    await settleDue(app.ctx)
    return undefined
  },
}))

// Reading

const reader = fc.constantFrom<Person | Robot>('owner', 'outsider', 0, 1)

export const read = inSession('read', fc.record({ at: pick, who: reader }), (model, session, index, { who }) => ({
  model: () => model.read(who, session),
  real: (service) => service.clientOf(who).get(service.session(index)),
}))

const readPicks = fc.record({ at: pick, who: reader, after: fc.nat(6), limit: fc.integer({ min: 1, max: 5 }) })
export const readActivities = inSession(
  'readActivities',
  readPicks,
  (model, session, index, { who, after, limit }) => ({
    model: () => model.readActivities(who, session, after, limit),
    real: (service) =>
      service.clientOf(who).get(`${service.session(index)}/activities?after_seq=${after}&limit=${limit}`),
  }),
)

const states = ['pending', 'active', 'awaitingInput', 'error', 'complete', 'stale', 'stopping'] as const
const listPicks = fc.record({ who: reader, state: fc.option(fc.constantFrom(...states)), at: fc.option(pick) })
export const list = command('list', listPicks, (model, { who, state, at }) => {
  const issue = at === null ? null : issueOf(model, at)
  return {
    model: () => model.list(who, state, issue),
    real: (service) => {
      const filters = { ...(state && { state }), ...(issue !== null && { issue_id: service.issues[issue] as string }) }
      return service.clientOf(who).get(`/agent-sessions?${new URLSearchParams({ limit: '100', ...filters })}`)
    },
  }
})
