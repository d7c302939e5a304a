// A mail server that keeps a ledger of what it took.
import { once } from 'node:events'
import { SMTPServer } from 'smtp-server'

/** Slow enough that a kill often meets mails that are being sent. */
const answerMs = 300

export class MailServer {
  /** Address → Message-IDs of the mails that were taken for it, in order. */
  ledger = new Map()
  #server
  #port = 0
  #sockets = new Set()

  get port() {
    return this.#port
  }

  /** Listens on the same port each time. */
  async start() {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      onData: (stream, session, done) => {
        let text = ''
        stream.on('data', (chunk) => {
          text += chunk
        })
        stream.on('end', () => {
          const [, id] = /^Message-ID: *(<[^>]+>)/im.exec(text) ?? []
          for (const { address } of session.envelope.rcptTo)
            this.ledger.set(address, [...(this.ledger.get(address) ?? []), id])
          setTimeout(done, answerMs)
        })
      },
    })
    this.#server.on('error', () => {})
    this.#server.server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server.server, 'listening')
    this.#port = this.#server.server.address().port
  }

  async stop() {
    const closed = new Promise((resolve) => {
      this.#server.close(resolve)
    })
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }
}
