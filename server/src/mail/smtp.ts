import { Readable } from 'node:stream'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { MailConfig } from '../config.ts'
import type { Outcome } from './outcome.ts'

/** Together shorter than a claim, so that no other worker takes a mail that is being sent. */
const timeouts = { connectionTimeout: 15_000, greetingTimeout: 15_000, dnsTimeout: 10_000, socketTimeout: 60_000 }
const sessionMs = 100_000
const timedOut = { code: 'ETIMEDOUT' }

export interface Message {
  from: string
  to: string
  raw: Buffer
}

/** What nodemailer adds to an error. */
interface SmtpError extends Error {
  code?: string
  command?: string
  responseCode?: number
}

/** Sends one mail over its own connection. Never throws. */
export async function sendMail(server: MailConfig, ca: string | undefined, message: Message): Promise<Outcome> {
  const { host, port, security, login } = server
  const connection = new SMTPConnection({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'plain',
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
    maxResponseSize: 64 * 1024,
    ...timeouts,
  })
  let dataBegun = false
  let deadline: NodeJS.Timeout | undefined
  const failed = new Promise<never>((_, reject) => {
    connection.on('error', reject)
    connection.once('end', () => reject(new Error('the connection was closed')))
    deadline = setTimeout(() => reject(Object.assign(new Error('the session took too long'), timedOut)), sessionMs)
  })
  failed.catch(() => {})
  try {
    await step(failed, (done) => connection.connect(done))
    if (login) await step(failed, (done) => connection.login({ user: login.user, pass: login.password }, done))
    // The body is read only after the server accepted DATA.
    const body = Readable.from(
      (function* () {
        dataBegun = true
        yield message.raw
      })(),
    )
    await step(failed, (done) => connection.send({ from: message.from, to: [message.to] }, body, done))
    connection.quit()
    return { kind: 'sent' }
  } catch (error) {
    connection.close()
    return outcomeOf(error as SmtpError, dataBegun, host)
  } finally {
    clearTimeout(deadline)
  }
}

const step = (failed: Promise<never>, run: (done: (error?: Error | null) => void) => void) =>
  Promise.race([failed, new Promise<void>((resolve, reject) => run((error) => (error ? reject(error) : resolve())))])

/** Codes with which a server says that it has no mailbox for the address. */
const noMailbox = [550, 551, 553]

function outcomeOf(error: SmtpError, dataBegun: boolean, host: string): Outcome {
  const { code, command = '', responseCode: status } = error
  if (status !== undefined && (command === 'RCPT TO' || command === 'DATA')) {
    return {
      kind: 'refused',
      permanent: status >= 500,
      badAddress: command === 'RCPT TO' && noMailbox.includes(status),
      problem: `The mail server answered ${status} to ${command}.`,
    }
  }
  // The address itself cannot be used, for example because the server does not support its characters.
  if (code === 'EENVELOPE' && status === undefined)
    return { kind: 'refused', permanent: true, badAddress: true, problem: 'The mail server cannot use this address.' }
  if (dataBegun) return { kind: 'uncertain', problem: 'The connection was lost while the mail was being sent.' }
  return { kind: 'unavailable', reason: reasonOf(error, host) }
}

/** Without the server's words for a refused login, which could repeat the login. */
function reasonOf({ code, command = '', message, responseCode: status }: SmtpError, host: string): string {
  const answer = status === undefined ? '' : ` It answered ${status}.`
  if (code === 'EAUTH') return `${host} refused the user or password of the mail settings.${answer}`
  if (command === 'MAIL FROM') return `${host} refused the sender in BATON_MAIL_FROM.${answer}`
  if (code === 'ETLS' && command === 'STARTTLS' && status !== undefined)
    return `${host} does not offer STARTTLS, which is required.`
  if (code === 'ETIMEDOUT') return `${host} did not answer in time.`
  const cause = status === undefined ? `: ${plain(message)}` : `.${answer}`
  return code === 'ETLS' || /certificate|altname|\bSSL\b|\bTLS\b/i.test(message)
    ? `The TLS connection to ${host} failed${cause}`
    : `The connection to ${host} failed${cause}`
}

const plain = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 200)
