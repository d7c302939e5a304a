import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { done, teamwork } from '../../test/delegation.ts'
import { type TestApp, type TestPerson, test } from '../../test/harness.ts'
import { Listener, listenable } from '../../test/listener.ts'
import type { Receiver } from '../../test/receiver.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'

/** A workspace with a webhook for issues of all teams, and a function that creates deliveries. */
async function scene(app: TestApp, receiver: Receiver) {
  const workspace = await app.workspace()
  const { owner } = workspace
  const hook = { label: 'Chat', url: receiver.url, all_teams: true, resource_types: ['Issue', 'Comment'] }
  const webhook = await done(owner.post('/webhooks', hook))
  const path = `/webhooks/${webhook.id}`
  const issue = (title = 'A bug') => done(owner.post('/issues', { title }))
  const deliver = async (answer: number, count = 1) => {
    receiver.answer = answer
    for (let made = 0; made < count; made++) await issue()
    await app.deliver()
  }
  return { ...workspace, path, issue, deliver, health: () => done(owner.get(`${path}/health`)) }
}

const dates = (app: TestApp) =>
  Array.from({ length: 14 }, (_, index) =>
    new Date(app.clock.now().getTime() - (13 - index) * 86_400_000).toISOString().slice(0, 10),
  )
const counts = (days: { succeeded: number; failed: number }[]) => days.map((day) => [day.succeeded, day.failed])
const zeros = (count: number) => Array.from({ length: count }, () => [0, 0])

describe('the health of a webhook', () => {
  test('without deliveries is fourteen empty days', async ({ app, receiver }) => {
    const { health } = await scene(app, receiver)
    expect(await health()).toEqual({
      days: dates(app).map((date) => ({ date, succeeded: 0, failed: 0 })),
      success_rate: null,
      last_success_at: null,
      last_failure: null,
      failing_since: null,
      held: 0,
    })
  })

  test('counts each attempt on its day, for fourteen days', async ({ app, receiver }) => {
    const { owner, path, health, deliver } = await scene(app, receiver)
    await deliver(200, 3)
    const succeededAt = app.clock.now().toISOString()
    app.clock.advance({ minutes: 1 })
    await deliver(503)
    const [failing] = (await done(owner.get(`${path}/deliveries`))).data
    expect(await health()).toMatchObject({
      success_rate: 0.75,
      last_success_at: succeededAt,
      last_failure: {
        at: app.clock.now().toISOString(),
        reason: 'http_error',
        http_status: 503,
        delivery_id: failing.id,
      },
      failing_since: null,
      held: 0,
    })

    // The same delivery fails again on the next day, and is redelivered.
    app.clock.advance({ days: 1 })
    await app.deliver()
    receiver.answer = 200
    await done(owner.post(`${path}/deliveries/${failing.id}/redeliver`))
    await app.deliver()
    const after = await health()
    expect(after.days.map(({ date }: { date: string }) => date)).toEqual(dates(app))
    expect(counts(after.days)).toEqual([...zeros(12), [3, 1], [1, 1]])
    expect(after.success_rate).toBe(4 / 6)
    expect(after.last_success_at).toBe(app.clock.now().toISOString())

    app.clock.advance({ days: 13 })
    expect(counts((await health()).days)).toEqual([[1, 1], ...zeros(13)])
    app.clock.advance({ days: 1 })
    expect(await health()).toMatchObject({ success_rate: null, last_success_at: after.last_success_at })
  })

  test('counts no test and no delivery of another webhook', async ({ app, receiver }) => {
    const { owner, path, health, deliver } = await scene(app, receiver)
    const before = await health()
    await done(owner.post(`${path}/test`))
    receiver.answer = 500
    await done(owner.post(`${path}/test`))
    const [ping] = (await done(owner.get(`${path}/deliveries`))).data
    await done(owner.post(`${path}/deliveries/${ping.id}/redeliver`))
    await app.deliver()
    expect(await health()).toEqual(before)
    const other = await scene(app, receiver)
    await other.deliver(200)
    await deliver(200)
    expect(counts((await health()).days).at(-1)).toEqual([1, 0])
  })

  test('shows since when it is failing, and how many deliveries are held', async ({ app, receiver }) => {
    const { owner, path, health, deliver, issue } = await scene(app, receiver)
    await deliver(500, 3)
    for (const delay of [{ minutes: 1 }, { hours: 1 }]) {
      app.clock.advance(delay)
      await app.deliver()
    }
    await issue('Waits')
    await owner.get(path)
    app.clock.advance({ hours: 6 })
    // First attempts come before retries, so the last delivery has had its first when the others have had their fourth.
    await app.deliver()
    const since = app.clock.now().toISOString()
    expect(await health()).toMatchObject({ failing_since: since, held: 1, success_rate: 0 })
    receiver.answer = 200
    await done(owner.post(`${path}/enable`))
    expect(await health()).toMatchObject({ failing_since: null, held: 0 })
    await done(owner.post(`${path}/disable`))
    expect(await health()).toMatchObject({ failing_since: null, held: 1 })
  })

  test('of earlier attempts is filled in by the migration', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner, robot, delegated } = await teamwork(app, receiver, { resourceTypes: ['Issue'] })
    const { deliver } = await scene(app, receiver)
    await deliver(200, 2)
    await deliver(503)
    receiver.answer = 200
    app.clock.advance({ days: 1 })
    const { session } = await delegated()
    await app.deliver()
    await done(owner.post(`/agent-apps/${robot.app.id}/webhook/test`))
    const { db } = app.ctx
    const counted = () => db.rows(sql`select * from endpoint_days order by endpoint_id, day`)
    const sessionDeliveries = () => owner.get(`/agent-apps/${robot.app.id}/deliveries?agent_session_id=${session.id}`)
    const [before, listedBefore] = [await counted(), await sessionDeliveries()]
    expect(before).toHaveLength(3)
    const migration = readFileSync(new URL('../../migrations/0008_track_records.sql', import.meta.url), 'utf8')
    const filling = migration.split(/;\n/).filter((part) => /^\s*(insert|update) /m.test(part))
    expect(filling).toHaveLength(2)
    await db.run(sql`delete from endpoint_days`)
    await db.run(sql`update events set agent_session_id = null`)
    await db.tx((tx) => tx.script(filling.join(';')))
    expect(await counted()).toEqual(before)
    expect((await sessionDeliveries()).body).toEqual(listedBefore.body)
  })

  test('is only for managers of the workspace', async ({ app, receiver }) => {
    const { member, admin, path } = await scene(app, receiver)
    const elsewhere = await scene(app, receiver)
    expect((await admin.get(`${path}/health`)).status).toBe(200)
    expect(await member.get(`${path}/health`)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect((await elsewhere.owner.get(`${path}/health`)).status).toBe(404)
  })

  test('drops days after a month, but keeps the first success', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner, health, deliver } = await scene(app, receiver)
    const { path: appPath, issue } = await listenable(app, owner, receiver.url)
    receiver.answer = 200
    await issue()
    await app.deliver()
    const first = app.clock.now().toISOString()
    app.clock.advance({ days: 3 })
    await deliver(500)
    await deliver(200)
    for (let passed = 0; passed < 4; passed++) {
      app.clock.advance({ days: 10 })
      await owner.get('/auth/me')
      await sweep(app.ctx)
    }
    expect(await health()).toMatchObject({ last_success_at: null, last_failure: null })
    expect((await done(owner.get(`${appPath}/setup`))).first_delivered_at).toBe(first)
    // One day is left for each of the two endpoints.
    const kept = await app.ctx.db.rows<{ count: number }>(sql`select count(*) from endpoint_days group by endpoint_id`)
    expect(kept.map(({ count }) => count)).toEqual([1, 1])
  })
})

describe('the health of an app’s webhook', () => {
  test('is for managers and the registrant, and leaves out relayed attempts', async ({ app, receiver }) => {
    const { owner, member } = await app.workspace()
    const { id, path, issue } = await listenable(app, owner, receiver.url)
    const health = (person: TestPerson) => person.get(`${path}/webhook/health`)
    expect(await health(member)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    const before = (await health(owner)).body
    const listener = await Listener.of(owner, id, { takeOver: true })
    for (const status of [500, 200]) {
      await issue()
      const delivering = app.deliver()
      await listener.take({ status })
      await delivering
    }
    expect((await health(owner)).body).toEqual(before)
    // For setup progress the relayed success counts.
    expect((await done(member.get(`${path}/setup`))).first_delivered_at).toBe(app.clock.now().toISOString())
  })
})

describe('deliveries', () => {
  test('are filtered by type, settled and pending together', async ({ app, receiver }) => {
    const { owner, path, issue, deliver } = await scene(app, receiver)
    const found = async (query: string) =>
      (await done(owner.get(`${path}/deliveries?${query}`))).data.map(({ id }: { id: string }) => id)
    await deliver(200, 2)
    const made = await issue()
    await done(owner.post('/comments', { target_type: 'issue', target_id: made.id, text: 'Hm' }))
    await done(owner.post(`${path}/test`))
    const all = (await done(owner.get(`${path}/deliveries`))).data
    const of = (type: string, status?: string) =>
      all
        .filter((delivery: { type: string; status: string }) => delivery.type === type)
        .filter((delivery: { status: string }) => !status || delivery.status === status)
        .map(({ id }: { id: string }) => id)
    expect([of('Issue'), of('Comment'), of('Ping')].map((ids) => ids.length)).toEqual([3, 1, 1])
    for (const type of ['Issue', 'Comment', 'Ping']) {
      expect(await found(`type=${type}`)).toEqual(of(type))
      for (const status of ['pending', 'succeeded', 'failed']) {
        expect(await found(`type=${type}&status=${status}`)).toEqual(of(type, status))
      }
    }
    expect(await found('type=Project')).toEqual([])
    const first = await done(owner.get(`${path}/deliveries?type=Issue&limit=2`))
    const second = await done(owner.get(`${path}/deliveries?type=Issue&limit=2&cursor=${first.next_cursor}`))
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(of('Issue'))
    expect(second.next_cursor).toBeNull()
    for (const query of ['type=Sandwich', 'type=', 'agent_session_id=sess_x']) {
      expect((await owner.get(`${path}/deliveries?${query}`)).status).toBe(422)
    }
  })

  test('of an app are filtered by agent session', async ({ app, receiver }) => {
    const { owner, member, robot, delegated } = await teamwork(app, receiver, { resourceTypes: ['Issue'] })
    const path = `/agent-apps/${robot.app.id}/deliveries`
    const [one, two] = [(await delegated()).session, (await delegated()).session]
    await done(member.post(`/agent-sessions/${one.id}/activities`, { content: { type: 'prompt', body: 'And?' } }))
    const listed = async (query: string) =>
      (await done(owner.get(`${path}?${query}`))).data.map((delivery: { type: string; action: string }) => [
        delivery.type,
        delivery.action,
      ])
    const { data } = await done(owner.get(`${path}?agent_session_id=${one.id}`))
    // As in the body that the receiver gets.
    expect(data.map(({ event_id }: { event_id: string }) => event_id)).toEqual([
      `ase_${one.id}_act_1`,
      `ase_${one.id}_created`,
    ])
    expect((await done(owner.get(`${path}/${data[1].id}`))).event_id).toBe(data[1].event_id)
    expect(await listed(`agent_session_id=${one.id}`)).toEqual([
      ['AgentSessionEvent', 'prompted'],
      ['AgentSessionEvent', 'created'],
    ])
    expect(await listed(`agent_session_id=${two.id}&type=AgentSessionEvent&status=pending`)).toEqual([
      ['AgentSessionEvent', 'created'],
    ])
    expect(await listed(`agent_session_id=${two.id}&status=succeeded`)).toEqual([])
    await app.deliver()
    expect(await listed(`agent_session_id=${two.id}&status=succeeded`)).toHaveLength(1)
    expect(await listed(`agent_session_id=${one.id}&type=Issue`)).toEqual([])
    expect(await listed('agent_session_id=sess_nothing')).toEqual([])
    const { next_cursor } = await done(owner.get(`${path}?agent_session_id=${one.id}&limit=1`))
    expect(await listed(`agent_session_id=${one.id}&limit=1&cursor=${next_cursor}`)).toEqual([
      ['AgentSessionEvent', 'created'],
    ])

    // Nor by the session of another app.
    const elsewhere = await teamwork(app, receiver)
    const theirs = `/agent-apps/${elsewhere.robot.app.id}/deliveries?agent_session_id=${one.id}`
    expect((await done(elsewhere.owner.get(theirs))).data).toEqual([])
  })
})
