import { createServer } from 'node:net'
import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
import { test, verifies } from '../../test/harness.ts'
import { isSigned } from '../../test/receiver.ts'
import { only, webhookScene as scene } from '../../test/webhook.ts'
import { sql } from '../db/sql.ts'

describe('an attempt', () => {
  const answers: [status: number, reason: string, ...ids: RequirementId[]][] = [
    [302, 'redirect', 'delivery.redirect-is-failed-attempt'],
    [304, 'redirect', 'delivery.redirect-is-failed-attempt'],
    [400, 'http_error', 'delivery.http-error'],
    [410, 'http_error', 'delivery.http-error'],
    [500, 'http_error', 'delivery.http-error'],
  ]
  for (const [status, reason, ...ids] of answers) {
    test(
      `answered by ${status} is a ${reason}`,
      verifies('delivery.record-fields', 'delivery.attempt-fields', ...ids),
      async ({ app, receiver }) => {
        const { issue, deliveries } = await scene(app, receiver)
        receiver.answer = (response) =>
          response.writeHead(status, { location: `${receiver.url}/elsewhere` }).end(status === 304 ? undefined : 'no')
        const created_at = app.clock.now().toISOString()
        const { id, code, title } = await issue()
        await app.deliver()
        expect(receiver.take()).toHaveLength(1)
        expect(await deliveries()).toEqual([
          {
            id: expect.stringMatching(/^dlv_/),
            event_id: expect.stringMatching(/^evt_/),
            type: 'Issue',
            action: 'create',
            status: 'pending',
            created_at,
            next_attempt_at: expect.any(String),
            request_id: expect.stringMatching(/^req_/),
            held: false,
            test: false,
            issue: { id, code, title },
            attempts: [
              {
                number: 1,
                started_at: created_at,
                duration_ms: expect.any(Number),
                http_status: status,
                reason,
                response_excerpt: status === 304 ? '' : 'no',
              },
            ],
          },
        ])
      },
    )
  }

  test(
    'without an answer within 5 seconds is a timeout',
    verifies('delivery.deadline-5s'),
    async ({ app, receiver }) => {
      const { issue, deliveries } = await scene(app, receiver)
      receiver.answer = () => {}
      await issue()
      const arrived = receiver.next()
      const delivering = app.deliver()
      await arrived
      app.clock.advance({ seconds: 5 })
      await delivering
      expect(await deliveries()).toMatchObject([
        { status: 'pending', attempts: [{ http_status: null, reason: 'timeout', response_excerpt: null }] },
      ])
    },
  )

  test('that cannot connect is a network error', verifies('delivery.network-error'), async ({ app, receiver }) => {
    const { owner, path, issue, deliveries } = await scene(app, receiver)
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, 'localhost', resolve))
    const { port } = closed.address() as { port: number }
    await new Promise((resolve) => closed.close(resolve))
    await owner.patch(path, { url: `http://localhost:${port}/` })
    await issue()
    await app.deliver()
    expect(await deliveries()).toMatchObject([{ attempts: [{ http_status: null, reason: 'network_error' }] }])
  })

  test(
    'to an address that is no longer public sends nothing',
    verifies('delivery.blocked-destination'),
    async ({ app, receiver }) => {
      const { issue, deliveries, webhook } = await scene(app, receiver)
      const { port } = new URL(receiver.url)
      for (const url of [`http://127.0.0.1:${port}/`, `https://u@localhost:${port}/`, 'https://10.0.0.1/']) {
        await app.ctx.db.run(sql`update endpoints set url = ${url} where id = ${webhook.id}`)
        await issue()
        await app.deliver()
        const [newest] = await deliveries()
        expect(newest).toMatchObject({ attempts: [{ http_status: null, reason: 'blocked_destination' }] })
      }
      expect(receiver.take()).toEqual([])
    },
  )

  test(
    'keeps a thousand characters of the response, of any kind',
    verifies('delivery.response-excerpt-limit'),
    async ({ app, receiver }) => {
      const { issue, deliveries } = await scene(app, receiver)
      const answers: [Buffer, string][] = [
        [Buffer.from('x'.repeat(1000)), 'x'.repeat(1000)],
        [Buffer.from('x'.repeat(70_000)), 'x'.repeat(1000)],
        [Buffer.from('🚀'.repeat(1001)), '🚀'.repeat(1000)],
        [Buffer.from([0x61, 0, 0x62, 0xff, 0xfe, 0x63]), 'a\ufffdb\ufffd\ufffdc'],
        [Buffer.alloc(0), ''],
      ]
      for (const [bytes, kept] of answers) {
        receiver.answer = (response) => response.writeHead(200).end(bytes)
        await issue()
        await app.deliver()
        const [newest] = await deliveries()
        expect(newest).toMatchObject({ status: 'succeeded', attempts: [{ response_excerpt: kept }] })
      }
    },
  )

  test(
    'is signed with the current secret',
    verifies('delivery.secret-of-the-moment', 'webhook.secret-rotate'),
    async ({ app, receiver }) => {
      const { owner, webhook, path, issue } = await scene(app, receiver)
      receiver.answer = 500
      await issue()
      await app.deliver()
      expect(isSigned(only(receiver.take()), webhook.secret)).toBe(true)
      const { body: rotated } = await owner.post(`${path}/secret`)
      expect(rotated.secret).not.toBe(webhook.secret)
      app.clock.advance({ minutes: 1 })
      await app.deliver()
      const retry = only(receiver.take())
      expect(isSigned(retry, rotated.secret)).toBe(true)
      expect(isSigned(retry, webhook.secret)).toBe(false)
    },
  )
})
