import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { verifies } from '../conformance/requirements.ts'
import { Receiver } from '../server/test/receiver.ts'
import { newDataDir, ServiceProcess } from '../server/test/service-process.ts'

interface OtlpSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  status: { code: number }
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

/** A collector of spans, on loopback. */
async function collector() {
  const spans: (OtlpSpan & { service: string })[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (request.url === '/v1/traces') {
      for (const { resource, scopeSpans } of JSON.parse(Buffer.concat(chunks).toString()).resourceSpans) {
        const { value } = resource.attributes.find(({ key }: { key: string }) => key === 'service.name')
        for (const scope of scopeSpans)
          spans.push(...scope.spans.map((span: OtlpSpan) => ({ ...span, service: value.stringValue })))
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { spans, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/**
 * Prints how many modules of OpenTelemetry are loaded, when the process ends. Without those of its API: the library for
 * metrics brings them along, and alone they do nothing.
 */
const counting = `data:text/javascript,import Module from 'node:module';process.on('exit',()=>console.log('loaded:'+Object.keys(Module._cache).filter(file=>file.includes('@opentelemetry')&&!file.includes('@opentelemetry/api/')).length))`

async function startService(preloads: string[], env: Record<string, string>) {
  const dataDir = newDataDir()
  const service = await ServiceProcess.start({
    BATON_DATA_DIR: dataDir,
    BATON_WEBHOOK_ALLOW: 'localhost',
    BATON_RETRY_DELAYS: '0,0,0',
    NODE_PATH: fileURLToPath(new URL('node_modules', import.meta.url)),
    NODE_OPTIONS: preloads.map((url) => `--import ${encodeURI(url)}`).join(' '),
    ...env,
  })
  onTestFinished(async () => {
    await service.kill('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  })
  return service
}

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'

/** A request that changes an issue, whose webhook is delivered at the second attempt. */
async function makeDelivery(service: ServiceProcess) {
  const receiver = await Receiver.start()
  onTestFinished(() => receiver.stop())
  receiver.answer = (response) => response.writeHead(receiver.received.length === 1 ? 500 : 200).end()
  const person = { email: 'ada@example.com', password: 'correct horse', name: 'Ada' }
  const { token } = await service.call('POST', '/auth/sign-up', person)
  const authorization = `Bearer ${token}`
  const { id } = await service.call('POST', '/workspaces', { name: 'Acme' }, { authorization })
  const headers = { authorization, 'x-workspace-id': id }
  const webhook = { label: 'Chat', url: receiver.url, all_teams: true, resource_types: ['Issue'] }
  await service.call('POST', '/webhooks', webhook, headers)
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
  await service.call('POST', '/issues', { title: 'A bug' }, { ...headers, traceparent })
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 30_000 })
  return receiver.received
}

test(
  'spans of a request and of its delivery attempts reach a collector under one trace id',
  verifies('trace.otlp'),
  async () => {
    const { spans, url } = await collector()
    const preload = new URL('../server/otel.mjs', import.meta.url).href
    const service = await startService([preload, counting], {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_SERVICE_NAME: 'baton-test',
    })
    const received = await makeDelivery(service)
    const ofTrace = () => spans.filter((span) => span.traceId === traceId)
    await vi.waitFor(() => expect(ofTrace()).toHaveLength(3), { timeout: 30_000 })
    const [request, ...attempts] = [...ofTrace()].sort((a, b) => Number(a.kind !== 2) - Number(b.kind !== 2))
    expect(request).toMatchObject({
      name: 'POST /api/v1/issues',
      kind: 2,
      parentSpanId: '00f067aa0ba902b7',
      service: 'baton-test',
    })
    expect(attempts.map(({ status }) => status.code).sort()).toEqual([0, 2])
    for (const { name, kind, parentSpanId } of attempts) {
      expect({ name, kind, parentSpanId }).toEqual({ name: 'deliver Issue', kind: 3, parentSpanId: request?.spanId })
    }
    // The receiver continues the span of its attempt.
    expect(attempts.map(({ spanId }) => spanId).sort()).toEqual(
      received.map(({ headers }) => String(headers.traceparent).slice(36, 52)).sort(),
    )
    expect(await service.kill('SIGTERM')).toBe(0)
    expect(service.output).toMatch(/loaded:[1-9]/)
  },
)

test('without the preload no package of OpenTelemetry is loaded', verifies('trace.otlp'), async () => {
  const { spans, url } = await collector()
  const service = await startService([counting], { OTEL_EXPORTER_OTLP_ENDPOINT: url })
  await makeDelivery(service)
  expect(await service.kill('SIGTERM')).toBe(0)
  // Each thread of the process prints a line.
  expect(service.output).toContain('loaded:0')
  expect(service.output).not.toMatch(/loaded:[1-9]/)
  expect(spans).toEqual([])
})

test('a missing package stops the start and is named', verifies('trace.otlp'), async () => {
  const preload = new URL('../server/otel.mjs', import.meta.url).href
  const service = new ServiceProcess(0, { BATON_DATA_DIR: newDataDir(), NODE_OPTIONS: `--import ${preload}` })
  expect(await service.ended()).not.toBe(0)
  expect(service.output).toContain('@opentelemetry/sdk-trace-base is missing. Install')
})
