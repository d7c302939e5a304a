import { setTimeout as sleep } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { Agent, type Dispatcher, fetch, type RequestInit, type Response } from 'undici'
import { host } from './proxy.ts'

/** Reaches the proxies as `baton.example`, and trusts the authority of the test. */
export const agentFrom = (localAddress: string, ca: string): Dispatcher =>
  new Agent({
    connections: 100,
    localAddress,
    connect: {
      ca,
      lookup: (name, { all }, done) => {
        if (name !== host) done(new Error(`unexpected name ${name}`), '')
        else if (all) done(null, [{ address: '127.0.0.1', family: 4 }])
        else done(null, '127.0.0.1', 4)
      },
    },
  })

/** Whether Baton answered, and not the proxy. */
export const isFromBaton = (response: Response) => response.headers.has('x-request-id')

/** A client at an address of its own. */
export class TestClient {
  readonly #dispatcher: Dispatcher

  constructor(address: string, ca: string) {
    this.#dispatcher = agentFrom(address, ca)
  }

  fetch(url: string, init: RequestInit = {}): Promise<Response> {
    return fetch(url, { redirect: 'manual', ...init, dispatcher: this.#dispatcher })
  }

  signIn(url: string, email: string, password: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch(`${url}/api/v1/auth/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ email, password }),
    })
  }

  /** Waits as the proxy demands until Baton has answered. */
  async patiently(call: () => Promise<Response>): Promise<Response> {
    for (;;) {
      const response = await call()
      if (response.status !== 429 || isFromBaton(response)) return response
      await sleep(Number(response.headers.get('retry-after')) * 1000)
    }
  }

  close() {
    return this.#dispatcher.destroy()
  }
}

/** What arrives on a stream of server-sent events: names of events, and `beat` for heartbeats. */
export class Stream {
  readonly #received: { name: string; data: string }[] = []
  #wake = () => {}
  #ended = false

  static async open(client: TestClient, url: string, headers: Record<string, string>): Promise<Stream> {
    const response = await client.fetch(`${url}/api/v1/live`, { headers })
    if (!response.ok || !response.body) throw new Error(`no stream: ${response.status} ${await response.text()}`)
    const stream = new Stream()
    void stream.#read(response.body)
    return stream
  }

  /** The next event or heartbeat. */
  async next(): Promise<{ name: string; data: string }> {
    while (this.#received.length === 0) {
      if (this.#ended) throw new Error('the stream ended')
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#received.shift() as { name: string; data: string }
  }

  /** The next event of this name. */
  async until(name: string) {
    for (;;) {
      const next = await this.next()
      if (next.name === name) return next
    }
  }

  async #read(body: AsyncIterable<Uint8Array>) {
    const keep = (name: string, data: string) => {
      this.#received.push({ name, data })
      this.#wake()
    }
    const parser = createParser({
      onEvent: ({ event = 'message', data }) => keep(event, data),
      onComment: () => keep('beat', ''),
    })
    const decoder = new TextDecoder()
    try {
      for await (const bytes of body) parser.feed(decoder.decode(bytes, { stream: true }))
    } catch {
      // Cut off, as at the end of the test.
    }
    this.#ended = true
    this.#wake()
  }
}
