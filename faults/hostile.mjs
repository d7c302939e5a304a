// Hostile receivers, each on its own port.
import { once } from 'node:events'
import { createServer } from 'node:net'

const ok = 'HTTP/1.1 200 OK\r\n'

/** Called with the connection when the first bytes of a request arrive. */
const behaviours = {
  'never answers': () => {},
  'a byte a second': (socket) => {
    socket.write(`${ok}content-length: 1000000\r\n\r\n`)
    every(socket, 1000, () => socket.write('x'))
  },
  'headers by the byte': (socket) => every(socket, 1000, () => socket.write('H')),
  'endless body': (socket) => {
    socket.write(`${ok}transfer-encoding: chunked\r\n\r\n`)
    writeEndlessly(socket, `10000\r\n${'x'.repeat(0x10000)}\r\n`)
  },
  'redirects to itself': (socket, port) =>
    socket.write(`HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${port}/\r\ncontent-length: 0\r\n\r\n`),
  'endless headers': (socket) => {
    socket.write(ok)
    writeEndlessly(socket, `x-more: ${'x'.repeat(8000)}\r\n`)
  },
  'resets half-way': (socket) => {
    socket.write(`${ok}content-length: 1000\r\n\r\nhalf`)
    setTimeout(() => socket.resetAndDestroy(), 20)
  },
  'resets at once': (socket) => socket.resetAndDestroy(),
  garbage: (socket) => socket.end('\x16\x03\x01 what is this\r\n\r\n'),
  'a thousand interim answers': (socket) => writeEndlessly(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
}
/** Registered as https, but they do not speak TLS. */
const withoutTls = { 'garbage for TLS': (socket) => socket.write('SSH-2.0-nothing\r\n'), 'silence for TLS': () => {} }

export class Hostiles {
  connections = 0
  #servers = []

  async start() {
    const urls = []
    for (const [scheme, list] of [
      ['http', behaviours],
      ['https', withoutTls],
    ]) {
      for (const behave of Object.values(list)) urls.push(`${scheme}://127.0.0.1:${await this.#listen(behave)}/`)
    }
    return urls
  }

  async #listen(behave) {
    const server = createServer((socket) => {
      this.connections++
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.resume()
        behave(socket, socket.localPort)
      })
    })
    this.#servers.push(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return server.address().port
  }

  stop() {
    for (const server of this.#servers) server.close()
  }
}

function every(socket, ms, work) {
  const timer = setInterval(work, ms)
  socket.once('close', () => clearInterval(timer))
}

/** Writes as fast as the client reads. */
function writeEndlessly(socket, bytes) {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  }
  socket.on('drain', more)
  more()
}
