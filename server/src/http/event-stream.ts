import { Readable } from 'node:stream'
import { limits } from '@baton/protocol'

/**
 * Server-sent events, as the answer of a handler. `begin` is called once somebody is there to read them, and returns
 * what is to be done when the stream is over, for whatever reason.
 */
export class EventStream extends Readable {
  readonly #begin: (stream: EventStream) => () => void
  readonly #unreadBytes: number
  #over: (() => void) | undefined
  #ended = false
  #makeRoom = () => {}

  constructor(begin: (stream: EventStream) => () => void, unreadBytes: number = limits.unreadStreamBytes) {
    super({ read: () => this.#makeRoom() })
    this.#begin = begin
    this.#unreadBytes = unreadBytes
  }

  begin() {
    this.#over = this.#begin(this)
    if (this.destroyed) this.#finish()
  }

  /** `id` is what a browser sends as Last-Event-ID when it comes back. */
  event(name: string, data: unknown, id?: string) {
    this.#write(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** Nobody reads what is sent from now on. */
  get over() {
    return this.#ended || this.destroyed
  }

  /** Resolves when its reader has caught up, or is gone: for whoever has much to send that can wait. */
  async room(): Promise<void> {
    while (this.readableLength >= this.readableHighWaterMark && !this.over) {
      await new Promise<void>((resolve) => {
        this.#makeRoom = resolve
      })
    }
  }

  /** A line that means nothing, so that nobody on the way takes the connection for dead. */
  heartbeat() {
    this.#write(':\n\n')
  }

  /** Browsers come back by themselves, maybe to another process. */
  end() {
    if (this.#ended) return
    this.#ended = true
    this.#finish()
    // Paused: its reader has not kept up, and the end would wait behind what is unread.
    if (this.readableFlowing === false) this.destroy()
    else this.push(null)
  }

  #write(text: string) {
    if (this.over) return
    // Whoever does not read would have us keep everything; cut off, they come back and read what matters to them.
    if (this.readableLength + Buffer.byteLength(text) > this.#unreadBytes) this.destroy()
    else this.push(text)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void) {
    this.#finish()
    done(error)
  }

  #finish() {
    this.#makeRoom()
    this.#over?.()
    this.#over = undefined
  }
}
