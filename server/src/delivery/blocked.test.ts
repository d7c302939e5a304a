import { expect } from 'vitest'
import { at, done, eventNames, say, type Teamwork, teamwork } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { OtherWorker } from '../../test/other-worker.ts'
import type { Received } from '../../test/receiver.ts'
import { sql } from '../db/sql.ts'
import { wakeOverlooked } from './claim.ts'
import { EndpointWaker } from './endpoint-waker.ts'
import { DeliveryWorker } from './worker.ts'

const prompt = ({ owner }: Teamwork, session: { id: string }, body = 'And?') =>
  done(owner.post(`/agent-sessions/${session.id}/activities`, { content: { type: 'prompt', body } }))

const actions = (received: Received[]) => received.map(({ body }) => body.action)

const order = verifies('delivery.prompted-after-created')

test('prompted waits while created is in flight, and is sent after its attempt', order, async ({ app, receiver }) => {
  const scene = await teamwork(app, receiver)
  const other = await scene.delegated()
  await app.deliver()
  receiver.take()

  const { session } = await scene.delegated()
  await prompt(scene, session)
  let finish = () => {}
  receiver.answer = (response, { body }) => {
    if (body.action === 'created') finish = () => response.writeHead(200).end()
    else response.writeHead(200).end()
  }
  const arrives = receiver.next()
  const delivering = app.deliver()
  expect((await arrives).body.data.event_id).toBe(`ase_${session.id}_created`)
  // Another worker does not claim it either, and it is not overlooked. Deliveries of other sessions do not wait.
  const next = receiver.next()
  await prompt(scene, other.session)
  const deliveringMore = app.deliver()
  expect((await next).body.data.agent_session.id).toBe(other.session.id)
  await app.endpointsWoken()
  expect((await new OtherWorker(app).claim()).claimed).toEqual([])
  expect(await wakeOverlooked(app.ctx.db, app.clock.now())).toBe(0)
  expect(receiver.take()).toHaveLength(2)
  finish()
  await Promise.all([delivering, deliveringMore])
  expect(receiver.take().map(({ body }) => body.data.event_id)).toEqual([`ase_${session.id}_act_1`])
})

test('a failed attempt of created unblocks prompted', order, async ({ app, receiver }) => {
  const scene = await teamwork(app, receiver)
  const { issue, session } = await scene.delegated()
  await prompt(scene, session)
  await done(scene.owner.put(`/issues/${issue.id}`, { delegate_id: null }))
  receiver.answer = 500
  await app.deliver()
  expect(actions(receiver.take())).toEqual(['created', 'prompted', 'prompted'])
  receiver.answer = 200
  app.clock.advance({ seconds: 60 })
  await app.deliver()
  expect(actions(receiver.take()).sort()).toEqual(['created', 'prompted', 'prompted'])
})

test('a redelivery of prompted waits for created', order, async ({ app, receiver }) => {
  const scene = await teamwork(app, receiver)
  const { owner, robot } = scene
  const path = `/agent-apps/${robot.app.id}`
  const { session } = await scene.delegated()
  await prompt(scene, session)
  const [prompted, created] = (await done(owner.get(`${path}/deliveries`))).data
  expect([prompted.action, created.action]).toEqual(['prompted', 'created'])
  // Disabled, so that only redeliveries are sent.
  await done(owner.post(`${path}/webhook/disable`))
  const redeliver = (delivery: { id: string }) => done(owner.post(`${path}/deliveries/${delivery.id}/redeliver`))
  await redeliver(prompted)
  await app.deliver()
  expect(receiver.take()).toEqual([])
  receiver.answer = 500
  await redeliver(created)
  await app.deliver()
  expect(actions(receiver.take())).toEqual(['created', 'prompted'])
  receiver.answer = 200
  await done(owner.post(`${path}/webhook/enable`))
  await app.deliver()
  expect(eventNames(receiver.take())).toEqual(['AgentSessionEvent created', 'AgentSessionEvent prompted'])
})

test('prompted comes after created even if a process dies in between', order, async ({ startApp, receiver }) => {
  const app = await startApp()
  const { ctx, clock } = app
  const scene = await teamwork(app, receiver)
  const { session } = await scene.delegated()
  await prompt(scene, session)
  await app.endpointsWoken()
  const clearDue = () => ctx.db.run(sql`update endpoints set next_due_at = null`)
  await clearDue()
  expect(await wakeOverlooked(ctx.db, clock.now())).toBe(1)
  await app.endpointsWoken()
  const { claimed } = await new OtherWorker(app).claim()
  expect(claimed).toHaveLength(1)
  // The worker died before it sent anything: the lease expires, and created is claimed again.
  clock.advance({ seconds: 15 })
  const next = new OtherWorker(app)
  const { claimed: again } = await next.claim()
  expect(again.map(({ id }) => id)).toEqual(claimed.map(({ id }) => id))
  // This one died after it had written the attempt, before it claimed the unblocked delivery.
  await next.complete(again)
  clock.advance({ seconds: 15 })
  await clearDue()
  await app.deliver()
  expect(actions(receiver.take())).toEqual(['prompted'])
})

test('created comes first with concurrent workers and users', order, async ({ startApp, receiver }) => {
  const app = await startApp()
  const scene = await teamwork(app, receiver)
  const { owner, member, robot, team, issueIn, sessionsOn } = scene
  let count = 0
  receiver.answer = (response) => response.writeHead(++count % 3 === 0 ? 500 : 200).end()
  const workers = [1, 2].map(() => new DeliveryWorker(app.ctx, new EndpointWaker(app.ctx.db, app.clock, app.ctx.log)))
  for (const worker of workers) worker.start()
  const issues = await Promise.all(Array.from({ length: 8 }, () => issueIn(team.id)))
  await Promise.all(
    issues.map(async (issue) => {
      const root = await say(member, issue, at(robot))
      await Promise.all([say(owner, issue, 'One', { under: root }), say(member, issue, 'Two', { under: root })])
      const [session] = await sessionsOn(issue)
      await done(owner.post(`/agent-sessions/${session.id}/stop`))
    }),
  )
  const expected = 8 * 4
  while (new Set(receiver.received.map(({ body }) => body.data.event_id)).size < expected) await receiver.next()
  for (const worker of workers) await worker.stop()
  const seen = new Set<string>()
  for (const { body } of receiver.take()) {
    const { id } = body.data.agent_session
    if (body.action === 'created') seen.add(id)
    else expect(seen).toContain(id)
  }
  expect(seen.size).toBe(8)
})
