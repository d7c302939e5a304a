import fc from 'fast-check'
import { expect } from 'vitest'
import type { Response } from '../client.ts'
import type { SessionModel } from './model.ts'
import type { ServiceDriver } from './service-driver.ts'
import { type Answer, isOpen, type Person, type Robot, type Session, type Team } from './types.ts'

/** One step in the model and in the service, repeated `times` times. */
export interface Step {
  /** Null if the step sends no request. */
  model: () => Answer | null
  real: (service: ServiceDriver) => Promise<Response | undefined>
  times?: number
}

export type Command = fc.AsyncCommand<SessionModel, ServiceDriver>

export function command<Picks>(
  name: string,
  picks: fc.Arbitrary<Picks>,
  plan: (model: SessionModel, picks: Picks) => Step | null,
) {
  return picks.map(
    (picked): Command => ({
      check: (model) => plan(model as SessionModel, picked) !== null,
      async run(model, service) {
        const step = plan(model, picked) as Step
        for (let time = 0; time < (step.times ?? 1); time++) await compare(model, service, step)
        service.progress.steps++
      },
      toString: () => `${name} ${JSON.stringify(picked)}`,
    }),
  )
}

async function compare(model: SessionModel, service: ServiceDriver, step: Step) {
  const expected = step.model()
  const answer = await step.real(service)
  if (expected && answer) {
    const { status, code, details } = expected
    const refused = answer.status >= 400
    expect({ status: answer.status, code: refused ? answer.body.code : undefined }).toEqual({ status, code })
    if (details) expect(answer.body.details).toEqual(details)
    if (status === 429) expect(answer.headers.get('retry-after')).toBe('1')
  }
  await service.compareState(model)
  if (expected && answer) service.compareAnswer(model, expected, answer)
}

export const person = fc.constantFrom<Person>('owner', 'owner', 'outsider')
export const robot = fc.constantFrom<Robot>(0, 1)
export const team = fc.constantFrom<Team>('A', 'A', 'A', 'B', null)
export const mentions = fc.constantFrom<Robot[]>([], [0], [1], [0, 1])
export const pick = fc.nat(20)
export const word = fc.constantFrom('one', 'two')
export const key = fc.constantFrom(null, null, null, 'k1', 'k2')

/** Picks the index of one of the last items, usually one that `isCurrent`. */
export function pickIndex<Item>(items: Item[], isCurrent: (item: Item) => boolean, number: number): number | null {
  const current = items.flatMap((item, index) => (isCurrent(item) ? [index] : []))
  const among = number % 7 === 6 || current.length === 0 ? items.map((_, index) => index) : current
  return among.length === 0 ? null : (among[among.length - 1 - (number % Math.min(among.length, 4))] as number)
}
export const issueOf = (model: SessionModel, number: number) =>
  pickIndex(model.issues, ({ deleted }) => !deleted, number) as number
export const commentOf = (model: SessionModel, number: number) =>
  pickIndex(model.comments, ({ deleted }) => !deleted, number)
export const sessionOf = (model: SessionModel, number: number) => pickIndex(model.sessions, isOpen, number)

export const keyed = (header: string | null) => (header ? { headers: { 'idempotency-key': header } } : {})

/** A command on one session. */
export const inSession = <Picks extends { at: number }>(
  name: string,
  picks: fc.Arbitrary<Picks>,
  plan: (model: SessionModel, session: Session, index: number, picks: Picks) => Step | null,
) =>
  command(name, picks, (model, picked) => {
    const index = sessionOf(model, picked.at)
    return index === null ? null : plan(model, model.sessions[index] as Session, index, picked)
  })
