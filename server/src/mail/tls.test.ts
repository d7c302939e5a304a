import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type Certificate, TestAuthority } from '../../test/certificates.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { queue, storedMails } from '../../test/mail.ts'
import { SmtpServer } from '../../test/smtp.ts'
import { createMailWorker } from '../mails.ts'

let authority: TestAuthority
beforeAll(() => {
  authority = new TestAuthority()
})
afterAll(() => authority.remove())

const login = { user: 'baton', password: 'pass-word-1' }
const settings = {
  BATON_MAIL_FROM: 'Baton <baton@example.com>',
  BATON_SMTP_USER: login.user,
  BATON_SMTP_PASSWORD: login.password,
}
/** Reaches this machine, but is not a loopback address. */
const notLoopback = '0.0.0.0'

async function attempt(app: TestApp) {
  await queue(app, { address: 'ada@example.com' })
  await createMailWorker(app.ctx, undefined, authority.ca).drain()
  const { owner } = await app.workspace()
  return (await owner.get('/mail/status')).body
}

const onlyConnects = (smtp: SmtpServer) => {
  expect(new Set(smtp.steps).size).toBeLessThanOrEqual(1)
  expect(smtp.steps.filter((step) => step !== 'connect')).toEqual([])
  expect(smtp.mails).toEqual([])
}

test(
  'a server without STARTTLS gets no login and no mail, unless it is on this machine',
  verifies('mail.starttls-required'),
  async ({ startApp }) => {
    const smtp = await SmtpServer.start({ login })
    try {
      const app = await startApp({ ...settings, BATON_SMTP_URL: `smtp://${notLoopback}:${smtp.port}` })
      expect(await attempt(app)).toMatchObject({
        state: 'paused',
        reason: `${notLoopback} does not offer STARTTLS, which is required.`,
        queued: 1,
      })
      onlyConnects(smtp)
      expect(await storedMails(app)).toMatchObject([{ state: 'pending', attempts: 0 }])

      const local = await startApp({ ...settings, BATON_SMTP_URL: `smtp://127.0.0.1:${smtp.port}` })
      expect(await attempt(local)).toMatchObject({ state: 'ok', queued: 0 })
      expect(smtp.steps).toContain('auth baton')
      expect(smtp.mails).toHaveLength(1)
    } finally {
      await smtp.stop()
    }
  },
)

describe('the certificate of the server', () => {
  const refused: [what: string, certificate: () => Certificate, reason: RegExp][] = [
    ['expired', () => authority.issue(`IP:${notLoopback}`, -1), /certificate has expired/],
    ['self-signed', () => authority.selfSigned(`IP:${notLoopback}`), /self-signed certificate/],
    ['of another host', () => authority.issue('DNS:other.example'), /does not match certificate/],
  ]
  for (const secure of [false, true]) {
    for (const [what, certificate, reason] of refused) {
      test(
        `${what} is refused with ${secure ? 'TLS' : 'STARTTLS'}`,
        verifies('mail.tls-certificate-checked', 'mail.server-trouble-pauses'),
        async ({ startApp }) => {
          const smtp = await SmtpServer.start({ login, certificate: certificate(), secure })
          try {
            const scheme = secure ? 'smtps' : 'smtp'
            const app = await startApp({ ...settings, BATON_SMTP_URL: `${scheme}://${notLoopback}:${smtp.port}` })
            const status = await attempt(app)
            expect(status).toMatchObject({ state: 'paused', queued: 1 })
            expect(status.reason).toMatch(/^The TLS connection to 0\.0\.0\.0 failed: /)
            expect(status.reason).toMatch(reason)
            onlyConnects(smtp)
            expect(await storedMails(app)).toMatchObject([{ state: 'pending', attempts: 0 }])
          } finally {
            await smtp.stop()
          }
        },
      )
    }

    test(`that is valid is accepted with ${secure ? 'TLS' : 'STARTTLS'}`, async ({ startApp }) => {
      const smtp = await SmtpServer.start({ login, certificate: authority.issue(`IP:${notLoopback}`), secure })
      try {
        const scheme = secure ? 'smtps' : 'smtp'
        const app = await startApp({ ...settings, BATON_SMTP_URL: `${scheme}://${notLoopback}:${smtp.port}` })
        expect(await attempt(app)).toMatchObject({ state: 'ok', queued: 0 })
        expect(smtp.mails).toHaveLength(1)
      } finally {
        await smtp.stop()
      }
    })
  }
})
