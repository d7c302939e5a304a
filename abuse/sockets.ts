import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection that says what it is told to say, when it is told to. */
export class Line {
  readonly socket: Socket
  heard = ''
  bytesHeard = 0
  closed = false
  readonly #closing: Promise<unknown>

  /** One that does not read takes nothing from its socket. */
  constructor(rootUrl: string, { reads = true } = {}) {
    this.socket = connect(Number(new URL(rootUrl).port), '127.0.0.1')
    this.socket.on('error', () => {})
    this.#closing = once(this.socket, 'close').then(() => {
      this.closed = true
    })
    if (!reads) return
    this.socket.on('data', (data) => {
      this.bytesHeard += data.length
      if (this.heard.length < 1_000_000) this.heard += data.toString('latin1')
    })
  }

  say(bytes: string | Buffer) {
    if (!this.closed) this.socket.write(bytes)
  }

  /** What it heard until the other side closed, or until nobody wants to wait any longer. */
  async ending(withinMs: number): Promise<string> {
    let timer: NodeJS.Timeout | undefined
    await Promise.race([this.#closing, new Promise((resolve) => (timer = setTimeout(resolve, withinMs)))])
    clearTimeout(timer)
    return this.heard
  }

  hangUp() {
    this.socket.destroy()
  }
}

/** A request line and headers; a Host is added, and Connection: close. */
export const head = (line: string, ...headers: string[]) =>
  `${[line, 'Host: localhost', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`
