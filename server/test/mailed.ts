import { expect } from 'vitest'
import { test as base, TestApp, type TestPerson } from './harness.ts'
import { linkIn, SmtpServer } from './smtp.ts'

/** `app` sends its mails to `mailServer`; both are shared by the tests of a file. */
export const test = base.extend<{ mailServer: SmtpServer; app: TestApp }>({
  mailServer: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
    async ({}, use) => {
      const server = await SmtpServer.start()
      await use(server)
      await server.stop()
    },
    { scope: 'file' },
  ],
  app: [
    async ({ mailServer }, use) => {
      const app = await TestApp.start(mailServer.env)
      await use(app)
      await app.stop()
    },
    { scope: 'file' },
  ],
})

/** Sends all mails that are due. Returns those to the address, the oldest first. */
export async function mailsTo(app: TestApp, server: SmtpServer, address: string) {
  await app.sendMails()
  return server.mails.filter(({ to }) => to.includes(address))
}

/** The token in the newest mail to the address, of the link whose path begins with `path`. */
export async function tokenFor(app: TestApp, server: SmtpServer, address: string, path: string): Promise<string> {
  // Others that are due at the same time, such as about a changed password, may come after it.
  const mail = (await mailsTo(app, server, address)).findLast(({ parsed }) => parsed.text?.includes(`${path}#`))
  if (!mail) throw new Error(`no mail to ${address} with a link to ${path}`)
  return tokenOf(linkIn(mail, path))
}

export const tokenOf = (link: string) => new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? ''

export const subjectsOf = (mails: { parsed: { subject?: string | undefined } }[]) =>
  mails.map(({ parsed }) => parsed.subject)

/** Signs in, and returns the status. */
export const signInStatus = async (app: TestApp, email: string, password: string) =>
  (await app.anonymous.post('/auth/sign-in', { email, password })).status

/** A second login of the person, as a client. */
export async function secondLogin(app: TestApp, { user, password }: TestPerson, headers: Record<string, string> = {}) {
  const { status, body } = await app.anonymous.post('/auth/sign-in', { email: user.email, password }, { headers })
  expect(status).toBe(200)
  return Object.assign(app.anonymous.with({ authorization: `Bearer ${body.token}` }), { token: body.token as string })
}
