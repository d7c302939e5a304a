import type { ServerResponse } from 'node:http'
import { limits } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { test as base, TestApp, verifies } from '../../test/harness.ts'
import { OtherWorker } from '../../test/other-worker.ts'
import type { Received, Receiver } from '../../test/receiver.ts'
import { webhookScene } from '../../test/webhook.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'
import { advanceReplays } from './replay.ts'

const idsOf = (received: Received[]) => received.map(({ headers }) => headers['svc-delivery'])
const titlesOf = (received: Received[]) => received.map(({ body }) => body.data.title)

/** Event ids of this file. */
let inserted = 0

/** A webhook; `replay` starts one and returns its record. */
async function scene(app: TestApp, receiver: Receiver) {
  const at = await webhookScene(app, receiver)
  const { owner, path, issue, webhook } = at
  const since = app.clock.now().toISOString()
  const start = (body: object) => owner.post(`${path}/replays`, body)
  return {
    ...at,
    since,
    start,
    replay: async (body: object = {}) => (await start({ since, ...body })).body,
    progress: async (id: string) => (await owner.get(`${path}/replays/${id}`)).body,
    /** Issues whose deliveries fail. */
    fail: async (...titles: string[]) => {
      receiver.answer = 500
      for (const title of titles) await issue(title)
      await app.deliver()
      receiver.answer = 200
      return receiver.take()
    },
    /** Deliveries that failed, without sending them. */
    insertFailed: (count: number) => {
      const first = inserted + 1
      inserted += count
      return app.ctx.db.run(sql`
        with made as (
          insert into events (id, workspace_id, type, action, team_ids, body, created_at)
          select 'evt_' || lpad(n::text, 26, '0'), ${at.workspaceId}, 'Issue', 'create', '{}',
            json_build_object('data', json_build_object('id', 'iss_' || n, 'title', n::text)), ${since}
          from generate_series(${first}::int, ${inserted}::int) n returning id
        )
        insert into deliveries (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled,
          created_at, settled_at)
        select delivery_id(id, ${webhook.id}), ${at.workspaceId}, ${webhook.id}, id, 'Issue', 'create', 'failed', 1, 1,
          ${since}, ${since} from made`)
    },
  }
}

const test = base.extend<{ retryingAtOnce: TestApp }>({
  /** Retries without delay, so that a delivery fails at once. */
  retryingAtOnce: [
    // biome-ignore lint/correctness/noEmptyPattern: as in harness.ts
    async ({}, use) => {
      const app = await TestApp.start({ BATON_RETRY_DELAYS: '0' })
      await use(app)
      await app.stop()
    },
    { scope: 'file' },
  ],
})

/** After a success, failures do not disable the webhook. */
const withSuccess = async (app: TestApp, receiver: Receiver) => {
  const at = await scene(app, receiver)
  await at.issue('Arrived')
  await app.deliver()
  receiver.take()
  return at
}

describe('a replay', () => {
  test(
    'sends failed deliveries once more, oldest first, under the same ids',
    verifies('replay.failed', 'replay.progress'),
    async ({ retryingAtOnce: app, receiver }) => {
      const { fail, replay, progress, owner, path } = await withSuccess(app, receiver)
      const titles = ['1', '2', '3', '4', '5', '6', '7', '8']
      const failed = await fail(...titles)
      const started = await replay()
      expect(started).toMatchObject({ state: 'running', matched: 8, sent: 0, succeeded: 0, failed: 0, skipped: 0 })
      expect(started.id).toMatch(/^rpl_/)
      // Seven are sent at the same time, and may arrive in any order.
      const held: ServerResponse[] = []
      receiver.answer = (response) => void held.push(response)
      const delivering = app.deliver()
      while (held.length < 7) await receiver.next()
      expect(titlesOf(receiver.received).sort()).toEqual(titles.slice(0, 7))
      receiver.answer = 200
      for (const response of held) response.end()
      await delivering
      const got = receiver.take()
      expect(titlesOf(got)[7]).toBe('8')
      expect(idsOf(got).sort()).toEqual([...new Set(idsOf(failed))].sort())
      const done = await progress(started.id)
      expect(done).toMatchObject({
        state: 'done',
        matched: 8,
        sent: 8,
        succeeded: 8,
        failed: 0,
        skipped: 0,
        finished_at: app.clock.now().toISOString(),
      })
      const { data } = (await owner.get(`${path}/deliveries`)).body
      expect(data.map(({ status }: { status: string }) => status)).toEqual(Array(9).fill('succeeded'))
      expect(done.last_event_id).toBe(data[0].event_id)
      expect((await owner.get(`${path}/replays`)).body.data).toEqual([done])
    },
  )

  test(
    'begins at a time or after an event, and ends at a time',
    verifies('replay.after-event', 'replay.failed'),
    async ({ retryingAtOnce: app, receiver }) => {
      const { fail, replay, start, since, owner, path } = await withSuccess(app, receiver)
      const other = await app.workspace('Other')
      await fail('One')
      app.clock.advance({ minutes: 1 })
      const second = app.clock.now().toISOString()
      await fail('Two')
      app.clock.advance({ minutes: 1 })
      await fail('Three')
      const matched = async (body: object) => (await start({ dry_run: true, ...body })).body.matched
      expect(await matched({ since })).toBe(3)
      expect(await matched({ since: second })).toBe(2)
      expect(await matched({ since, until: second })).toBe(2)
      expect(await matched({ since: second, types: ['Comment'] })).toBe(0)
      const { data } = (await owner.get(`${path}/deliveries?status=failed`)).body
      const [third, middle] = data
      expect(await matched({ after_event_id: middle.event_id })).toBe(1)
      expect(await matched({ after_event_id: third.event_id })).toBe(0)
      const { body: theirs } = await other.owner.post('/issues', { title: 'Theirs' })
      const bad = [
        {},
        { since, after_event_id: middle.event_id },
        { after_event_id: 'evt_unknown' },
        { after_event_id: theirs.id },
        { since: 'yesterday' },
        { since, which: 'succeeded' },
        { since, types: [] },
        { since, types: ['Ping'] },
      ]
      for (const body of bad) {
        const refused = await app.unchanged(() => start(body))
        expect(refused, JSON.stringify(body)).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      }
      await replay({ since: undefined, after_event_id: middle.event_id })
      await app.deliver()
      expect(titlesOf(receiver.take())).toEqual(['Three'])
    },
  )

  test(
    'of missed events delivers those that fit the webhook now and have no delivery',
    verifies('replay.missed'),
    async ({ retryingAtOnce: app, receiver }) => {
      const { owner, path, issue, replay, progress, deliveries } = await withSuccess(app, receiver)
      await owner.post(`${path}/disable`)
      for (const title of ['Missed', 'Filtered']) await issue(title)
      const { body: comment } = await owner.post('/issues', { title: 'Commented' })
      await owner.post('/comments', { target_type: 'issue', target_id: comment.id, text: 'Not its type' })
      const { body: high } = await owner.post('/issues', { title: 'High', priority: 'high' })
      await owner.patch(path, { filters: { Issue: { priority: ['high', 'urgent'] } } })
      await owner.post(`${path}/enable`)
      await app.deliver()
      expect(receiver.take()).toEqual([])
      const { id } = await replay({ which: 'missed' })
      await app.deliver()
      const got = receiver.take()
      expect(titlesOf(got)).toEqual(['High'])
      expect(await progress(id)).toMatchObject({ state: 'done', matched: 1, succeeded: 1 })
      expect((await deliveries()).find(({ issue }: { issue: { id: string } }) => issue.id === high.id)).toMatchObject({
        id: got[0]?.headers['svc-delivery'],
        status: 'succeeded',
      })
      // Nothing is missed any more.
      expect(await replay({ which: 'missed' })).toMatchObject({ matched: 0, state: 'done' })
    },
  )

  test(
    'of missed events includes those of its teams from before the webhook existed',
    verifies('replay.missed'),
    async ({ retryingAtOnce: app, receiver }) => {
      const { owner } = await app.workspace()
      const team = async (key: string) => (await owner.post('/teams', { name: key, key })).body.id
      const [ours, others] = [await team('OUR'), await team('OTH')]
      await owner.post('/issues', { title: 'Before', team_id: ours })
      await owner.post('/issues', { title: 'Of another team', team_id: others })
      const body = { label: 'Late', url: receiver.url, all_teams: false, team_ids: [ours], resource_types: ['Issue'] }
      const { body: webhook } = await owner.post('/webhooks', body)
      const since = new Date(app.clock.now().getTime() - 60_000).toISOString()
      await owner.post(`/webhooks/${webhook.id}/replays`, { since, which: 'missed' })
      await app.deliver()
      expect(titlesOf(receiver.take())).toEqual(['Before'])
    },
  )

  test(
    'of all sends the succeeded ones too, and skips pending and canceled ones',
    verifies('replay.skips', 'replay.progress'),
    async ({ app, receiver }) => {
      const { owner, webhook, issue, replay, progress } = await scene(app, receiver)
      await issue('Arrived')
      await app.deliver()
      receiver.answer = 500
      await issue('Pending')
      await app.deliver()
      const canceled = await issue('Canceled')
      await app.ctx.db.run(sql`
      update deliveries set status = 'canceled', next_at = null, settled_at = created_at
      where endpoint_id = ${webhook.id} and event_id in (
        select id from events where body->'data'->>'id' = ${canceled.id})`)
      const hidden = await issue('Private now')
      receiver.answer = 200
      await app.ctx.db.run(sql`
      update deliveries set status = 'failed', next_at = null, settled_at = created_at
      where endpoint_id = ${webhook.id} and event_id in (select id from events where body->'data'->>'id' = ${hidden.id})`)
      await owner.put(`/issues/${hidden.id}`, { personal: true })
      receiver.take()
      const { id, matched } = await replay({ which: 'all', types: ['Issue'] })
      await app.deliver()
      // The remove event of the private issue is a first attempt.
      const got = receiver.take().filter(({ body }) => body.action === 'create')
      expect(titlesOf(got)).toEqual(['Arrived'])
      const done = await progress(id)
      expect(done).toMatchObject({ state: 'done', sent: 1, succeeded: 1, skipped: matched - 1 })
      const { skipped_reasons: reasons } = done
      expect(reasons).toMatchObject({ canceled: 1, private: 1 })
      expect(Object.values<number>(reasons).reduce((sum, count) => sum + count, 0)).toBe(done.skipped)
    },
  )

  test(
    'skips deliveries that reached the limit of attempts, and those that succeeded meanwhile',
    verifies('replay.skips'),
    async ({ retryingAtOnce: app, receiver }) => {
      const { fail, replay, progress, webhook } = await withSuccess(app, receiver)
      await fail('One', 'Two')
      await app.ctx.db.run(sql`
      update deliveries set attempts = ${limits.redeliveriesPerDelivery}
      where endpoint_id = ${webhook.id} and status = 'failed' and event_id = (
        select max(event_id) from deliveries where endpoint_id = ${webhook.id})`)
      const { id } = await replay()
      await app.deliver()
      expect(titlesOf(receiver.take())).toEqual(['One'])
      expect(await progress(id)).toMatchObject({
        ...{ state: 'done', matched: 2, sent: 1, skipped: 1 },
        skipped_reasons: { attempt_limit: 1 },
      })
    },
  )

  test(
    'for an app sends failed ones only, and none of an ended session',
    verifies('replay.skips', 'replay.limits'),
    async ({ retryingAtOnce: app, receiver }) => {
      const { owner, member } = await app.workspace()
      const scopes = ['read', 'app:assignable']
      const robot = await app.installed(owner, { scopes, webhook: { url: receiver.url, resource_types: ['Issue'] } })
      const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
      const since = app.clock.now().toISOString()
      const path = `/agent-apps/${robot.app.id}/replays`
      const delegated = { team_id: team.id, delegate_id: robot.userId, assignee_id: owner.user.id }
      await owner.post('/issues', { title: 'Works' })
      await app.deliver()
      receiver.take()
      receiver.answer = 500
      const { body: ended } = await owner.post('/issues', { title: 'Ended', ...delegated })
      await app.deliver()
      await owner.delete(`/issues/${ended.id}`)
      await app.deliver()
      receiver.answer = 200
      receiver.take()
      for (const which of ['missed', 'all']) {
        expect(await app.unchanged(() => owner.post(path, { since, which }))).toMatchObject({ status: 422 })
      }
      expect(await app.unchanged(() => member.post(path, { since }))).toMatchObject({ status: 403 })
      const { body: started } = await owner.post(path, { since })
      await app.deliver()
      const types = receiver.take().map(({ body }) => `${body.type} ${body.action}`)
      expect(types).not.toContain('AgentSessionEvent created')
      const { body: done } = await owner.get(`${path}/${started.id}`)
      expect(done).toMatchObject({ state: 'done', succeeded: types.length })
      expect(done.skipped_reasons.session_ended).toBeGreaterThan(0)
      expect(done.matched).toBe(done.sent + done.skipped)
    },
  )

  test(
    'for an app skips teams that it lost, and stops when it is uninstalled',
    verifies('replay.skips', 'replay.stops'),
    async ({ retryingAtOnce: app, receiver }) => {
      const { owner } = await app.workspace()
      const [kept, lost] = await Promise.all(
        ['KEP', 'LOS'].map(async (key) => (await owner.post('/teams', { name: `Team ${key}`, key })).body.id),
      )
      const robot = await app.installed(owner, {
        scopes: ['read'],
        teamIds: [kept, lost],
        webhook: { url: receiver.url, resource_types: ['Issue'] },
      })
      const since = app.clock.now().toISOString()
      const path = `/agent-apps/${robot.app.id}/replays`
      await owner.post('/issues', { title: 'Works', team_id: kept })
      await app.deliver()
      receiver.answer = 500
      for (const team_id of [kept, lost]) await owner.post('/issues', { title: team_id, team_id })
      await app.deliver()
      receiver.answer = 200
      await owner.patch(`/installations/${robot.installationId}`, { team_ids: [kept] })
      await app.deliver()
      receiver.take()
      const { body: first } = await owner.post(path, { since })
      await app.deliver()
      expect(titlesOf(receiver.take())).toEqual([kept])
      expect((await owner.get(`${path}/${first.id}`)).body).toMatchObject({
        ...{ state: 'done', matched: 2, skipped: 1 },
        skipped_reasons: { no_access: 1 },
      })

      receiver.answer = 500
      await owner.post('/issues', { title: 'Before the end', team_id: kept })
      await app.deliver()
      receiver.answer = 200
      receiver.take()
      const { body: second } = await owner.post(path, { since })
      expect(second.state).toBe('running')
      await owner.delete(`/installations/${robot.installationId}`)
      await app.deliver()
      expect(receiver.take().map(({ body }) => body.type)).toEqual(['OAuthApp'])
      expect((await owner.get(`${path}/${second.id}`)).body).toMatchObject({ state: 'stopped', sent: 0 })
      const { body: third } = await owner.post(path, { since })
      await app.deliver()
      expect(receiver.take()).toEqual([])
      expect((await owner.get(`${path}/${third.id}`)).body).toMatchObject({ state: 'done', sent: 0 })
    },
  )

  test(
    'counts without sending for a dry run',
    verifies('replay.progress'),
    async ({ retryingAtOnce: app, receiver }) => {
      const { fail, start, since } = await withSuccess(app, receiver)
      await fail('One', 'Two')
      const counted = await app.unchanged(() => start({ since, dry_run: true }))
      expect(counted).toMatchObject({ status: 200, body: { matched: 2 } })
      expect(Object.keys(counted.body)).toEqual(['matched'])
      await app.deliver()
      expect(receiver.take()).toEqual([])
    },
  )

  test(
    'makes one attempt each, which is not retried and does not disable the webhook',
    verifies('replay.one-attempt'),
    async ({ app, receiver }) => {
      const { owner, path, issue, replay, progress, state, deliveries } = await scene(app, receiver)
      await owner.post(`${path}/disable`)
      for (const title of ['One', 'Two', 'Three', 'Four']) await issue(title)
      await owner.post(`${path}/enable`)
      receiver.answer = 500
      const { id } = await replay({ which: 'missed' })
      await app.deliver()
      expect(receiver.take()).toHaveLength(4)
      expect(await progress(id)).toMatchObject({ state: 'done', sent: 4, failed: 4 })
      for (const delivery of await deliveries()) {
        expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null, attempts: [{ number: 1 }] })
      }
      app.clock.advance({ hours: 12 })
      await app.deliver()
      expect(receiver.take()).toEqual([])
      expect(await state()).toBe('enabled')
    },
  )

  test(
    'comes after first attempts and retries, also when it has thousands to send',
    verifies('replay.live-first'),
    async ({ startApp, receiver }) => {
      // Apart from the others, which compare all rows.
      const app = await startApp()
      const { webhook, issue, replay, insertFailed } = await scene(app, receiver)
      await insertFailed(5000)
      const { matched } = await replay()
      expect(matched).toBe(5000)
      const worker = new OtherWorker(app)
      const woken = [webhook.id]
      const first = await worker.claim({ woken })
      // One slot stays free.
      expect(first.claimed.map(({ kind }) => kind)).toEqual(Array(7).fill('replay'))
      await issue('New')
      const second = await worker.claim({ woken })
      expect(second.claimed).toMatchObject([{ kind: 'scheduled' }])
      await worker.complete(
        second.claimed,
        { ok: false, reason: 'http_error', status: 500, durationMs: 1, body: Buffer.from(''), whole: true },
        [0],
      )
      await worker.complete(first.claimed.slice(0, 4))
      await advanceReplays(app.ctx.db, app.clock.now())
      const third = await worker.claim({ woken })
      // The retry, then replayed ones in the order of their events.
      expect(third.claimed[0]).toMatchObject({ kind: 'scheduled', attempts: 1 })
      expect(third.claimed.slice(1).map(({ kind }) => kind)).toEqual(Array(4).fill('replay'))
    },
  )

  test(
    'is limited to one at a time, of an enabled webhook, by a manager',
    verifies('replay.limits'),
    async ({ app, receiver }) => {
      const { owner, member, path, since, start, replay, insertFailed } = await scene(app, receiver)
      await insertFailed(30)
      expect(await app.unchanged(() => member.post(`${path}/replays`, { since }))).toMatchObject({ status: 403 })
      await replay()
      const second = await app.unchanged(() => start({ since }))
      expect(second).toMatchObject({ status: 409, body: { code: 'REPLAY_UNDER_WAY' } })
      await owner.post(`${path}/disable`)
      const disabled = await app.unchanged(() => start({ since }))
      expect(disabled).toMatchObject({ status: 409, body: { code: 'WEBHOOK_NOT_ENABLED' } })
    },
  )

  test('takes up to 100,000 events', { ...verifies('replay.limits'), timeout: 180_000 }, async ({
    startApp,
    receiver,
  }) => {
    const app = await startApp()
    const { workspaceId, since, start } = await scene(app, receiver)
    await app.ctx.db.run(sql`
      insert into events (id, workspace_id, type, action, team_ids, body, created_at)
      select 'evt_' || lpad(n::text, 26, '0'), ${workspaceId}, 'Issue', 'create', '{}', '{"data":{}}', ${since}
      from generate_series(1, ${limits.replayedEvents + 1}::int) n`)
    const body = { since, which: 'missed' }
    expect(await start(body)).toMatchObject({ status: 422, body: { code: 'REPLAY_TOO_LARGE' } })
    // Not by comparing all rows, of which there are too many.
    for (const table of [sql`replays`, sql`replay_events`, sql`deliveries`]) {
      expect(await app.ctx.db.row(sql`select from ${table} limit 1`)).toBeUndefined()
    }
    await app.ctx.db.run(sql`delete from events where id = 'evt_' || lpad('1', 26, '0')`)
    expect((await start({ ...body, dry_run: true })).body).toEqual({ matched: limits.replayedEvents })
    expect(await start(body)).toMatchObject({ status: 202, body: { matched: limits.replayedEvents } })
  })

  test(
    'is stopped by DELETE and by disabling the webhook, and sends nothing more',
    verifies('replay.stops'),
    async ({ app, receiver }) => {
      const { owner, path, replay, progress, issue, deliveries, insertFailed } = await scene(app, receiver)
      await insertFailed(30)
      const stops = [(id: string) => owner.delete(`${path}/replays/${id}`), () => owner.post(`${path}/disable`)]
      for (const stop of stops) {
        const { id } = await replay()
        expect((await stop(id)).status).toBeLessThan(300)
        expect(await progress(id)).toMatchObject({
          state: 'stopped',
          sent: 0,
          finished_at: app.clock.now().toISOString(),
        })
        // Again changes nothing.
        if (stop === stops[0]) expect((await app.unchanged(() => stop(id))).status).toBe(204)
        await owner.post(`${path}/enable`)
        await app.deliver()
        expect(receiver.take()).toEqual([])
      }
      // A missed event that was not sent has no delivery, so another replay finds it.
      await owner.post(`${path}/disable`)
      await issue('Missed')
      await owner.post(`${path}/enable`)
      const { id } = await replay({ which: 'missed' })
      await owner.delete(`${path}/replays/${id}`)
      expect(await deliveries('?status=pending')).toEqual([])
      expect(await replay({ which: 'missed' })).toMatchObject({ matched: 1 })
      expect((await owner.delete(`${path}/replays/rpl_unknown`)).status).toBe(404)
    },
  )

  test('stops after 20 failures in a row, not after 19', verifies('replay.stops'), async ({ app, receiver }) => {
    const { replay, progress, insertFailed } = await scene(app, receiver)
    await insertFailed(30)
    receiver.answer = 500
    const { id } = await replay()
    await app.deliver()
    expect(await progress(id)).toMatchObject({ state: 'stopped', matched: 30, sent: 20, failed: 20 })
    expect(receiver.take()).toHaveLength(20)
    let answered = 0
    receiver.answer = (response) => {
      answered++
      response.writeHead(answered === 20 ? 200 : 500).end()
    }
    const { id: second } = await replay()
    await app.deliver()
    expect(await progress(second)).toMatchObject({ state: 'done', sent: 30, succeeded: 1, failed: 29 })
  })

  test('is finished by another worker after a crash', verifies('replay.stops'), async ({ app, receiver }) => {
    const { webhook, replay, progress, insertFailed } = await scene(app, receiver)
    await insertFailed(30)
    const { id } = await replay()
    const dead = new OtherWorker(app)
    const { claimed } = await dead.claim({ woken: [webhook.id] })
    expect(claimed).toHaveLength(7)
    await dead.complete(claimed.slice(0, 2))
    await app.deliver()
    expect(receiver.take()).toEqual([])
    app.clock.advance({ seconds: 16 })
    await app.deliver()
    expect(receiver.take()).toHaveLength(28)
    expect(await progress(id)).toMatchObject({ state: 'done', matched: 30, sent: 30, succeeded: 30, skipped: 0 })
  })

  test('is deleted after 30 days', async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner, path, replay } = await scene(app, receiver)
    await replay()
    app.clock.advance({ days: 30 })
    await sweep(app.ctx)
    expect((await owner.get(`${path}/replays`)).body.data).toHaveLength(1)
    app.clock.advance({ days: 1 })
    await sweep(app.ctx)
    expect((await owner.get(`${path}/replays`)).body.data).toEqual([])
  })
})
