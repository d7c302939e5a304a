import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test as plain, vi } from 'vitest'
import { test, verifies } from '../test/harness.ts'
import { only, webhookScene } from '../test/webhook.ts'
import { sql } from './db/sql.ts'
import { attemptTrace, type Span, startTrace, traceparentOf } from './trace.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const given = `00-${traceId}-00f067aa0ba902b7-01`

describe('traceparent', () => {
  plain('continues a valid one, with a span of its own', () => {
    const trace = startTrace(given)
    expect(trace).toMatchObject({ traceId, parentSpanId: '00f067aa0ba902b7', sampled: true })
    expect(trace.spanId).toMatch(/^[0-9a-f]{16}$/)
    expect(trace.spanId).not.toBe('00f067aa0ba902b7')
    expect(startTrace(`00-${traceId}-00f067aa0ba902b7-00`).sampled).toBe(false)
    // Later versions may add fields.
    expect(startTrace(`01-${traceId}-00f067aa0ba902b7-01-more`).traceId).toBe(traceId)
  })

  plain.for([
    undefined,
    '',
    'nonsense',
    `${given}-more`,
    `${given}, ${given}`,
    `ff-${traceId}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    given.toUpperCase(),
    `00-${traceId}-00f067aa0ba902b7-1`,
  ])('replaces %j', (header) => {
    const trace = startTrace(header)
    expect(trace).toMatchObject({ parentSpanId: null, sampled: true })
    expect(trace.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(trace.traceId).not.toBe(traceId)
    expect(startTrace(header).traceId).not.toBe(trace.traceId)
  })

  plain('an attempt has a span of its own in the trace of the event, the same each time', () => {
    const id = 'dlv_01m7n2fys8e0080123456789ab'
    expect(traceparentOf(attemptTrace(given, id, 1))).toBe(`00-${traceId}-0123456789ab0001-01`)
    expect(traceparentOf(attemptTrace(given, id, 12))).toBe(`00-${traceId}-0123456789ab000c-01`)
  })
})

test(
  'a delivery names the request that caused it, on every attempt, and so does its record',
  verifies('trace.request-id-to-webhook'),
  async ({ app, receiver }) => {
    const { owner, deliveries, path } = await webhookScene(app, receiver)
    receiver.answer = 500
    const created = await owner.post('/issues', { title: 'A bug' })
    const requestId = created.headers.get('x-request-id')
    await app.deliver()
    const first = only(receiver.take())
    app.clock.advance({ minutes: 1 })
    receiver.answer = 200
    await app.deliver()
    const second = only(receiver.take())
    for (const { headers } of [first, second]) expect(headers['svc-request-id']).toBe(requestId)
    expect(second.headers.traceparent?.slice(0, 35)).toBe(first.headers.traceparent?.slice(0, 35))
    expect(second.headers.traceparent).not.toBe(first.headers.traceparent)

    const [record] = await deliveries()
    expect(record).toMatchObject({ status: 'succeeded', request_id: requestId })
    const { request } = (await owner.get(`${path}/deliveries/${record.id}`)).body
    expect(request.headers).toMatchObject({
      'svc-request-id': requestId,
      traceparent: second.headers.traceparent,
    })

    // Once more, by a request of its own: the cause stays.
    await owner.post(`${path}/deliveries/${record.id}/redeliver`)
    await app.deliver()
    expect(only(receiver.take()).headers['svc-request-id']).toBe(requestId)
  },
)

test(
  'a test event names the request of the test',
  verifies('trace.request-id-to-webhook'),
  async ({ app, receiver }) => {
    const { owner, deliveries, path } = await webhookScene(app, receiver)
    const tested = await owner.post(`${path}/test`, {})
    const requestId = tested.headers.get('x-request-id')
    expect(only(receiver.take()).headers['svc-request-id']).toBe(requestId)
    expect(await deliveries()).toMatchObject([{ test: true, request_id: requestId }])
  },
)

test('a delivery that no request caused has neither header', async ({ app, receiver }) => {
  const { deliveries, issue } = await webhookScene(app, receiver)
  await issue()
  await app.ctx.db.run(sql`update events set request_id = null, traceparent = null`)
  await app.deliver()
  const { headers } = only(receiver.take())
  expect(Object.keys(headers)).not.toContain('svc-request-id')
  expect(Object.keys(headers)).not.toContain('traceparent')
  expect(await deliveries()).toMatchObject([{ request_id: null }])
})

test(
  'takes up a valid traceparent in the log and in deliveries, and replaces others',
  verifies('trace.traceparent'),
  async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner } = await webhookScene(app, receiver)
    const logged = vi.spyOn(app.ctx.log, 'info')
    const traceIds = async (header: Record<string, string>) => {
      logged.mockClear()
      await owner.with(header).post('/issues', { title: 'A bug' })
      await vi.waitFor(() => expect(logged).toHaveBeenCalledTimes(1))
      await app.deliver()
      const [[entry] = []] = logged.mock.calls
      const { trace_id } = { ...(entry as object | undefined) } as { trace_id?: string }
      const [, delivered] = /^00-([0-9a-f]{32})-[0-9a-f]{16}-0[01]$/.exec(
        String(only(receiver.take()).headers.traceparent),
      ) as RegExpExecArray
      return [trace_id, delivered]
    }
    expect(await traceIds({ traceparent: given })).toEqual([traceId, traceId])
    for (const header of [{ traceparent: `00-${traceId}-zz-01` }, {}]) {
      const [ofLog, delivered] = await traceIds(header as Record<string, string>)
      expect(ofLog).toMatch(/^[0-9a-f]{32}$/)
      expect(ofLog).not.toBe(traceId)
      expect(delivered).toBe(ofLog)
    }
  },
)

test('a failed attempt is logged with delivery, endpoint, reason and request', async ({ startApp, receiver }) => {
  const app = await startApp()
  const { owner, webhook, deliveries } = await webhookScene(app, receiver)
  const warned = vi.spyOn(app.ctx.log, 'warn')
  receiver.answer = 500
  const { headers } = await owner.with({ traceparent: given }).post('/issues', { title: 'A bug' })
  await app.deliver()
  const [{ id }] = await deliveries()
  expect(warned.mock.calls).toEqual([
    [
      {
        delivery_id: id,
        endpoint_id: webhook.id,
        attempt: 1,
        reason: 'http_error',
        status: 500,
        request_id: headers.get('x-request-id'),
        trace_id: traceId,
      },
      'a delivery attempt failed',
    ],
  ])
  warned.mockClear()
  app.clock.advance({ minutes: 1 })
  receiver.answer = 200
  await app.deliver()
  expect(warned).not.toHaveBeenCalled()
})

test(
  'subscribers get the spans of a request and of its attempts',
  verifies('trace.otlp'),
  async ({ app, receiver }) => {
    const { owner } = await webhookScene(app, receiver)
    const spans: Span[] = []
    const add = (span: unknown) => void spans.push(span as Span)
    subscribe('baton:span', add)
    onTestFinished(() => void unsubscribe('baton:span', add))
    receiver.answer = 500
    const { headers } = await owner.with({ traceparent: given }).post('/issues', { title: 'A bug' })
    await app.deliver()
    await vi.waitFor(() => expect(spans).toHaveLength(2))
    const [request, attempt] = spans as [Span, Span]
    expect(request).toMatchObject({
      traceId,
      parentSpanId: '00f067aa0ba902b7',
      name: 'POST /api/v1/issues',
      kind: 'server',
      failed: false,
      attributes: { 'baton.request_id': headers.get('x-request-id'), 'http.response.status_code': 201 },
    })
    expect(attempt).toMatchObject({
      traceId,
      parentSpanId: request.spanId,
      spanId: String(only(receiver.take()).headers.traceparent).slice(36, 52),
      name: 'deliver Issue',
      kind: 'client',
      failed: true,
      attributes: { 'error.type': 'http_error', 'http.response.status_code': 500 },
    })
    // The service itself has no package of OpenTelemetry.
    expect(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).not.toContain('opentelemetry')
  },
)
