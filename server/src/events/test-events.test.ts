import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { isSigned, standardSignature } from '../../test/receiver.ts'
import { only, webhookScene } from '../../test/webhook.ts'

interface EventType {
  type: string
  action: string
  schema: object
  example: { [key: string]: unknown }
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)

describe('GET /event-types', () => {
  test(
    'lists every type and action once, with an example that fits its schema',
    verifies('standard-webhook.catalogue'),
    async ({ app }) => {
      const { status, body } = await app.anonymous.get('/event-types')
      expect(status).toBe(200)
      const listed: EventType[] = body.data
      expect(listed.map(({ type, action }) => `${type} ${action}`)).toEqual([
        ...['Issue', 'Comment', 'Project'].flatMap((type) => [`${type} create`, `${type} update`, `${type} remove`]),
        'AgentSessionEvent created',
        'AgentSessionEvent prompted',
        'PermissionChange teamAccessChanged',
        'OAuthApp revoked',
        'Ping create',
      ])
      for (const { type, action, schema, example } of listed) {
        expect(example).toMatchObject({ type, action })
        const fits = ajv.compile(schema)
        expect(fits(example), `${type} ${action}: ${ajv.errorsText(fits.errors)}`).toBe(true)
        expect(fits({ ...example, surprise: 1 })).toBe(false)
      }
      const page = await app.anonymous.getRoot('/docs/events.md')
      for (const { type, action } of listed) expect(String(page.body)).toContain(`### ${type} ${action}`)
      expect(String(page.body)).toContain('| `data.event_id` |')
      expect(String(page.body)).toContain('| `delegation_revision` |')
    },
  )
})

describe('a test event', () => {
  test(
    'is the example with the real ids, signed and sent once',
    verifies('standard-webhook.test-event'),
    async ({ app, receiver }) => {
      const { owner, workspaceId, webhook, path, deliveries } = await webhookScene(app, receiver)
      const sent = await owner.post(`${path}/test`, { type: 'Issue', action: 'update' })
      expect(sent).toMatchObject({ status: 200, body: { ok: true, status: 200, reason: null } })
      const got = only(receiver.take())
      expect(got.headers['svc-event']).toBe('Issue')
      expect(isSigned(got, webhook.secret)).toBe(true)
      expect(got.headers['webhook-signature']).toBe(standardSignature(got, webhook.secret))
      const listed: EventType[] = (await app.anonymous.get('/event-types')).body.data
      const type = listed.find((one) => one.type === 'Issue' && one.action === 'update')
      expect(got.body).toMatchObject({
        test: true,
        workspace_id: workspaceId,
        webhook_id: webhook.id,
        data: type?.example.data,
        updated_from: type?.example.updated_from,
        created_at: app.clock.now().toISOString(),
      })
      expect(ajv.compile(type?.schema ?? {})(got.body)).toBe(true)
      const [delivery] = await deliveries()
      expect(delivery).toMatchObject({ type: 'Issue', action: 'update', status: 'succeeded', issue: null, test: true })
      await app.deliver()
      expect(receiver.take()).toEqual([])
    },
  )

  test('without a body is the Ping', verifies('standard-webhook.test-event'), async ({ app, receiver }) => {
    const { owner, path, webhook } = await webhookScene(app, receiver)
    for (const body of [undefined, {}, { type: 'Ping', action: 'create' }]) {
      await owner.post(`${path}/test`, body)
      const got = only(receiver.take())
      expect(got.body).toMatchObject({ type: 'Ping', data: { webhook_id: webhook.id, label: 'Chat' } })
      expect(got.body).not.toHaveProperty('test')
    }
  })

  test(
    'for an app has its installation and a new event id',
    verifies('standard-webhook.test-event'),
    async ({ app, receiver }) => {
      const { owner } = await app.workspace()
      const robot = await app.installed(owner, { webhook: receiver.url })
      const path = `/agent-apps/${robot.app.id}/webhook/test`
      for (const test of [
        { type: 'AgentSessionEvent', action: 'created' },
        { type: 'OAuthApp', action: 'revoked' },
      ]) {
        expect((await owner.post(path, test)).body.ok).toBe(true)
        const { body } = only(receiver.take())
        expect(body).toMatchObject({
          ...test,
          test: true,
          installation_id: robot.installationId,
          app_user_id: robot.userId,
        })
        expect(body.data.event_id).toMatch(/^evt_/)
      }
    },
  )

  test(
    'that fails is reported and listed, not retried, and does not count',
    verifies('standard-webhook.test-counts-nothing'),
    async ({ startApp, receiver }) => {
      const app = await startApp({ BATON_RETRY_DELAYS: '0' })
      const { owner, path, deliveries, state } = await webhookScene(app, receiver)
      receiver.answer = 500
      for (let sent = 0; sent < 6; sent++) {
        const { body } = await owner.post(`${path}/test`, { type: 'Issue', action: 'create' })
        expect(body).toMatchObject({ ok: false, status: 500, reason: 'http_error' })
        app.clock.advance({ minutes: 5 })
        await app.deliver()
      }
      expect(receiver.take()).toHaveLength(6)
      expect(await deliveries('?status=failed')).toHaveLength(6)
      expect(await state()).toBe('enabled')
      expect((await owner.get(`${path}/health`)).body).toMatchObject({ success_rate: null, last_failure: null })
      expect((await owner.get('/inbox')).body.data).toEqual([])
      // Two failed deliveries of real events do not disable it: the tests are not among the three.
      for (const title of ['One', 'Two']) await owner.post('/issues', { title })
      await app.deliver()
      expect(await state()).toBe('enabled')
      const [{ id }] = await deliveries('?status=failed')
      await owner.post(`${path}/deliveries/${id}/redeliver`)
      await app.deliver()
      expect(await state()).toBe('enabled')
    },
  )

  test(
    'of a type that the endpoint does not receive is refused',
    verifies('standard-webhook.test-counts-nothing'),
    async ({ app, receiver }) => {
      const { owner, path } = await webhookScene(app, receiver)
      const robot = await app.installed(owner, { webhook: receiver.url })
      const bad: [string, object, string][] = [
        [`${path}/test`, { type: 'Comment', action: 'create' }, 'type'],
        [`${path}/test`, { type: 'AgentSessionEvent', action: 'created' }, 'type'],
        [`${path}/test`, { type: 'Nothing', action: 'create' }, 'type'],
        [`${path}/test`, { type: 'Issue', action: 'created' }, 'action'],
        [`${path}/test`, { type: 'Issue' }, 'action'],
        [`${path}/test`, { action: 'create' }, 'type'],
        [`/agent-apps/${robot.app.id}/webhook/test`, { type: 'Issue', action: 'create' }, 'type'],
      ]
      for (const [to, body, field] of bad) {
        const refused = await app.unchanged(() => owner.post(to, body))
        expect(refused).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
        expect(Object.keys(refused.body.details)).toEqual([field])
      }
      expect(receiver.take()).toEqual([])
    },
  )
})
