import fc from 'fast-check'
import { expect } from 'vitest'
import { test } from '../../server/test/harness.ts'
import { delegated, eventsFor, type Running, running } from '../test/scene.ts'
import type { Receipt } from './handlers.ts'
import { signWebhook, type WebhookEvent } from './webhooks.ts'

const sessions = 6
const messages = 4
const deliveries = 1000

/** What can happen to a delivery in transit. */
const fates = ['whole', 'whole', 'whole', 'body', 'signature', 'unsigned', 'old', 'other secret'] as const
type Fate = (typeof fates)[number]

const refusals: Record<Exclude<Fate, 'whole'>, string> = {
  body: 'bad_signature',
  signature: 'bad_signature',
  unsigned: 'missing_signature',
  old: 'stale_timestamp',
  'other secret': 'bad_signature',
}

function delivery({ app, client }: Running, event: WebhookEvent, fate: Fate, at: number) {
  const now = new Date(app.clock.now().getTime() - (fate === 'old' ? 60_001 : 0))
  const secret = fate === 'other secret' ? 'pwhsec_other' : client.webhook_secret
  const { body, headers } = signWebhook(event, { secret, now })
  if (fate === 'body') body[at % body.length] = (body[at % body.length] ?? 0) ^ 1
  const { 'svc-signature': signature = '', ...rest } = headers
  if (fate === 'unsigned') return { rawBody: body, headers: rest }
  const changed = `${signature.startsWith('0') ? '1' : '0'}${signature.slice(1)}`
  return { rawBody: body, headers: { ...rest, 'svc-signature': fate === 'signature' ? changed : signature } }
}

test('processes each event once and in order among a thousand duplicated, reordered, delayed and corrupted deliveries', async ({
  app,
}) => {
  const scene = await running(app, { onCreated: () => {} })
  for (let n = 0; n < sessions; n++) {
    const { sessionId } = await delegated(scene, scene.agentUserId, `Issue ${n}`)
    for (let message = 1; message <= messages; message++) await scene.prompt(sessionId, `${message}`)
  }
  const events = await eventsFor(scene)
  const expected = events.map(({ data }) => ('event_id' in data ? data.event_id : '')).sort()
  expect(expected).toHaveLength(sessions * (messages + 1))

  const perRun = 125
  const arbitrary = fc.record({
    /** Each event at least once, in any order, among others. */
    certain: fc.shuffledSubarray([...events.keys()], { minLength: events.length }),
    others: fc.array(fc.record({ event: fc.nat(events.length - 1), fate: fc.constantFrom(...fates), at: fc.nat() }), {
      minLength: perRun - events.length,
      maxLength: perRun - events.length,
    }),
    places: fc.array(fc.nat(), { minLength: events.length, maxLength: events.length }),
    delays: fc.array(fc.nat(30), { minLength: perRun, maxLength: perRun }),
  })
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ certain, others, places, delays }) => {
      const queue: { event: number; fate: Fate; at: number }[] = [...others]
      for (const [n, event] of certain.entries()) {
        queue.splice((places[n] ?? 0) % (queue.length + 1), 0, { event, fate: 'whole', at: 0 })
      }
      const { started, receipts } = await deliverAll(scene, events, queue, delays)
      expect(receipts.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(events.length)
      for (const [n, { fate }] of queue.entries()) {
        const { status, outcome } = receipts[n] as Receipt
        if (fate === 'whole') expect(status).toBe(200)
        else expect({ status: Math.floor(status / 100), outcome }).toEqual({ status: 4, outcome: refusals[fate] })
      }
      expect(started.map(({ eventId }) => eventId).sort()).toEqual(expected)
      for (const id of new Set(started.map(({ sessionId }) => sessionId))) {
        const received = started.filter(({ sessionId }) => sessionId === id)
        expect(received.map(({ text }) => text)).toEqual(['created', '1', '2', '3', '4'])
      }
      return true
    }),
    // Shrinking would take longer than reading the failure.
    { numRuns: deliveries / perRun, endOnFailure: true },
  )
  expect(scene.errors).toEqual([])
})

async function deliverAll(
  scene: Running,
  events: WebhookEvent[],
  queue: { event: number; fate: Fate; at: number }[],
  delays: number[],
) {
  const started: { eventId: string; sessionId: string; text: string }[] = []
  const agent = scene.createOther({
    firstThought: false,
    onCreated: ({ id }, { data }) => void started.push({ eventId: data.event_id, sessionId: id, text: 'created' }),
    onPrompted: ({ id, prompt }, { data }) =>
      void started.push({ eventId: data.event_id, sessionId: id, text: prompt }),
  })
  const receipts: Receipt[] = []
  for (const [n, { event, fate, at }] of queue.entries()) {
    receipts.push(await agent.receive(delivery(scene, events[event] as WebhookEvent, fate, at)))
    scene.app.clock.advance({ milliseconds: delays[n] ?? 0 })
    if (at % 3 === 0) await new Promise(setImmediate)
  }
  await agent.settled()
  return { started, receipts }
}
