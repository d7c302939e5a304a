import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { AllowedTarget } from '../src/config.ts'
import { GuardedClient } from '../src/outbound/client.ts'
import { TestClock } from './clock.ts'

/** What the fetchers of imports need, with a clock that the test moves. Servers of tests listen on localhost. */
export function fetching({
  allow = [{ host: 'localhost', port: null }] as AllowedTarget[],
  dnsServers = undefined as string[] | undefined,
} = {}) {
  const clock = new TestClock()
  const outbound = new GuardedClient({ allow, clock, ...(dnsServers ? { dnsServers } : {}) })
  onTestFinished(() => outbound.close())
  const lines: Buffer[] = []
  const sink = async (bytes: Buffer) => void lines.push(bytes)
  const stored = () => Buffer.concat(lines)
  /** Resolves when the work waits for this time. Not for 90 seconds: each request has a timer of that length. */
  const waitsFor = async (ms: number) => {
    while (clock.waiting !== 1 || clock.nextInMs !== ms) await setImmediate()
  }
  return { clock, outbound, sink, stored, waitsFor, signal: new AbortController().signal }
}

/** An HTTP server on localhost that keeps the headers of its requests. */
export async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: { url: string; authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', authorization: request.headers.authorization })
    answer(request, response)
  })
  server.listen(0, 'localhost')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const host = `localhost:${(server.address() as AddressInfo).port}`
  return { requests, host, url: `http://${host}` }
}
