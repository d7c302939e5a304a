import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A TCP connection that sends bytes unchanged. */
export class RawConnection {
  readonly socket: Socket
  received = ''
  bytesReceived = 0
  closed = false
  readonly #closing: Promise<unknown>

  /** Without `reads`, received bytes stay in the socket. */
  constructor(rootUrl: string, { reads = true } = {}) {
    this.socket = connect(Number(new URL(rootUrl).port), '127.0.0.1')
    this.socket.on('error', () => {})
    this.#closing = once(this.socket, 'close').then(() => {
      this.closed = true
    })
    if (!reads) return
    this.socket.on('data', (data) => {
      this.bytesReceived += data.length
      if (this.received.length < 1_000_000) this.received += data.toString('latin1')
    })
  }

  send(bytes: string | Buffer) {
    if (!this.closed) this.socket.write(bytes)
  }

  /** Everything received until the other side closed, or until the timeout. */
  async untilClosed(withinMs: number): Promise<string> {
    let timer: NodeJS.Timeout | undefined
    await Promise.race([this.#closing, new Promise((resolve) => (timer = setTimeout(resolve, withinMs)))])
    clearTimeout(timer)
    return this.received
  }

  close() {
    this.socket.destroy()
  }
}

/** A request line and headers; a Host is added, and Connection: close. */
export const head = (line: string, ...headers: string[]) =>
  `${[line, 'Host: localhost', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`
