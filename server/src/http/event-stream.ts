import { Readable } from 'node:stream'
import { limits } from '@baton/protocol'

/**
 * Server-sent events, as the result of a handler. `begin` is called when the response starts, and returns a function
 * that is called when the stream ends, for any reason.
 */
export class EventStream extends Readable {
  readonly #begin: (stream: EventStream) => () => void
  readonly #unreadBytes: number
  #onEnd: (() => void) | undefined
  #ended = false
  #makeRoom = () => {}

  constructor(begin: (stream: EventStream) => () => void, unreadBytes: number = limits.unreadStreamBytes) {
    super({ read: () => this.#makeRoom() })
    this.#begin = begin
    this.#unreadBytes = unreadBytes
  }

  begin() {
    this.#onEnd = this.#begin(this)
    if (this.destroyed) this.#finish()
  }

  /** A browser sends the last `id` as Last-Event-ID when it reconnects. */
  event(name: string, data: unknown, id?: string) {
    this.#write(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** Whether the stream has ended: further events are dropped. */
  get over() {
    return this.#ended || this.destroyed
  }

  /**
   * Resolves when the reader has caught up or the stream has ended; await it between many events. Resolves with whether
   * it had to wait.
   */
  async drained(): Promise<boolean> {
    let waited = false
    while (this.readableLength >= this.readableHighWaterMark && !this.over) {
      await new Promise<void>((resolve) => {
        this.#makeRoom = resolve
      })
      waited = true
    }
    return waited
  }

  /** A comment line, so that proxies do not close the connection as idle. */
  heartbeat() {
    this.#write(':\n\n')
  }

  /** Browsers then reconnect, possibly to another process. */
  end() {
    if (this.#ended) return
    this.#ended = true
    this.#finish()
    // Paused: the reader is behind, and the end would wait for the unread data.
    if (this.readableFlowing === false) this.destroy()
    else this.push(null)
  }

  #write(text: string) {
    if (this.over) return
    // Limits the memory of a reader that does not read; it can reconnect and read the current state.
    if (this.readableLength + Buffer.byteLength(text) > this.#unreadBytes) this.destroy()
    else this.push(text)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void) {
    this.#finish()
    done(error)
  }

  #finish() {
    this.#makeRoom()
    this.#onEnd?.()
    this.#onEnd = undefined
  }
}
