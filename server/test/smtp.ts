import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import type { Certificate } from './certificates.ts'

/** How the server answers at one step: a status such as 451, or `die`: it drops the connection without an answer. */
type Answer = number | 'die'

/** A mail that the server took. */
export interface TakenMail {
  from: string
  to: string[]
  raw: string
  parsed: ParsedMail
}

/** A mail server on a real port of this machine. By default it takes every mail. */
export class SmtpServer {
  /** Mails in the order in which they were taken. */
  readonly mails: TakenMail[] = []
  /** Steps that clients reached: `connect`, `auth ada`, `mail`, `rcpt ada@example.com`, `data`. */
  readonly steps: string[] = []
  /** Answers to refuse with. A function is called with the address of the step, and returns undefined to accept. */
  onMail: (address: string) => Answer | undefined = () => undefined
  onRcpt: (address: string) => Answer | undefined = () => undefined
  /** After the whole message; with `die` it was taken, but the client does not learn it. */
  onData: () => Answer | undefined = () => undefined
  readonly #server: SMTPServer
  readonly #sockets = new Map<string, Socket>()

  private constructor({ certificate, secure = false, login, ...options }: SmtpOptions) {
    this.#server = new SMTPServer({
      ...(certificate ?? {}),
      secure,
      authOptional: login === undefined,
      disabledCommands: [...(certificate ? [] : ['STARTTLS' as const]), ...(login ? [] : ['AUTH' as const])],
      allowInsecureAuth: true,
      logger: false,
      disableReverseLookup: true,
      closeTimeout: 100,
      ...options,
      onConnect: (_, done) => {
        this.steps.push('connect')
        done()
      },
      onAuth: ({ username, password }, _, done) => {
        this.steps.push(`auth ${username}`)
        if (username === login?.user && password === login?.password) done(null, { user: username })
        else done(refusal(535))
      },
      onMailFrom: ({ address }, session, done) => {
        this.steps.push('mail')
        this.#answer(session, this.onMail(address), done)
      },
      onRcptTo: ({ address }, session, done) => {
        this.steps.push(`rcpt ${address}`)
        this.#answer(session, this.onRcpt(address), done)
      },
      onData: (stream, session, done) => {
        this.steps.push('data')
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => void this.#take(session, Buffer.concat(chunks), done))
      },
    })
    this.#server.on('error', () => {})
    this.#server.server.on('connection', (socket: Socket) => {
      const name = `${socket.remoteAddress}:${socket.remotePort}`
      this.#sockets.set(name, socket)
      socket.once('close', () => this.#sockets.delete(name))
    })
  }

  static async start(options: SmtpOptions = {}): Promise<SmtpServer> {
    const server = new SmtpServer(options)
    await new Promise<void>((resolve, reject) => {
      server.#server.server.once('error', reject)
      server.#server.listen(options.port ?? 0, '127.0.0.1', () => resolve())
    })
    return server
  }

  get port() {
    return (this.#server.server.address() as AddressInfo).port
  }

  /** Settings for `startApp` with which a service sends through this server. */
  get env(): Record<string, string> {
    return { BATON_SMTP_URL: `smtp://127.0.0.1:${this.port}`, BATON_MAIL_FROM: 'Baton <baton@example.com>' }
  }

  /** The newest mail to an address. */
  to(address: string): TakenMail {
    const mail = this.mails.findLast(({ to }) => to.includes(address))
    if (!mail) throw new Error(`no mail to ${address}; the server took ${this.mails.map((one) => one.to).join(', ')}`)
    return mail
  }

  /** Waits for a mail to an address, sent by a worker that runs by itself, and removes it. */
  async arrived(address: string, subject = /./): Promise<TakenMail> {
    for (let tries = 0; tries < 500; tries++) {
      const index = this.mails.findIndex(({ to, parsed }) => to.includes(address) && subject.test(parsed.subject ?? ''))
      const [mail] = index < 0 ? [] : this.mails.splice(index, 1)
      if (mail) return mail
      await sleep(20)
    }
    throw new Error(`no mail to ${address} arrived`)
  }

  async stop() {
    for (const socket of this.#sockets.values()) socket.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #take(session: SMTPServerSession, raw: Buffer, done: Done) {
    const answer = this.onData()
    if (typeof answer !== 'number') {
      const { mailFrom, rcptTo } = session.envelope
      this.mails.push({
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map(({ address }) => address),
        raw: raw.toString(),
        parsed: await simpleParser(raw),
      })
    }
    this.#answer(session, answer, done)
  }

  #answer(session: SMTPServerSession, answer: Answer | undefined, done: Done) {
    if (answer === undefined) done()
    else if (answer === 'die') this.#sockets.get(`${session.remoteAddress}:${session.remotePort}`)?.destroy()
    else done(refusal(answer))
  }
}

interface SmtpOptions extends Partial<Pick<SMTPServerOptions, 'hideSTARTTLS'>> {
  /** Default: a free one. */
  port?: number
  /** Offers STARTTLS, or with `secure` TLS from the first byte. */
  certificate?: Certificate
  secure?: boolean
  login?: { user: string; password: string }
}

type Done = (error?: Error | null) => void

const refusal = (status: number) => Object.assign(new Error(`refused with ${status}`), { responseCode: status })

/** The link in a mail whose path begins with `path`. */
export function linkIn({ parsed }: TakenMail, path: string): string {
  const link = parsed.text?.match(/https?:\/\/\S+/g)?.find((url) => new URL(url).pathname.startsWith(path))
  if (!link) throw new Error(`no link to ${path} in: ${parsed.text}`)
  return link
}
