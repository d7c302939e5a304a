import { limits, listenUrl, programLimits } from '@baton/protocol'
import { describe, expect } from 'vitest'
import type { Client } from '../../test/client.ts'
import type { InstalledApp, TestApp, TestPerson } from '../../test/harness.ts'
import { test, verifies } from '../../test/harness.ts'
import { asReceived, heartbeat, Listener } from '../../test/listener.ts'
import { asApp, programOf } from '../../test/oauth.ts'
import { isSigned } from '../../test/receiver.ts'
import { Watch } from '../../test/watch.ts'
import { plus } from '../clock.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'

const scopes = ['read', 'app:assignable']

/** An app without a URL, installed for all teams, and functions that read its state. */
async function runnable(app: TestApp, url = listenUrl) {
  const workspace = await app.workspace()
  const { owner } = workspace
  const robot = await app.installed(owner, { scopes, webhook: { url, resource_types: ['Issue'] } })
  const path = `/agent-apps/${robot.app.id}`
  return {
    ...workspace,
    robot,
    path,
    issue: async (title = 'A bug') => (await owner.post('/issues', { title })).body,
    deliveries: async () => (await owner.get(`${path}/deliveries`)).body.data.reverse(),
    webhook: async () => (await owner.get(path)).body.webhook.state,
  }
}

const refusal = (status: number, code: string) => ({ status, body: { code } })

describe('an app that listens with its own token', () => {
  test(
    'gets its attempts with the same headers and bytes, and its answer decides them',
    verifies('run.listen-as-app-delivers'),
    async ({ app }) => {
      const { owner, robot, path, issue, deliveries } = await runnable(app)
      const { body } = await owner.post(`${path}/webhook-secret`)
      const headers = { authorization: `Bearer ${robot.token}`, 'x-workspace-id': owner.workspaceId }
      const watch = await Watch.open({ rootUrl: app.rootUrl, path: '/listen', headers })
      expect(watch.headers['content-type']).toBe('text/event-stream; charset=utf-8')
      expect(await watch.next()).toEqual({ event: 'ready', data: { app_id: robot.app.id, url: listenUrl } })
      watch.close()

      const listener = await Listener.asApp(robot, owner)
      await issue()
      let delivering = app.deliver()
      const attempt = await listener.take({ status: 200, body: 'thanks' })
      await delivering
      expect(attempt).toMatchObject({ method: 'POST', url: listenUrl })
      expect(isSigned(asReceived(attempt), body.webhook_secret)).toBe(true)
      expect(asReceived(attempt).body).toMatchObject({ type: 'Issue', installation_id: robot.installationId })
      expect(await deliveries()).toMatchObject([
        { id: attempt.delivery_id, status: 'succeeded', attempts: [{ http_status: 200, response_excerpt: 'thanks' }] },
      ])
      await issue()
      delivering = app.deliver()
      await listener.take({ status: 503 })
      await issue()
      const unanswered = app.deliver()
      await listener.attempt()
      app.clock.advance({ seconds: 5 })
      await Promise.all([delivering, unanswered])
      expect((await deliveries()).slice(1)).toMatchObject([
        { status: 'pending', attempts: [{ http_status: 503, reason: 'http_error' }] },
        { status: 'pending', attempts: [{ reason: 'timeout' }] },
      ])
    },
  )

  test(
    'has to have the URL for listeners',
    verifies('run.listen-as-app-only-listen-url'),
    async ({ app, receiver }) => {
      const { owner, robot, issue } = await runnable(app, receiver.url)
      expect(await app.unchanged(() => robot.get('/listen'))).toMatchObject(refusal(403, 'FORBIDDEN'))
      await issue()
      await app.deliver()
      expect(receiver.take()).toHaveLength(1)
      const mute = await app.installed(owner, { scopes })
      expect(await app.unchanged(() => mute.get('/listen'))).toMatchObject(refusal(403, 'FORBIDDEN'))
    },
  )

  test('is the only caller', verifies('run.listen-as-app-callers'), async ({ app }) => {
    const { owner, admin, robot, issue } = await runnable(app)
    const other = await app.installed(owner, { scopes, webhook: listenUrl })
    const others = await Listener.asApp(other, owner)
    const listener = await Listener.asApp(robot, owner)
    await issue()
    const delivering = app.deliver()
    const attempt = await listener.attempt()
    const answer = (by: Client) => by.post(`/listen/${attempt.attempt_id}`, { status: 200 })
    const program = asApp(app, owner.workspaceId, await programOf(app, owner, owner.workspaceId))
    await app.unchanged(async () => {
      for (const person of [owner, admin, program]) {
        expect(await person.get('/listen')).toMatchObject(refusal(403, 'FORBIDDEN'))
        expect(await answer(person)).toMatchObject(refusal(403, 'FORBIDDEN'))
      }
      expect(await answer(other)).toMatchObject(refusal(404, 'RESOURCE_NOT_FOUND'))
      const asManager = await owner.post(`/agent-apps/${robot.app.id}/listen/${attempt.attempt_id}`, { status: 200 })
      expect(asManager).toMatchObject(refusal(404, 'RESOURCE_NOT_FOUND'))
      const unknownKey = await robot.post(`/listen/${attempt.attempt_id}`, { status: 200, headers: {} })
      expect(unknownKey).toMatchObject(refusal(422, 'VALIDATION_ERROR'))
    })
    expect((await listener.answer(attempt, { status: 200 })).status).toBe(204)
    expect(await listener.answer(attempt, { status: 200 })).toMatchObject(refusal(404, 'RESOURCE_NOT_FOUND'))
    await delivering
    others.close()
  })

  test('is replaced by the newest listener', verifies('run.listen-as-app-newest-wins'), async ({ app }) => {
    const { owner, robot, path } = await runnable(app)
    const first = await Listener.asApp(robot, owner)
    const second = await Listener.asApp(robot, owner)
    const itself = { id: robot.userId, name: robot.app.name }
    expect(await first.event()).toEqual({ event: 'replaced', data: { user: itself } })
    expect(await first.event()).toBeUndefined()
    expect((await owner.get(path)).body.listener).toMatchObject({ user: itself })
    const third = await Listener.of(owner, robot.app.id)
    const person = { id: owner.user.id, name: owner.user.display_name }
    expect(await second.event()).toEqual({ event: 'replaced', data: { user: person } })
    const fourth = await Listener.asApp(robot, owner)
    expect(await third.event()).toEqual({ event: 'replaced', data: { user: itself } })
    fourth.close()
    const { data } = (await owner.get('/audit-log')).body
    const log = data.filter(({ action }: { action: string }) => action.startsWith('app.listening_'))
    const started = log.filter(({ action }: { action: string }) => action === 'app.listening_started')
    expect(started.map(({ actor }: { actor: unknown }) => actor)).toEqual([itself, person, itself, itself])
    expect(log.length - started.length).toBeGreaterThanOrEqual(3)
  })

  test('gets what was waiting for its previous stream', async ({ app }) => {
    const { owner, robot } = await runnable(app)
    // The process of the previous stream died.
    const id = newId('att')
    const deadline = plus(app.clock.now(), limits.webhookDeadlineMs)
    await app.ctx.db.run(sql`
      insert into relayed_attempts (id, connection_id, endpoint_id, user_id, delivery_id, url, headers, body, deadline)
      select ${id}, 'gone', id, ${robot.userId}, 'dlv_x', ${listenUrl}, '{}', '{}', ${deadline}
      from endpoints where app_id = ${robot.app.id}`)
    const listener = await Listener.asApp(robot, owner)
    expect(await listener.take()).toMatchObject({ attempt_id: id })
    const answered = sql`select status from relayed_attempts where id = ${id}`
    expect(await app.ctx.db.row(answered)).toEqual({ status: 200 })
    await app.ctx.db.run(sql`delete from relayed_attempts`)
  })

  describe.each<[string, (app: TestApp, robot: InstalledApp, owner: TestPerson) => Promise<unknown>]>([
    ['the app is uninstalled', (_, robot, owner) => owner.delete(`/installations/${robot.installationId}`)],
    ['the app is deleted', (_, robot, owner) => owner.delete(`/agent-apps/${robot.app.id}`)],
    [
      'its grant ends',
      async (app, { installationId }) => {
        const now = app.clock.now()
        await app.ctx.db.run(sql`update grants set ended_at = ${now} where installation_id = ${installationId}`)
        app.clock.advance({ seconds: limits.heartbeatSeconds })
      },
    ],
    ['its access token expires', async (app) => app.clock.advance({ seconds: limits.accessTokenSeconds })],
  ])('when %s', (_, end) => {
    test('loses its stream', verifies('run.listen-as-app-ends-with-access'), async ({ startApp }) => {
      const app = await startApp()
      const { owner, robot } = await runnable(app)
      const listener = await Listener.asApp(robot, owner)
      await heartbeat(app, robot.app.id)
      await end(app, robot, owner)
      for (let event = await listener.event(); event; event = await listener.event()) {
        expect(event).toMatchObject({ event: 'ended' })
      }
      expect(listener.watch.end).toBe('whole')
    })
  })

  test(
    'gets attempts until its access token expires, also between two heartbeats',
    verifies('run.listen-as-app-ends-with-access'),
    async ({ startApp }) => {
      const app = await startApp()
      const { owner, robot, issue } = await runnable(app)
      const seconds = limits.heartbeatSeconds + 5
      const expiresAt = plus(app.clock.now(), seconds * 1000)
      const ofApp = sql`grant_id in (select id from grants where installation_id = ${robot.installationId})`
      await app.ctx.db.run(sql`update access_tokens set expires_at = ${expiresAt} where ${ofApp}`)
      const listener = await Listener.asApp(robot, owner)
      await heartbeat(app, robot.app.id)
      app.clock.advance({ milliseconds: 4999 })
      await issue()
      let delivering = app.deliver()
      await listener.take()
      await delivering
      app.clock.advance({ milliseconds: 1 })
      await issue()
      delivering = app.deliver()
      expect(await listener.event()).toBeUndefined()
      expect(listener.watch.end).toBe('whole')
      app.clock.advance({ milliseconds: limits.webhookDeadlineMs })
      await delivering
    },
  )

  test('enables a failing webhook, and no disabled one', verifies('run.listen-clears-failing'), async ({ app }) => {
    const { owner, robot, path, webhook } = await runnable(app)
    await app.ctx.db.run(sql`update endpoints set state = 'failing' where app_id = ${robot.app.id}`)
    // A person who listens enables nothing.
    const person = await Listener.of(owner, robot.app.id)
    expect(await webhook()).toBe('failing')
    await Listener.asApp(robot, owner)
    expect(await webhook()).toBe('enabled')
    const { data } = (await owner.get('/audit-log?action=app.webhook_enabled')).body
    expect(data).toMatchObject([{ actor: { id: robot.userId }, subject_id: robot.app.id }])
    await owner.post(`${path}/webhook/disable`)
    const again = await Listener.asApp(robot, owner)
    expect(await webhook()).toBe('disabled')
    for (const listener of [person, again]) listener.close()
  })
})

describe('catching up', () => {
  test(
    'sends each missed delivery once more, oldest first, and keeps its schedule',
    verifies('run.listen-catch-up'),
    async ({ startApp }) => {
      const app = await startApp()
      const { owner, robot, issue, deliveries } = await runnable(app)
      await issue('Old')
      await app.deliver()
      app.clock.advance({ hours: 24 })
      await app.ctx.db.run(sql`update access_tokens set expires_at = expires_at + interval '2 days'`)
      await app.ctx.db.run(sql`update grants set expires_at = expires_at + interval '2 days'`)
      await issue('One')
      await issue('Two')
      await issue('Three')
      await app.deliver()
      await app.ctx.db.run(sql`
        update deliveries set status = 'failed', next_at = null, settled_at = created_at
        where id = (select id from deliveries order by id offset 2 limit 1)`)
      const before = await deliveries()
      expect(before.map(({ status }: { status: string }) => status)).toEqual([
        'pending',
        'pending',
        'failed',
        'pending',
      ])

      const listener = await Listener.asApp(robot, owner, { query: '?catch_up=true' })
      const requested = sql`
        select d.id, d.attempts from deliveries d where d.redeliver_at is not null order by d.redeliver_at`
      const ids = (await app.ctx.db.rows<{ id: string }>(requested)).map(({ id }) => id)
      expect(ids).toEqual(before.slice(1).map(({ id }: { id: string }) => id))
      let delivering = app.deliver()
      for (let count = 0; count < 3; count++) {
        const attempt = await listener.attempt()
        await listener.answer(attempt, { status: attempt.delivery_id === ids[1] ? 200 : 500 })
      }
      await delivering
      const after = await deliveries()
      expect(after.map(({ status }: { status: string }) => status)).toEqual([
        'pending',
        'pending',
        'succeeded',
        'pending',
      ])
      const times = (list: { next_attempt_at: string }[]) => list.map(({ next_attempt_at }) => next_attempt_at)
      expect(times(after)).toEqual([times(before)[0], times(before)[1], null, times(before)[3]])
      expect(after[0].attempts).toEqual(before[0].attempts)

      // Again within a minute: nothing, except what was not attempted since.
      app.clock.advance({ seconds: 59 })
      await issue('Four')
      const again = await Listener.asApp(robot, owner, { query: '?catch_up=true' })
      expect(await app.ctx.db.rows(requested)).toMatchObject([{ attempts: 0 }])
      delivering = app.deliver()
      expect(asReceived(await again.take()).body.data.title).toBe('Four')
      await delivering
      expect((await deliveries())[4]).toMatchObject({ status: 'succeeded', attempts: [{ http_status: 200 }] })
    },
  )

  test(
    'sends at most a hundred, and the next hundred at once',
    verifies('run.listen-catch-up'),
    async ({ startApp }) => {
      const app = await startApp()
      const { owner, robot } = await runnable(app)
      const titles = Array.from({ length: 130 }, (_, index) => ({ title: `Bug ${index}` }))
      for (const { title } of titles) await owner.post('/issues', { title })
      await app.deliver()
      app.clock.advance({ seconds: 1 })
      const requested = async () =>
        (await app.ctx.db.rows(sql`select 1 from deliveries where redeliver_at is not null`)).length
      const first = await Listener.asApp(robot, owner)
      expect(await requested()).toBe(0)
      first.close()
      const again = await Listener.asApp(robot, owner, { query: '?catch_up=true' })
      expect(await requested()).toBe(programLimits.catchUpDeliveries)
      again.close()
      const last = await Listener.asApp(robot, owner, { query: '?catch_up=true' })
      expect(await requested()).toBe(130)
      last.close()
    },
  )
})
