import { listenUrl } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { asReceived, heartbeat, idle, Listener, listenable, waitForNoListener } from '../../test/listener.ts'
import { isSigned } from '../../test/receiver.ts'
import { Watch } from '../../test/watch.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'

const notFound = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } }

describe('a listener', () => {
  test(
    'gets the attempts of the app in place of its URL, until it disconnects',
    verifies('listen.is-event-stream', 'listen.attempts-go-to-listener', 'listen.disconnect-restores-url'),
    async ({ app, receiver }) => {
      const { owner } = await app.workspace()
      const { id, path, issue, deliveries } = await listenable(app, owner, receiver.url)
      const watch = await Watch.as(owner, { path: `${path}/listen?take_over=true` })
      expect(watch.headers['content-type']).toBe('text/event-stream; charset=utf-8')
      expect(await watch.next()).toEqual({ event: 'ready', data: { app_id: id, url: receiver.url } })
      watch.close()
      await waitForNoListener(owner, id)

      const listener = await Listener.of(owner, id, { takeOver: true })
      await issue()
      const delivering = app.deliver()
      const attempt = await listener.take()
      await delivering
      expect(attempt).toMatchObject({ method: 'POST', url: receiver.url })
      const [delivery] = await deliveries()
      expect(delivery).toMatchObject({ id: attempt.delivery_id, status: 'succeeded' })
      expect(receiver.take()).toEqual([])

      listener.close()
      await waitForNoListener(owner, id)
      await issue()
      await app.deliver()
      expect(receiver.take()).toHaveLength(1)
    },
  )

  test(
    'gets the same headers and bytes as the URL',
    verifies('listen.same-headers-and-bytes'),
    async ({ app, receiver }) => {
      const { owner } = await app.workspace()
      const { id, path, issue, secret } = await listenable(app, owner, receiver.url)
      const listener = await Listener.of(owner, id, { takeOver: true })
      const key = await secret()
      await issue('Ünïcode')
      app.clock.advance({ seconds: 2 })
      const delivering = app.deliver()
      const attempt = await listener.take({ status: 200, body: 'thanks' })
      await delivering
      const received = asReceived(attempt)
      expect(isSigned(received, key)).toBe(true)
      expect(isSigned(received, 'pwhsec_another')).toBe(false)
      expect(received.body).toMatchObject({ type: 'Issue', webhook_timestamp: app.clock.now().getTime() })
      const shown = (await owner.get(`${path}/deliveries/${attempt.delivery_id}`)).body
      expect(shown.request).toEqual({ headers: attempt.headers, body: received.raw.toString() })
      expect(shown.attempts).toMatchObject([{ http_status: 200, reason: null, response_excerpt: 'thanks' }])

      // The same delivery again, to the URL: the same bytes, except for the fields of the attempt.
      listener.close()
      await waitForNoListener(owner, id)
      await owner.post(`${path}/deliveries/${attempt.delivery_id}/redeliver`)
      await app.deliver()
      const [direct] = receiver.take()
      const { host: _, connection: __, 'content-length': ___, ...headers } = direct?.headers ?? {}
      // Each attempt is a span of its own in the trace of the request.
      const trace = attempt.headers.traceparent?.slice(0, 36)
      expect(headers).toEqual({
        ...attempt.headers,
        traceparent: expect.stringMatching(`^${trace}[0-9a-f]{16}-0[01]$`),
      })
      expect(direct?.raw.equals(received.raw)).toBe(true)
    },
  )

  test('gets redeliveries and test pings too', async ({ app }) => {
    const { member } = await app.workspace()
    const { id, path, issue, deliveries, secret } = await listenable(app, member, listenUrl)
    const listener = await Listener.of(member, id)
    const key = await secret()
    const pinging = member.post(`${path}/webhook/test`)
    const ping = asReceived(await listener.take({ status: 201 }))
    expect(ping.body.type).toBe('Ping')
    expect(isSigned(ping, key)).toBe(true)
    expect((await pinging).body).toMatchObject({ ok: true, status: 201 })
    await issue()
    let delivering = app.deliver()
    const first = await listener.take()
    await delivering
    await member.post(`${path}/webhook/disable`)
    await member.post(`${path}/deliveries/${first.delivery_id}/redeliver`)
    delivering = app.deliver()
    const again = await listener.take({ status: 503 })
    await delivering
    expect(again.delivery_id).toBe(first.delivery_id)
    expect(again.attempt_id).not.toBe(first.attempt_id)
    expect(asReceived(again).body).toEqual(asReceived(first).body)
    expect((await deliveries())[0]).toMatchObject({
      status: 'succeeded',
      attempts: [{ http_status: 200 }, { http_status: 503, reason: 'http_error' }],
    })
  })

  test('does not get attempts of another app', verifies('listen.only-that-app'), async ({ app, receiver }) => {
    const { owner, member } = await app.workspace()
    const [one, two] = [await listenable(app, owner, listenUrl), await listenable(app, member, listenUrl)]
    const [ones, twos] = [await Listener.of(owner, one.id), await Listener.of(member, two.id)]
    await one.issue()
    const delivering = app.deliver()
    const [first, second] = [await ones.attempt(), await twos.attempt()]
    await idle(app)
    // Each listener has its own attempt and cannot answer the other's.
    expect(await app.unchanged(() => twos.answer(first, { status: 200 }))).toMatchObject(notFound)
    expect(await app.unchanged(() => ones.answer(second, { status: 200 }))).toMatchObject(notFound)
    const theirs = await owner.post(`${two.path}/listen/${second.attempt_id}`, { status: 200 })
    expect(theirs).toMatchObject(notFound)
    await ones.answer(first, { status: 200 })
    await twos.answer(second, { status: 500 })
    await delivering
    expect(await one.deliveries()).toMatchObject([{ id: first.delivery_id, status: 'succeeded' }])
    expect(await two.deliveries()).toMatchObject([{ id: second.delivery_id, attempts: [{ http_status: 500 }] }])
    const third = await listenable(app, member, receiver.url)
    await third.issue()
    const thirds = app.deliver()
    await ones.take()
    await twos.take()
    await thirds
    expect(await third.deliveries()).toMatchObject([{ status: 'succeeded' }])
    expect(receiver.take()).toHaveLength(1)
  })

  test('gets a `replaced` event when a newer listener connects', verifies('listen.newest-wins'), async ({ app }) => {
    const { owner, member } = await app.workspace()
    const { id, issue, listener: shown } = await listenable(app, member, listenUrl)
    const first = await Listener.of(member, id)
    expect(await shown()).toEqual({
      user: { id: member.user.id, name: member.user.display_name },
      since: app.clock.now().toISOString(),
    })
    const second = await Listener.of(owner, id)
    const user = { id: owner.user.id, name: owner.user.display_name }
    expect(await first.event()).toEqual({ event: 'replaced', data: { user } })
    expect(await first.event()).toBeUndefined()
    expect(await shown()).toMatchObject({ user })
    await issue()
    const delivering = app.deliver()
    await second.take()
    await delivering
    // Disconnecting the first listener does not end the second.
    expect(await shown()).toMatchObject({ user })
  })

  test('is recorded in the audit log at its start and end', async ({ app, receiver }) => {
    const { owner, admin } = await app.workspace()
    const { id } = await listenable(app, owner, receiver.url)
    const first = await Listener.of(admin, id, { takeOver: true })
    const second = await Listener.of(owner, id, { takeOver: true })
    await first.event()
    second.close()
    await waitForNoListener(owner, id)
    const { body } = await owner.get('/audit-log')
    const entries = body.data.filter(({ action }: { action: string }) => action.startsWith('app.listening'))
    expect(entries.reverse()).toMatchObject([
      { action: 'app.listening_started', actor: { id: admin.user.id }, subject_id: id, details: { url: receiver.url } },
      { action: 'app.listening_ended', actor: { id: admin.user.id }, subject_id: id },
      { action: 'app.listening_started', actor: { id: owner.user.id }, subject_id: id },
      { action: 'app.listening_ended', actor: { id: owner.user.id }, subject_id: id },
    ])
  })

  test('is ended when the URL of the app changes', async ({ app, receiver }) => {
    const { owner, member } = await app.workspace()
    const { id, path, issue } = await listenable(app, member, listenUrl)
    const listener = await Listener.of(member, id)
    const manifest = {
      schemaVersion: '1.0.0',
      name: 'Robot',
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
      webhook: { url: receiver.url, resource_types: ['Issue'] },
    }
    expect((await owner.put(path, manifest)).body).toMatchObject({ listener: null })
    expect(await listener.event()).toEqual({ event: 'ended', data: {} })
    expect(await listener.event()).toBeUndefined()
    await issue()
    await app.deliver()
    expect(receiver.take()).toHaveLength(1)
    expect((await Listener.of(member, id, { takeOver: true })).watch.status).toBe(403)
  })

  test('is checked at each heartbeat, which extends its lease', async ({ app, receiver }) => {
    const { owner, admin } = await app.workspace()
    const { id, listener: shown } = await listenable(app, owner, receiver.url)
    const listener = await Listener.of(admin, id, { takeOver: true })
    for (let beats = 0; beats < 4; beats++) {
      await heartbeat(app, id)
      expect(await listener.watch.next()).toEqual({ comment: '' })
      expect(await shown()).not.toBeNull()
    }
    await owner.patch(`/workspaces/me/members/${admin.user.id}`, { role: 'member' })
    app.clock.advance({ seconds: 15 })
    expect(await listener.event()).toBeUndefined()
    await waitForNoListener(owner, id)
  })
})

describe('an answer', () => {
  test(
    'decides the outcome of the attempt',
    verifies('listen.answer-2xx-succeeds', 'listen.answer-non-2xx-fails', 'listen.answer-body-optional'),
    async ({ app }) => {
      const { member } = await app.workspace()
      const { id, issue, deliveries } = await listenable(app, member, listenUrl)
      const listener = await Listener.of(member, id)
      const answers: [object, object][] = [
        [{ status: 200 }, { http_status: 200, reason: null, response_excerpt: '' }],
        [
          { status: 299, body: 'fine' },
          { http_status: 299, reason: null, response_excerpt: 'fine' },
        ],
        [
          { status: 302, body: 'there' },
          { http_status: 302, reason: 'redirect', response_excerpt: 'there' },
        ],
        [{ status: 404 }, { http_status: 404, reason: 'http_error', response_excerpt: '' }],
        [
          { status: 599, body: '😀'.repeat(1001) },
          { http_status: 599, reason: 'http_error', response_excerpt: '😀'.repeat(1000) },
        ],
      ]
      for (const [answer, attempt] of answers) {
        await issue()
        const delivering = app.deliver()
        await listener.take(answer)
        await delivering
        const [delivery] = await deliveries()
        expect(delivery.attempts).toMatchObject([attempt])
        expect(delivery.status).toBe((attempt as { reason: unknown }).reason === null ? 'succeeded' : 'pending')
      }
    },
  )

  test(
    'with invalid content is refused and changes nothing',
    verifies('listen.answer-body-optional'),
    async ({ app }) => {
      const { member } = await app.workspace()
      const { id, issue, deliveries } = await listenable(app, member, listenUrl)
      const listener = await Listener.of(member, id)
      await issue()
      const delivering = app.deliver()
      const attempt = await listener.attempt()
      await idle(app)
      for (const [answer, field] of [
        [{ status: 200, headers: {} }, 'headers'],
        [{ status: 199 }, 'status'],
        [{ status: 600 }, 'status'],
        [{ status: '200' }, 'status'],
        [{ body: 'fine' }, 'status'],
        [{ status: 200, body: null }, 'body'],
        [{ status: 200, body: 'x'.repeat(64 * 1024 + 1) }, 'body'],
      ] as const) {
        const refused = await app.unchanged(() => listener.answer(attempt, answer))
        expect(refused).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
        expect(Object.keys(refused.body.details)).toEqual([field])
      }
      expect((await listener.answer(attempt, { status: 200, body: 'x'.repeat(64 * 1024) })).status).toBe(204)
      await delivering
      expect((await deliveries())[0]).toMatchObject({ status: 'succeeded' })
    },
  )

  test(
    'must arrive within 5 seconds, or the attempt times out',
    verifies('listen.no-answer-times-out'),
    async ({ app }) => {
      const { member } = await app.workspace()
      const { id, issue, deliveries } = await listenable(app, member, listenUrl)
      const listener = await Listener.of(member, id)
      await issue()
      let delivering = app.deliver()
      const early = await listener.attempt()
      app.clock.advance({ milliseconds: 4999 })
      expect((await listener.answer(early, { status: 200 })).status).toBe(204)
      await delivering
      expect((await deliveries())[0]).toMatchObject({ status: 'succeeded', attempts: [{ duration_ms: 4999 }] })

      await issue()
      delivering = app.deliver()
      const late = await listener.attempt()
      app.clock.advance({ milliseconds: 5000 })
      await delivering
      const timedOut = { http_status: null, reason: 'timeout', duration_ms: 5000, response_excerpt: null }
      expect((await deliveries())[0].attempts).toMatchObject([timedOut])
      for (const over of [early, late]) {
        const refused = await app.unchanged(() => listener.answer(over, { status: 200 }))
        expect(refused).toMatchObject(notFound)
        expect(refused.body.message).toMatch(/5 seconds/)
      }
    },
  )

  test('is accepted once, and only from the user who listens', async ({ app }) => {
    const { owner, admin, member } = await app.workspace()
    const { id, issue } = await listenable(app, owner, listenUrl)
    const listener = await Listener.of(owner, id)
    await issue()
    const delivering = app.deliver()
    const attempt = await listener.attempt()
    await idle(app)
    expect(await app.unchanged(() => listener.answer(attempt, { status: 500 }, admin))).toMatchObject(notFound)
    expect(await app.unchanged(() => listener.answer(attempt, { status: 500 }, member))).toMatchObject({ status: 403 })
    const nonsense = { ...attempt, attempt_id: 'att_nothing' }
    expect(await app.unchanged(() => listener.answer(nonsense, { status: 500 }))).toMatchObject(notFound)
    expect((await listener.answer(attempt, { status: 200 })).status).toBe(204)
    expect(await listener.answer(attempt, { status: 500 })).toMatchObject(notFound)
    await delivering
  })

  test('is accepted for `revoked` too, after the app was deleted', async ({ app }) => {
    const { owner, admin } = await app.workspace()
    const { id, path } = await listenable(app, owner, listenUrl)
    const listener = await Listener.of(owner, id)
    expect((await owner.delete(path)).status).toBe(204)
    const delivering = app.deliver()
    const attempt = await listener.attempt()
    await idle(app)
    expect(asReceived(attempt).body).toMatchObject({ type: 'OAuthApp', action: 'revoked' })
    expect(await app.unchanged(() => listener.answer(attempt, { status: 500 }, admin))).toMatchObject(notFound)
    expect((await listener.answer(attempt, { status: 200 })).status).toBe(204)
    await delivering
    const kept = await app.ctx.db.row(sql`select status from deliveries where id = ${attempt.delivery_id}`)
    expect(kept).toEqual({ status: 'succeeded' })
  })
})

describe('who may listen', () => {
  test(
    'to an app without a URL: its registrant and managers',
    verifies('listen.who', 'manifest.listen-invalid-accepted'),
    async ({ app }) => {
      const { admin, member, join } = await app.workspace()
      const stranger = await join('member')
      const { id } = await listenable(app, member, listenUrl)
      expect((await Listener.of(member, id)).watch.status).toBe(200)
      expect((await Listener.of(admin, id)).watch.status).toBe(200)
      for (const query of ['', '?take_over=true']) {
        const refused = await app.unchanged(() => stranger.get(`/agent-apps/${id}/listen${query}`))
        expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      }
    },
  )

  test(
    'in place of a webhook URL: only a manager with take_over',
    verifies('listen.who'),
    async ({ app, receiver }) => {
      const { owner, admin, member } = await app.workspace()
      const { id } = await listenable(app, member, receiver.url)
      for (const [person, query] of [
        [member, ''],
        [member, '?take_over=true'],
        [admin, ''],
        [admin, '?take_over=false'],
        [owner, ''],
      ] as const) {
        const refused = await app.unchanged(() => person.get(`/agent-apps/${id}/listen${query}`))
        expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      }
      expect((await Listener.of(admin, id, { takeOver: true })).watch.status).toBe(200)
      expect(await app.unchanged(() => admin.get(`/agent-apps/${id}/listen?take_over=yes`))).toMatchObject({
        status: 422,
        body: { details: { take_over: expect.any(String) } },
      })
    },
  )

  test(
    'no app, no person outside the workspace, and no caller without a login',
    verifies('listen.app-token-refused'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const { owner: elsewhere } = await app.workspace()
      const { path } = await listenable(app, owner, listenUrl)
      const robot = await app.installed(owner)
      const refusal = { status: 403, body: { code: 'SESSION_ONLY_ROUTE' } }
      expect(await app.unchanged(() => robot.get(`${path}/listen`))).toMatchObject(refusal)
      expect(await app.unchanged(() => robot.post(`${path}/listen/att_x`, { status: 200 }))).toMatchObject(refusal)
      expect(await app.unchanged(() => elsewhere.get(`${path}/listen?take_over=true`))).toMatchObject(notFound)
      expect(await app.unchanged(() => app.anonymous.get(`${path}/listen`))).toMatchObject({ status: 401 })
      // HEAD returns the headers of GET but starts no listener.
      const headers = { authorization: `Bearer ${owner.token}`, 'x-workspace-id': owner.workspaceId }
      const url = `${owner.rootUrl}/api/v1${path}/listen`
      expect((await app.unchanged(() => fetch(url, { method: 'HEAD', headers }))).status).toBe(200)
    },
  )
})

test('an attempt to an app without URL and listener fails with network_error', async ({ app }) => {
  const { member } = await app.workspace()
  const { path, issue, deliveries } = await listenable(app, member, listenUrl)
  await issue()
  await app.deliver()
  const attempts = [{ http_status: null, reason: 'network_error', duration_ms: 0 }]
  expect(await deliveries()).toMatchObject([{ status: 'pending', attempts }])
  expect((await member.post(`${path}/webhook/test`)).body).toMatchObject({ ok: false, reason: 'network_error' })
})

test(
  'answers of a listener, successes or failures, do not count for disabling the webhook',
  verifies('listen.not-counted'),
  async ({ startApp, receiver }) => {
    const app = await startApp({ BATON_RETRY_DELAYS: '0,0,0' })
    const { owner } = await app.workspace()
    const { id, path, issue, deliveries } = await listenable(app, owner, receiver.url)
    const state = async () => (await owner.get(path)).body.webhook.state
    const settle = async (status: number, listener?: Listener) => {
      receiver.answer = status
      await issue()
      const delivering = app.deliver()
      for (let left = status === 200 ? 1 : 4; listener && left > 0; left--) await listener.take({ status })
      await delivering
      expect((await deliveries())[0].status).toBe(status === 200 ? 'succeeded' : 'failed')
    }
    const listener = await Listener.of(owner, id, { takeOver: true })
    for (let failures = 0; failures < 4; failures++) await settle(500, listener)
    expect(await state()).toBe('enabled')
    // A success through the listener does not reset the failures of the URL either.
    await settle(200, listener)
    listener.close()
    await waitForNoListener(owner, id)
    await settle(500)
    await settle(500)
    expect(await state()).toBe('enabled')
    await settle(500)
    expect(await state()).toBe('failing')
  },
)

test('listening does not enable a disabled webhook', async ({ app }) => {
  const { member } = await app.workspace()
  const { id, path, issue, deliveries } = await listenable(app, member, listenUrl)
  const listener = await Listener.of(member, id)
  await issue()
  await member.post(`${path}/webhook/disable`)
  await app.deliver()
  expect(await deliveries()).toMatchObject([{ status: 'pending', attempts: [] }])
  await member.post(`${path}/webhook/enable`)
  const delivering = app.deliver()
  await listener.take()
  await delivering
  expect(await deliveries()).toMatchObject([{ status: 'succeeded' }])
})

test('housekeeping ends the listeners of a process that died', async ({ startApp, receiver }) => {
  const app = await startApp()
  const { owner } = await app.workspace()
  const { id, issue, listener: shown } = await listenable(app, owner, receiver.url)
  await Listener.of(owner, id, { takeOver: true })
  // As if its process had died: the lease is not extended.
  await app.ctx.db.run(sql`update listeners set connection_id = 'of a dead process'`)
  app.clock.advance({ seconds: 30, milliseconds: -1 })
  expect(await shown()).not.toBeNull()
  app.clock.advance({ milliseconds: 1 })
  expect(await shown()).toBeNull()
  await issue()
  await app.deliver()
  expect(receiver.take()).toHaveLength(1)
  const rows = () => app.ctx.db.rows(sql`select endpoint_id from listeners`)
  app.clock.advance({ minutes: 10, milliseconds: -1 })
  await sweep(app.ctx)
  expect(await rows()).toHaveLength(1)
  app.clock.advance({ milliseconds: 1 })
  await sweep(app.ctx)
  expect(await rows()).toEqual([])
  expect((await owner.get('/audit-log?action=app.listening_ended')).body.data).toHaveLength(1)
})

test("a page of another site cannot listen with a manager's cookie", async ({ app, receiver }) => {
  const { owner } = await app.workspace()
  const { app: robot } = await app.installed(owner, { webhook: receiver.url })
  const path = `/agent-apps/${robot.id}/listen?take_over=true&workspace_id=${owner.workspaceId}`
  const byCookie = app.anonymous.with({ cookie: `baton_session=${owner.token}` })
  for (const headers of [{}, { 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
    const answer = await app.unchanged(() => byCookie.get(path, { headers }))
    expect(answer).toMatchObject({ status: 403, body: { code: 'CSRF_REFUSED' } })
  }
  expect((await byCookie.get(path, { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200)
})
