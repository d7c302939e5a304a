import fc from 'fast-check'
import { expect } from 'vitest'
import type { Response } from '../client.ts'
import type { SessionModel } from './model.ts'
import { type Answer, isOpen, type Person, type Robot, type Session, type Team } from './things.ts'
import type { World } from './world.ts'

/** What one step means to the model, and how it is done in the service; perhaps several times over. */
export interface Step {
  /** Null where nobody is asked. */
  model: () => Answer | null
  real: (world: World) => Promise<Response | undefined>
  times?: number
}

export type Command = fc.AsyncCommand<SessionModel, World>

/** How many steps were taken. */
export const taken = { steps: 0 }

export function command<Picks>(
  name: string,
  picks: fc.Arbitrary<Picks>,
  plan: (model: SessionModel, picks: Picks) => Step | null,
) {
  return picks.map(
    (picked): Command => ({
      check: (model) => plan(model as SessionModel, picked) !== null,
      async run(model, world) {
        const step = plan(model, picked) as Step
        for (let time = 0; time < (step.times ?? 1); time++) await compare(model, world, step)
        taken.steps++
      },
      toString: () => `${name} ${JSON.stringify(picked)}`,
    }),
  )
}

async function compare(model: SessionModel, world: World, step: Step) {
  const expected = step.model()
  const answer = await step.real(world)
  if (expected && answer) {
    const { status, code, details } = expected
    const refused = answer.status >= 400
    expect({ status: answer.status, code: refused ? answer.body.code : undefined }).toEqual({ status, code })
    if (details) expect(answer.body.details).toEqual(details)
    if (status === 429) expect(answer.headers.get('retry-after')).toBe('1')
  }
  await world.look(model)
  if (expected && answer) world.check(model, expected, answer)
}

export const person = fc.constantFrom<Person>('owner', 'owner', 'outsider')
export const robot = fc.constantFrom<Robot>(0, 1)
export const team = fc.constantFrom<Team>('A', 'A', 'A', 'B', null)
export const mentions = fc.constantFrom<Robot[]>([], [0], [1], [0, 1])
export const pick = fc.nat(20)
export const word = fc.constantFrom('one', 'two')
export const key = fc.constantFrom(null, null, null, 'k1', 'k2')

/** Mostly one that is there still. */
export function one<Item>(items: Item[], isThere: (item: Item) => boolean, number: number): number | null {
  const there = items.flatMap((item, index) => (isThere(item) ? [index] : []))
  const among = number % 7 === 6 || there.length === 0 ? items.map((_, index) => index) : there
  // The latest is the likeliest.
  return among.length === 0 ? null : (among[among.length - 1 - (number % Math.min(among.length, 4))] as number)
}
export const issueOf = (model: SessionModel, number: number) => one(model.issues, ({ gone }) => !gone, number) as number
export const commentOf = (model: SessionModel, number: number) => one(model.comments, ({ gone }) => !gone, number)
export const sessionOf = (model: SessionModel, number: number) => one(model.sessions, isOpen, number)

export const keyed = (header: string | null) => (header ? { headers: { 'idempotency-key': header } } : {})

/** Something that becomes of one session. */
export const inSession = <Picks extends { at: number }>(
  name: string,
  picks: fc.Arbitrary<Picks>,
  plan: (model: SessionModel, session: Session, index: number, picks: Picks) => Step | null,
) =>
  command(name, picks, (model, picked) => {
    const index = sessionOf(model, picked.at)
    return index === null ? null : plan(model, model.sessions[index] as Session, index, picked)
  })
