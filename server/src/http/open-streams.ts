import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { limits } from '@baton/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from './errors.ts'
import type { EventStream } from './event-stream.ts'
import { rateLimited } from './rate-limit.ts'

/** A client that does not read the end is disconnected after this. */
const graceMs = 500

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Without it nginx buffers events.
  'x-accel-buffering': 'no',
}

export const isStream = (reply: FastifyReply) => reply.getHeader('content-type') === headers['content-type']

/** The open event streams of this process. They do not delay its stop. */
export class OpenStreams {
  readonly #open = new Map<ServerResponse, { stream: EventStream; callerId: string }>()
  #stopping = false

  send(request: FastifyRequest, reply: FastifyReply, stream: EventStream) {
    if (this.#stopping) throw new ApiError('NOT_READY')
    const response = reply.raw
    const callerId = request.caller.kind === 'anonymous' ? '' : request.caller.id
    const ofCaller = [...this.#open.values()].filter((open) => open.callerId === callerId)
    if (ofCaller.length >= limits.streamsPerPerson) {
      throw rateLimited('streams', limits.heartbeatSeconds * 1000)
    }
    reply.headers(headers)
    // HEAD has no body, and a closed connection needs none.
    if (request.method === 'HEAD' || response.destroyed) return reply.send(Readable.from([]))
    this.#open.set(response, { stream, callerId })
    response.once('close', () => {
      this.#open.delete(response)
      stream.destroy()
    })
    stream.begin()
    return reply.send(stream)
  }

  end() {
    this.#stopping = true
    for (const { stream } of this.#open.values()) stream.end()
    setTimeout(() => {
      for (const response of this.#open.keys()) response.destroy()
    }, graceMs)
  }
}
