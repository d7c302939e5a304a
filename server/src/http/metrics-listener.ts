import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Logger } from '../log.ts'
import { type Metrics, metricsType } from './metrics.ts'

/** Serves `/metrics` at an address of its own, which the network of users need not reach. Returns how to stop it. */
export async function listenForMetrics(
  metrics: Metrics,
  { host, port }: { host: string; port: number },
  log: Logger,
): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    answer(metrics, request, response).catch((error: Error) => {
      log.error({ message: error.message }, 'could not serve the metrics')
      response.writeHead(500).end()
    })
  })
  server.requestTimeout = 10_000
  server.headersTimeout = 10_000
  await once(server.listen({ host, port }), 'listening')
  return async () => {
    server.close()
    server.closeAllConnections()
  }
}

async function answer(metrics: Metrics, request: IncomingMessage, response: ServerResponse) {
  request.resume()
  const isKnown = request.url?.split('?')[0] === '/metrics' && ['GET', 'HEAD'].includes(request.method ?? '')
  if (!isKnown) return void response.writeHead(404).end()
  const text = await metrics.text()
  response.writeHead(200, { 'content-type': metricsType, 'x-content-type-options': 'nosniff' })
  response.end(request.method === 'HEAD' ? undefined : text)
}
