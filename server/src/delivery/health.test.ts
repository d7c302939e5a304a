import { describe, expect } from 'vitest'
import { test as base, TestApp, verifies } from '../../test/harness.ts'
import type { Receiver } from '../../test/receiver.ts'

/** Retries without delay, so that a delivery fails or succeeds at a chosen moment. */
const test = base.extend<{ service: TestApp }>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
    async ({}, use) => {
      const app = await TestApp.start({ BATON_RETRY_DELAYS: '0,0,0' })
      await use(app)
      await app.stop()
    },
    { scope: 'file' },
  ],
})

async function scene(app: TestApp, receiver: Receiver) {
  const { owner, admin, member } = await app.workspace()
  const { body: webhook } = await owner.post('/webhooks', {
    label: 'Chat',
    url: receiver.url,
    all_teams: true,
    resource_types: ['Issue'],
  })
  const path = `/webhooks/${webhook.id}`
  const settle = async (status: number, count: number) => {
    receiver.answer = status
    for (let made = 0; made < count; made++) await owner.post('/issues', { title: 'A bug' })
    await app.deliver()
    receiver.take()
  }
  return {
    owner,
    admin,
    member,
    webhook,
    path,
    fail: (count = 1) => settle(500, count),
    succeed: () => settle(200, 1),
    state: async () => (await owner.get(path)).body.state,
  }
}

describe('a webhook is disabled as failing', () => {
  test(
    'by the third failed delivery in 24 hours without a success',
    verifies('webhook.auto-disable', 'webhook.no-auto-disable-below-three'),
    async ({ service, receiver }) => {
      const { owner, webhook, fail, state, path } = await scene(service, receiver)
      await fail(2)
      expect(await state()).toBe('enabled')
      service.clock.advance({ hours: 23 })
      await fail()
      expect(await state()).toBe('failing')
      await owner.post('/issues', { title: 'Not delivered' })
      await service.deliver()
      expect(receiver.take()).toEqual([])
      expect((await owner.get(`${path}/deliveries`)).body.data).toHaveLength(3)
      expect((await owner.get(path)).body).toMatchObject({ id: webhook.id, state: 'failing' })
    },
  )

  test(
    'unless one delivery in 24 hours succeeded',
    verifies('webhook.no-auto-disable-with-success'),
    async ({ service, receiver }) => {
      const { fail, succeed, state } = await scene(service, receiver)
      await succeed()
      await fail(5)
      expect(await state()).toBe('enabled')
      // The success was exactly 24 hours ago and no longer counts.
      service.clock.advance({ hours: 24, milliseconds: -1 })
      await fail(2)
      expect(await state()).toBe('enabled')
      service.clock.advance({ milliseconds: 1 })
      await fail(1)
      expect(await state()).toBe('failing')
    },
  )

  test(
    'not by failures older than 24 hours',
    verifies('webhook.no-auto-disable-below-three'),
    async ({ service, receiver }) => {
      const { fail, state } = await scene(service, receiver)
      await fail(2)
      service.clock.advance({ hours: 24 })
      await fail(2)
      expect(await state()).toBe('enabled')
      await fail(1)
      expect(await state()).toBe('failing')
    },
  )

  test(
    'not by attempts of deliveries that are still pending',
    verifies('webhook.auto-disable-counts-deliveries'),
    async ({ app, receiver }) => {
      const { owner, state, path } = await scene(app, receiver)
      receiver.answer = 500
      for (let made = 0; made < 5; made++) await owner.post('/issues', { title: 'A bug' })
      await app.deliver()
      app.clock.advance({ minutes: 1 })
      await app.deliver()
      app.clock.advance({ hours: 1 })
      await app.deliver()
      expect(receiver.take()).toHaveLength(15)
      expect(await state()).toBe('enabled')
      app.clock.advance({ hours: 6 })
      await app.deliver()
      expect(await state()).toBe('failing')
      expect((await owner.get(`${path}/deliveries?status=failed`)).body.data).toHaveLength(5)
    },
  )

  test(
    'whatever the results of test pings',
    verifies('webhook.auto-disable-ignores-pings'),
    async ({ service, receiver }) => {
      const { owner, path, fail, state } = await scene(service, receiver)
      await fail(2)
      receiver.answer = 500
      for (let sent = 0; sent < 3; sent++) await owner.post(`${path}/test`)
      expect(await state()).toBe('enabled')
      receiver.answer = 200
      await owner.post(`${path}/test`)
      await fail(1)
      expect(await state()).toBe('failing')
    },
  )

  test('not by a failed redelivery', verifies('delivery.redeliver-rules'), async ({ service, receiver }) => {
    const { owner, path, fail, succeed, state } = await scene(service, receiver)
    await succeed()
    service.clock.advance({ hours: 2 })
    await fail(3)
    // By now the success is older than 24 hours, the failures are not.
    service.clock.advance({ hours: 23 })
    const [{ id }] = (await owner.get(`${path}/deliveries?status=failed`)).body.data
    await owner.post(`${path}/deliveries/${id}/redeliver`)
    await service.deliver()
    expect(receiver.take()).toHaveLength(1)
    expect(await state()).toBe('enabled')
    await fail(1)
    expect(await state()).toBe('failing')
  })

  test(
    'until it is enabled, which clears the failures',
    verifies('webhook.enable', 'webhook.test-while-disabled'),
    async ({ service, receiver }) => {
      const { owner, path, fail, succeed, state } = await scene(service, receiver)
      await fail(3)
      expect(await state()).toBe('failing')
      receiver.answer = 200
      expect((await owner.post(`${path}/test`)).body).toMatchObject({ ok: true, status: 200 })
      expect(await state()).toBe('failing')
      service.clock.advance({ minutes: 1 })
      expect((await owner.post(`${path}/enable`)).body.state).toBe('enabled')
      await fail(2)
      expect(await state()).toBe('enabled')
      await fail(1)
      expect(await state()).toBe('failing')
      await owner.post(`${path}/enable`)
      await succeed()
      await fail(3)
      expect(await state()).toBe('enabled')
    },
  )

  test(
    'not by failures before it was enabled, even if enabling it began before them and waited for a lock',
    verifies('webhook.enable'),
    async ({ service, receiver }) => {
      const { owner, path, fail, state } = await scene(service, receiver)
      await fail(3)
      expect(await state()).toBe('failing')
      // The request that enables it read the clock a second before the last failure was stored.
      service.clock.advance({ seconds: -1 })
      expect((await owner.post(`${path}/enable`)).body.state).toBe('enabled')
      service.clock.advance({ seconds: 2 })
      await fail(2)
      expect(await state()).toBe('enabled')
      await fail(1)
      expect(await state()).toBe('failing')
    },
  )

  test('and every manager sees it in the inbox and the audit log', async ({ service, receiver }) => {
    const { owner, admin, member, webhook, path, fail } = await scene(service, receiver)
    await fail(3)
    const entry = {
      kind: 'webhook_failing',
      subject_id: webhook.id,
      title: 'Chat',
      url: `${service.ctx.config.appUrl}/settings/webhooks/${webhook.id}`,
      actor: null,
    }
    for (const manager of [owner, admin]) expect((await manager.get('/inbox')).body.data).toMatchObject([entry])
    expect((await member.get('/inbox')).body.data).toEqual([])
    const { data } = (await owner.get('/audit-log?action=webhook.failing')).body
    expect(data).toMatchObject([{ actor: null, subject_id: webhook.id }])
    // Former managers do not see it, and after the webhook is deleted none does.
    await owner.patch(`/workspaces/me/members/${admin.user.id}`, { role: 'member' })
    expect((await admin.get('/inbox')).body.data).toEqual([])
    await owner.delete(path)
    expect((await owner.get('/inbox')).body.data).toEqual([])
  })
})
