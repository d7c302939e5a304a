import { describe, expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { queue, storedMails } from '../../test/mail.ts'
import { days, plus } from '../clock.ts'
import { Keyring } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'
import { resealMails } from './queue.ts'

describe('managers', () => {
  test(
    'read the state of mail and send a test to their own address',
    verifies('mail.status-and-test'),
    async ({ startApp, smtp }) => {
      const app = await startApp(smtp.env)
      const { owner, admin, member } = await app.workspace()
      for (const manager of [owner, admin]) {
        expect((await manager.get('/mail/status')).body).toEqual({
          state: 'ok',
          reason: null,
          queued: 0,
          failed_24h: 0,
        })
        expect(await manager.post('/mail/test')).toMatchObject({ status: 202 })
        expect((await manager.get('/mail/status')).body).toMatchObject({ queued: 1 })
        await app.sendMails()
        expect((await manager.get('/mail/status')).body).toMatchObject({ queued: 0 })
        expect(smtp.mails.splice(0).map((mail) => [mail.to, mail.parsed.subject])).toEqual([
          [[manager.user.email], 'Test mail from Baton'],
        ])
      }
      for (const refused of [() => member.get('/mail/status'), () => member.post('/mail/test')])
        expect(await app.unchanged(refused)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    },
  )

  test('send five tests in any hour', verifies('mail.status-and-test'), async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { owner, admin } = await app.workspace()
    for (let test = 0; test < 5; test++) {
      expect((await owner.post('/mail/test')).status).toBe(202)
      app.clock.advance({ minutes: 10 })
    }
    const refused = await app.unchanged(() => owner.post('/mail/test'))
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('600')
    expect((await admin.post('/mail/test')).status).toBe(202)
    app.clock.advance({ minutes: 10 })
    expect((await owner.post('/mail/test')).status).toBe(202)
    expect((await app.unchanged(() => owner.post('/mail/test'))).status).toBe(429)
  })
})

test('without SMTP nothing is queued and screens can tell', verifies('mail.not-configured'), async ({ app }) => {
  const { owner } = await app.workspace()
  expect((await app.anonymous.get('/instance')).body.mail).toBe(false)
  expect((await owner.get('/mail/status')).body).toEqual({ state: 'off', reason: null, queued: 0, failed_24h: 0 })
  expect(await app.unchanged(() => owner.post('/mail/test'))).toMatchObject({
    status: 409,
    body: { code: 'MAIL_NOT_CONFIGURED' },
  })
  const reset = { email: owner.user.email }
  expect(await app.unchanged(() => app.anonymous.post('/auth/password-reset', reset))).toMatchObject({
    status: 409,
    body: { code: 'MAIL_NOT_CONFIGURED' },
  })
  const created = await owner.post('/workspaces/me/invitations', { email: 'new@example.com', role: 'member' })
  expect(created).toMatchObject({ status: 201, body: { invitation: { mail: 'none' } } })
  expect(Buffer.from(created.body.token, 'base64url')).toHaveLength(32)
  const send = `/workspaces/me/invitations/${created.body.invitation.id}/send`
  expect(await app.unchanged(() => owner.post(send))).toMatchObject({
    status: 409,
    body: { code: 'MAIL_NOT_CONFIGURED' },
  })
  expect(await storedMails(app)).toEqual([])
})

test('with SMTP the instance says so', verifies('mail.not-configured'), async ({ startApp, smtp }) => {
  const app = await startApp(smtp.env)
  expect((await app.anonymous.get('/instance')).body.mail).toBe(true)
})

test('mails are deleted after 30 days', async ({ startApp, smtp }) => {
  const app = await startApp(smtp.env)
  await queue(app, { address: 'ada@example.com' })
  await app.sendMails()
  await queue(app, { address: 'later@example.com', dueAt: plus(app.clock.now(), days(40)) })
  app.clock.advance({ days: 30, milliseconds: -1 })
  await sweep(app.ctx)
  expect(await storedMails(app)).toHaveLength(2)
  app.clock.advance({ milliseconds: 1 })
  await sweep(app.ctx)
  expect(await storedMails(app)).toEqual([])
})

test('the secret of an expired link is erased although no worker runs', async ({ startApp, smtp }) => {
  const app = await startApp(smtp.env)
  await queue(app, { address: 'ada@example.com', secret: 'token', expiresAt: plus(app.clock.now(), days(1)) })
  app.clock.advance({ days: 1, milliseconds: -1 })
  await sweep(app.ctx)
  expect(await storedMails(app)).toMatchObject([{ state: 'pending', secret: expect.any(String) }])
  app.clock.advance({ milliseconds: 1 })
  await sweep(app.ctx)
  expect(await storedMails(app)).toMatchObject([{ state: 'canceled', secret: null }])
})

test('secrets are sealed again with the current key', async ({ startApp, smtp }) => {
  const app = await startApp(smtp.env)
  const [old, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const id = (await queue(app, { address: 'ada@example.com' })) as string
  await app.ctx.db.run(sql`update mails set secret = ${new Keyring(old).seal('token', id)} where id = ${id}`)
  await resealMails(app.ctx.db, new Keyring(current, [old]))
  const [mail] = await storedMails(app)
  expect(new Keyring(current).open(mail?.secret ?? '', id)).toBe('token')
})
