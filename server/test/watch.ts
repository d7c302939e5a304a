import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import type { TestPerson } from './harness.ts'

/** An event, or a comment line, which browsers ignore. */
export type Heard = { event: string; data: unknown; id?: string } | { comment: string }

export interface WatchOptions {
  path?: string
  headers?: Record<string, string>
  rootUrl?: string
}

/** Reads server-sent events over a real socket as they come. */
export class Watch {
  readonly #response: IncomingMessage
  readonly #heard: Heard[] = []
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

  /** As this person, in their workspace. */
  static as(person: TestPerson, options: WatchOptions = {}) {
    const headers = { authorization: `Bearer ${person.token}`, 'x-workspace-id': person.workspaceId }
    return Watch.open({ rootUrl: person.rootUrl, ...options, headers: { ...headers, ...options.headers } })
  }

  /** Open until the test ends. Resolves after the first event, if there is any. */
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

  /** Resumes reading. */
  goOn() {
    this.#response.resume()
  }

  /** The next event; undefined at the end. */
  async next(): Promise<Heard | undefined> {
    while (this.#heard.length === 0 && !this.end) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#heard.shift()
  }

  /** The next `count` events. */
  async take(count: number) {
    const heard: (Heard | undefined)[] = []
    while (heard.length < count) heard.push(await this.next())
    return heard
  }

  close() {
    this.#response.destroy()
  }

  #parse(text: string) {
    this.#text += text
    const blocks = this.#text.split('\n\n')
    this.#text = blocks.pop() ?? ''
    for (const block of blocks) this.#heard.push(heardIn(block))
    this.#wake()
  }
}

function heardIn(block: string): Heard {
  if (block.startsWith(':')) return { comment: block.slice(1) }
  const fields = Object.fromEntries(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  )
  return {
    event: fields.event ?? 'message',
    data: JSON.parse(fields.data ?? 'null'),
    ...('id' in fields ? { id: fields.id } : {}),
  } as Heard
}

export const ready: Heard = { event: 'ready', data: {}, id: 'ready' }
export const resync: Heard = { event: 'resync', data: {} }
export const beat: Heard = { comment: '' }
export const change = (type: string, id: string, action: string, parent_id: string | null = null): Heard => ({
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
