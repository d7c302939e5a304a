import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { minimal } from '../../test/manifest.ts'
import { isSigned, type Received, type Receiver } from '../../test/receiver.ts'

async function register(person: { post: TestApp['anonymous']['post'] }, receiver: Receiver, webhook: object = {}) {
  const manifest = { ...minimal, webhook: { url: receiver.url, ...webhook } }
  const { body: registered } = await person.post('/agent-apps', manifest)
  return { manifest, registered, path: `/agent-apps/${registered.app.id}` }
}

describe('an app', () => {
  test(
    'can be read by every member, and changed and deleted by managers only',
    verifies(
      'app.list',
      'app.get-one',
      'app.read-by-any-member',
      'app.secrets-shown-once',
      'app.put-replaces-manifest',
      'app.put-by-manager',
      'app.put-by-plain-member-refused',
      'app.delete-removes-app',
    ),
    async ({ app }) => {
      const { owner, admin, member, join } = await app.workspace()
      const other = await join('member')
      const elsewhere = await app.workspace()
      const { body: registered } = await member.post('/agent-apps', minimal)
      const { body: second } = await owner.post('/agent-apps', { ...minimal, name: 'Second' })
      const path = `/agent-apps/${registered.app.id}`
      for (const person of [owner, admin, member, other]) {
        expect((await person.get(path)).body).toEqual(registered.app)
        expect((await person.get('/agent-apps')).body).toEqual({
          data: [second.app, registered.app],
          next_cursor: null,
        })
      }
      expect((await elsewhere.owner.get('/agent-apps')).body.data).toEqual([])
      expect((await elsewhere.owner.get(path)).status).toBe(404)

      app.clock.advance({ seconds: 1 })
      const manifest = {
        ...minimal,
        name: 'Better robot',
        description: 'Works.',
        icon_url: 'https://robots.example.com/i.png',
        developer: { name: 'Robots Ltd', url: 'https://robots.example.com' },
        oauth: { redirect_uris: ['https://robots.example.com/new'], scopes: ['read', 'write'] },
        webhook: { url: 'https://robots.example.com/new-hook', enabled: false, resource_types: ['Issue'] },
      }
      for (const person of [member, other]) {
        for (const call of [() => person.put(path, manifest), () => person.delete(path)]) {
          const refused = await app.unchanged(call)
          expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
        }
      }
      const { body: replaced } = await admin.put(path, manifest)
      expect(replaced).toEqual({
        ...registered.app,
        name: 'Better robot',
        description: 'Works.',
        icon_url: manifest.icon_url,
        developer: manifest.developer,
        redirect_uris: manifest.oauth.redirect_uris,
        requested_scopes: ['read', 'write'],
        webhook: { ...manifest.webhook, state: 'disabled' },
        updated_at: app.clock.now().toISOString(),
      })
      expect((await member.get(path)).body).toEqual(replaced)
      const seen = JSON.stringify([replaced, (await member.get('/agent-apps')).body])
      expect(seen).not.toMatch(/svc_sk_|pwhsec_/)
      expect((await admin.delete(path)).status).toBe(204)
      expect((await member.get(path)).status).toBe(404)
      expect((await member.get('/agent-apps')).body.data).toEqual([second.app])
    },
  )

  test(
    'has secrets, a webhook and deliveries that only managers and its registrant can manage',
    verifies(
      'app.registrant-manages-secrets',
      'app.change-by-other-member-forbidden',
      'app.rotation-answers',
      'delivery.redeliver-permission',
      'webhook.app-enable-disable',
      'app.read-by-any-member',
    ),
    async ({ app, receiver }) => {
      const { owner, admin, member, join } = await app.workspace()
      const other = await join('member')
      const elsewhere = await app.workspace()
      const { path, registered } = await register(member, receiver)
      await owner.post(`${path}/webhook/test`)
      const [delivery] = (await owner.get(`${path}/deliveries`)).body.data
      const calls: [string, string, number][] = [
        ['POST', `${path}/secret`, 200],
        ['POST', `${path}/webhook-secret`, 200],
        ['POST', `${path}/webhook/test`, 200],
        ['POST', `${path}/webhook/disable`, 200],
        ['POST', `${path}/webhook/enable`, 200],
        ['GET', `${path}/deliveries`, 200],
        ['GET', `${path}/webhook/health`, 200],
        ['GET', `${path}/deliveries/${delivery.id}`, 200],
        ['POST', `${path}/deliveries/${delivery.id}/redeliver`, 202],
      ]
      for (const [method, where] of calls) {
        const refused = await app.unchanged(() => other.request(method, where))
        expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
        const unseen = await app.unchanged(() => elsewhere.owner.request(method, where))
        expect(unseen).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
      }
      for (const person of [owner, admin, member]) {
        for (const [method, where, status] of calls) expect((await person.request(method, where)).status).toBe(status)
        const { body } = await person.post(`${path}/secret`)
        expect(body).toEqual({ client_secret: expect.stringMatching(/^svc_sk_[\w-]{43}$/) })
        expect(body.client_secret).not.toBe(registered.client_secret)
      }
      expect(await app.everything()).not.toMatch(/svc_sk_|pwhsec_/)
      const trail = (await owner.get('/audit-log')).body.data.map(({ action }: { action: string }) => action)
      for (const action of ['app.registered', 'app.client_secret_rotated', 'app.webhook_secret_rotated']) {
        expect(trail).toContain(action)
      }
    },
  )
})

describe('the webhook of an app', () => {
  test(
    'receives one signed Ping per test, in every state',
    verifies(
      'app.webhook-test-sends-ping',
      'webhook.app-test',
      'event.app-ping-shape',
      'app.rotate-webhook-secret',
      'delivery.svc-delivery-app-is-delivery-id',
      'app.deliveries-list',
      'delivery.app-list',
      'app.deliveries-filters',
      'app.redeliver',
      'delivery.redeliver-app',
    ),
    async ({ app, receiver }) => {
      const { id: workspaceId, owner } = await app.workspace()
      const { path, registered } = await register(owner, receiver, { enabled: false })
      expect((await owner.post(`${path}/webhook/test`)).body).toMatchObject({ ok: true, status: 200 })
      const [ping] = receiver.take() as [Received]
      expect(isSigned(ping, registered.webhook_secret)).toBe(true)
      expect(ping.body).toEqual({
        action: 'create',
        type: 'Ping',
        actor: { id: owner.user.id, type: 'user', name: owner.user.display_name },
        created_at: app.clock.now().toISOString(),
        data: { event_id: expect.stringMatching(/^evt_/), webhook_id: ping.body.webhook_id, label: 'Robot' },
        url: '',
        workspace_id: workspaceId,
        webhook_id: expect.stringMatching(/^whk_/),
        webhook_timestamp: app.clock.now().getTime(),
        installation_id: null,
        app_user_id: null,
      })
      const { webhook_secret } = (await owner.post(`${path}/webhook-secret`)).body
      receiver.answer = 500
      expect((await owner.post(`${path}/webhook/test`)).body).toMatchObject({ ok: false, reason: 'http_error' })
      const [second] = receiver.take() as [Received]
      expect([isSigned(second, webhook_secret), isSigned(second, registered.webhook_secret)]).toEqual([true, false])
      app.clock.advance({ days: 1 })
      await app.deliver()
      expect(receiver.take()).toEqual([])

      const { data } = (await owner.get(`${path}/deliveries`)).body
      expect(data).toMatchObject([{ status: 'failed' }, { id: ping.headers['svc-delivery'], status: 'succeeded' }])
      expect((await owner.get(`${path}/deliveries?status=failed`)).body.data).toEqual([data[0]])
      const page = (await owner.get(`${path}/deliveries?limit=1`)).body
      expect((await owner.get(`${path}/deliveries?limit=1&cursor=${page.next_cursor}`)).body.data).toEqual([data[1]])

      receiver.answer = 200
      expect((await owner.post(`${path}/deliveries/${data[0].id}/redeliver`)).status).toBe(202)
      await app.deliver()
      const [again] = receiver.take() as [Received]
      expect(again.headers['svc-delivery']).toBe(second.headers['svc-delivery'])
      expect(again.body.data).toEqual(second.body.data)
    },
  )

  test(
    'can be enabled and disabled by request and by the manifest',
    verifies('app.webhook-enable', 'app.webhook-disable', 'app.webhook-state'),
    async ({ app, receiver }) => {
      const { owner } = await app.workspace()
      const { path, manifest } = await register(owner, receiver)
      expect((await owner.post(`${path}/webhook/disable`)).body.webhook).toMatchObject({
        enabled: false,
        state: 'disabled',
      })
      expect((await owner.post(`${path}/webhook/enable`)).body.webhook).toMatchObject({
        enabled: true,
        state: 'enabled',
      })
      await owner.post(`${path}/webhook/disable`)
      expect((await owner.put(path, manifest)).body.webhook).toMatchObject({ enabled: true, state: 'enabled' })
      const without = { ...manifest, webhook: undefined }
      expect((await owner.put(path, without)).body.webhook).toMatchObject({
        enabled: false,
        url: '',
        state: 'disabled',
      })
      const refused = await app.unchanged(() => owner.post(`${path}/webhook/enable`))
      expect(refused).toMatchObject({ status: 422, body: { details: { 'webhook.url': expect.any(String) } } })
    },
  )

  test('is not listed as a webhook of the workspace, and receives nothing before the app is installed', async ({
    app,
    receiver,
  }) => {
    const { owner } = await app.workspace()
    const { path } = await register(owner, receiver, { resource_types: ['Issue'] })
    await owner.post(`${path}/webhook/test`)
    const [ping] = receiver.take() as [Received]
    expect((await owner.get('/webhooks')).body.data).toEqual([])
    for (const rest of ['', '/secret', '/deliveries']) {
      expect((await owner.get(`/webhooks/${ping.body.webhook_id}${rest}`)).status).toBe(404)
    }
    const tested = await app.unchanged(() => owner.post(`/webhooks/${ping.body.webhook_id}/test`))
    expect([tested.status, receiver.take()]).toEqual([404, []])
    await owner.post('/issues', { title: 'Not for the app: it is not installed' })
    await app.deliver()
    expect(receiver.take()).toEqual([])
  })
})
