import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import type { TestPerson } from './harness.ts'

/** An event, or a comment line, which browsers ignore. */
export type StreamEvent = { event: string; data: unknown; id?: string } | { comment: string }

export interface WatchOptions {
  path?: string
  headers?: Record<string, string>
  rootUrl?: string
}

/** Reads server-sent events over a real socket as they arrive. */
export class Watch {
  readonly #response: IncomingMessage
  readonly #received: StreamEvent[] = []
  #text = ''
  #wake = () => {}
  /** How the stream ended: complete or cut off. */
  end: 'whole' | 'cut' | undefined

  private constructor(response: IncomingMessage) {
    this.#response = response
    response.setEncoding('utf8')
    response.on('error', () => {})
    response.on('close', () => {
      this.end = response.complete ? 'whole' : 'cut'
      this.#wake()
    })
  }

  /** Opens a stream as this person, in their workspace. */
  static as(person: TestPerson, options: WatchOptions = {}) {
    const headers = { authorization: `Bearer ${person.token}`, 'x-workspace-id': person.workspaceId }
    return Watch.open({ rootUrl: person.rootUrl, ...options, headers: { ...headers, ...options.headers } })
  }

  /** Opens a stream until the test ends. Resolves when the response has started. */
  static async open({ rootUrl, path = '/live', headers = {} }: WatchOptions): Promise<Watch> {
    const asked = request(`${rootUrl}/api/v1${path}`, { headers, agent: false }).end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    const watch = new Watch(response)
    onTestFinished(() => watch.close())
    watch.read()
    return watch
  }

  get status() {
    return this.#response.statusCode
  }

  get headers() {
    return this.#response.headers
  }

  read() {
    this.#response.on('data', (text: string) => this.#parse(text))
  }

  /** Stops reading from the socket. */
  stopReading() {
    this.#response.pause()
  }

  resumeReading() {
    this.#response.resume()
  }

  /** The next event; undefined at the end. */
  async next(): Promise<StreamEvent | undefined> {
    while (this.#received.length === 0 && !this.end) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#received.shift()
  }

  /** The next `count` events. */
  async take(count: number) {
    const received: (StreamEvent | undefined)[] = []
    while (received.length < count) received.push(await this.next())
    return received
  }

  close() {
    this.#response.destroy()
  }

  #parse(text: string) {
    this.#text += text
    const blocks = this.#text.split('\n\n')
    this.#text = blocks.pop() ?? ''
    for (const block of blocks) this.#received.push(parseEvent(block))
    this.#wake()
  }
}

function parseEvent(block: string): StreamEvent {
  if (block.startsWith(':')) return { comment: block.slice(1) }
  const fields = Object.fromEntries(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  )
  return {
    event: fields.event ?? 'message',
    data: JSON.parse(fields.data ?? 'null'),
    ...('id' in fields ? { id: fields.id } : {}),
  } as StreamEvent
}

export const ready: StreamEvent = { event: 'ready', data: {}, id: 'ready' }
export const resync: StreamEvent = { event: 'resync', data: {} }
export const beat: StreamEvent = { comment: '' }
export const change = (type: string, id: string, action: string, parent_id: string | null = null): StreamEvent => ({
  event: 'change',
  data: { type, id, action, parent_id },
})
export const inboxOf = ({ user }: TestPerson) => change('Inbox', user.id, 'update')

export async function watching(person: TestPerson, options = {}) {
  const watch = await Watch.as(person, options)
  expect(await watch.next()).toEqual(ready)
  return watch
}

/** Causes a hint that every member gets: if it is the next event, there was none before it. */
export async function mark(person: TestPerson) {
  const issue = (await person.post('/issues', { title: 'Mark' })).body
  return change('Issue', issue.id, 'create')
}
