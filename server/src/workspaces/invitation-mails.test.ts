import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { queue, storedMails } from '../../test/mail.ts'
import { linkIn, type SmtpServer } from '../../test/smtp.ts'

const email = 'grace@example.com'
const invitations = '/workspaces/me/invitations'

const tokenIn = (smtp: SmtpServer, address = email) =>
  new URLSearchParams(new URL(linkIn(smtp.to(address), '/invitations/accept')).hash.slice(1)).get('token') as string

const signUp = async (app: TestApp, as: string, invitation_token?: string) => {
  const { status, body } = await app.anonymous.post('/auth/sign-up', {
    email: as,
    password: 'correct horse',
    name: 'Grace',
    ...(invitation_token === undefined ? {} : { invitation_token }),
  })
  expect(status).toBe(201)
  return app.anonymous.with({ authorization: `Bearer ${body.token}` })
}
const isVerified = async (person: Awaited<ReturnType<typeof signUp>>) =>
  (await person.get('/auth/account')).body.email_verified

describe('inviting with SMTP', () => {
  test(
    'queues one mail to the invited address, and shows what became of it',
    verifies('mail.invitation-sent'),
    async ({ startApp, smtp }) => {
      const app = await startApp(smtp.env)
      const { admin } = await app.workspace('Acme & Sons')
      const { status, body } = await admin.post(invitations, { email: 'Grace@Example.com', role: 'admin' })
      expect(status).toBe(201)
      expect(body.invitation.mail).toBe('queued')
      const state = async () => (await admin.get(invitations)).body.data[0].mail
      expect(await state()).toBe('queued')
      await app.sendMails()
      expect(await state()).toBe('sent')
      expect(smtp.mails).toHaveLength(1)
      const { to, parsed } = smtp.to(email)
      expect(to).toEqual([email])
      expect(parsed.subject).toBe(`${admin.user.display_name} invited you to Acme & Sons`)
      expect(parsed.text).toContain('as an admin')

      const token = tokenIn(smtp)
      expect(token).not.toBe(body.token)
      expect((await app.anonymous.post('/invitations/preview', { token })).body).toMatchObject({ email, role: 'admin' })
      const grace = await signUp(app, email, token)
      expect(await grace.post('/invitations/accept', { token })).toMatchObject({ status: 200, body: { role: 'admin' } })
      expect((await grace.post('/invitations/accept', { token: body.token })).status).toBe(404)
    },
  )

  test('shows a mail that failed', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { owner } = await app.workspace()
    await owner.post(invitations, { email, role: 'member' })
    smtp.onRcpt = () => 550
    await app.sendMails()
    expect((await owner.get(invitations)).body.data).toMatchObject([{ mail: 'failed' }])
  })

  test('sends nothing for an invitation that was revoked or used meanwhile', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { owner } = await app.workspace()
    const { body: revoked } = await owner.post(invitations, { email, role: 'member' })
    await owner.delete(`${invitations}/${revoked.invitation.id}`)
    const { body: used } = await owner.post(invitations, { email: 'ada@example.com', role: 'member' })
    await (await app.person()).post('/invitations/accept', { token: used.token })
    await app.sendMails()
    expect(smtp.mails).toEqual([])
    expect((await storedMails(app)).map(({ state, secret }) => [state, secret])).toEqual([
      ['canceled', null],
      ['canceled', null],
    ])
  })

  test('mails 50 invitations of a workspace in any hour', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { owner } = await app.workspace()
    for (let count = 0; count < 50; count++) {
      expect((await owner.post(invitations, { email: `${count}@example.com`, role: 'member' })).status).toBe(201)
    }
    const refused = await app.unchanged(() => owner.post(invitations, { email, role: 'member' }))
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('3600')
    const other = await app.workspace()
    expect((await other.owner.post(invitations, { email, role: 'member' })).status).toBe(201)
    app.clock.advance({ hours: 1 })
    expect((await owner.post(invitations, { email, role: 'member' })).status).toBe(201)
  })
})

describe('sending again', () => {
  test('works three times a day', verifies('mail.invitation-sent'), async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { owner } = await app.workspace()
    const { body: created } = await owner.post(invitations, { email, role: 'member' })
    await app.sendMails()
    smtp.mails.length = 0
    const path = `${invitations}/${created.invitation.id}/send`
    for (let resend = 0; resend < 3; resend++) {
      app.clock.advance({ hours: 1 })
      expect(await owner.post(path)).toMatchObject({ status: 202, body: { id: created.invitation.id, mail: 'queued' } })
      await app.sendMails()
    }
    expect(smtp.mails.map((mail) => mail.to)).toEqual([[email], [email], [email]])
    app.clock.advance({ hours: 1 })
    const refused = await app.unchanged(() => owner.post(path))
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
    expect(refused.headers.get('retry-after')).toBe(String(21 * 3600))
    app.clock.advance({ hours: 21, milliseconds: -1 })
    expect((await app.unchanged(() => owner.post(path))).status).toBe(429)
    app.clock.advance({ milliseconds: 1 })
    expect((await owner.post(path)).status).toBe(202)
    expect((await app.unchanged(() => owner.post(path))).status).toBe(429)
  })

  test('sends a new link once, and the previous one stops working', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { owner } = await app.workspace()
    const { body: created } = await owner.post(invitations, { email, role: 'member' })
    const send = () => owner.post(`${invitations}/${created.invitation.id}/send`)
    await app.sendMails()
    const first = tokenIn(smtp)
    // The second replaces the first while it is queued.
    await send()
    await send()
    await app.sendMails()
    expect(smtp.mails).toHaveLength(2)
    const preview = async (token: string) => (await app.anonymous.post('/invitations/preview', { token })).status
    expect(await preview(first)).toBe(404)
    expect(await preview(tokenIn(smtp))).toBe(200)
    expect(await preview(created.token)).toBe(200)
  })

  test('finds only open invitations of the workspace, also without SMTP', async ({ app, startApp, smtp }) => {
    for (const instance of [app, await startApp(smtp.env)]) {
      const { owner, member } = await instance.workspace()
      const other = await instance.workspace()
      const { body: theirs } = await other.owner.post(invitations, { email, role: 'member' })
      const { body: expired } = await owner.post(invitations, { email: 'late@example.com', role: 'member' })
      const send = (id: string, as = owner) => instance.unchanged(() => as.post(`${invitations}/${id}/send`))
      expect(await send(theirs.invitation.id)).toMatchObject({ status: 404 })
      expect(await send('inv_00000000000000000000000001')).toMatchObject({ status: 404 })
      expect(await send(expired.invitation.id, member)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      instance.clock.advance({ days: 7 })
      expect(await send(expired.invitation.id)).toMatchObject({ status: 404 })
    }
  })
})

describe('signing up', () => {
  test(
    'with the token of the mail verifies the invited address, with that of the manager not',
    verifies('mail.invitation-own-token'),
    async ({ startApp, smtp }) => {
      const app = await startApp(smtp.env)
      const { owner } = await app.workspace()
      const invite = async (address: string) =>
        (await owner.post(invitations, { email: address, role: 'member' })).body.token as string
      await invite(email)
      const shown = await invite('ada@example.com')
      await invite('alan@example.com')
      await app.sendMails()
      expect(await isVerified(await signUp(app, 'Grace@example.com', tokenIn(smtp)))).toBe(true)
      expect(await isVerified(await signUp(app, 'ada@example.com', shown))).toBe(false)
      const mailed = tokenIn(smtp, 'alan@example.com')
      expect(await isVerified(await signUp(app, 'other@example.com', mailed))).toBe(false)
      expect(await isVerified(await signUp(app, 'another@example.com', 'unknown'))).toBe(false)
      expect(await isVerified(await signUp(app, 'alan@example.com'))).toBe(false)
    },
  )

  test('with the token of an expired invitation verifies nothing', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { owner } = await app.workspace()
    await owner.post(invitations, { email, role: 'member' })
    await app.sendMails()
    app.clock.advance({ days: 7 })
    expect(await isVerified(await signUp(app, email, tokenIn(smtp)))).toBe(false)
  })
})

test('a mail about another matter to the same address is not an invitation', async ({ startApp, smtp }) => {
  const app = await startApp(smtp.env)
  await queue(app, { kind: 'invitation', address: email, data: { invitation_id: 'inv_x' }, secret: 'x' })
  await app.sendMails()
  expect(smtp.mails).toEqual([])
  expect(await storedMails(app)).toMatchObject([{ state: 'canceled' }])
})
