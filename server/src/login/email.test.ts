import { describe, expect } from 'vitest'
import { type TestApp, type TestPerson, test as unmailed, verifies } from '../../test/harness.ts'
import { mailsTo, secondLogin, signInStatus, subjectsOf, test, tokenFor } from '../../test/mailed.ts'
import { linkIn } from '../../test/smtp.ts'
import { sql } from '../db/sql.ts'
import { responsesSettled } from './after-response.ts'

let number = 0
const newAddress = () => `moved-${++number}@example.com`
const account = async (person: Pick<TestPerson, 'get'>) => (await person.get('/auth/account')).body
const confirm = (person: Pick<TestPerson, 'post'>, token: string) => person.post('/auth/email/confirm', { token })
const undo = (app: TestApp, token: string) => app.anonymous.post('/auth/email/undo', { token })

describe('verification', () => {
  test(
    'needs a login of the account that the link was created for',
    verifies('account.verify-needs-own-login'),
    async ({ app, mailServer }) => {
      const [ada, eve] = [await app.person(), await app.person()]
      expect(await account(ada)).toMatchObject({ email_verified: false })
      expect((await ada.post('/auth/email/verification')).status).toBe(202)
      const token = await tokenFor(app, mailServer, ada.user.email, '/verify-email')
      await app.unchanged(async () => {
        expect(await confirm(app.anonymous, token)).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
        expect(await confirm(eve, token)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
      })
      app.clock.advance({ hours: 23, minutes: 59 })
      expect((await confirm(ada, token)).status).toBe(204)
      expect(await account(ada)).toMatchObject({ email_verified: true })
      await app.unchanged(async () => expect((await confirm(ada, token)).status).toBe(404))
    },
  )

  test('expires after 24 hours, and its newest link alone is valid', async ({ app, mailServer }) => {
    const ada = await app.person()
    await ada.post('/auth/email/verification')
    const older = await tokenFor(app, mailServer, ada.user.email, '/verify-email')
    await ada.post('/auth/email/verification')
    const newer = await tokenFor(app, mailServer, ada.user.email, '/verify-email')
    await app.unchanged(async () => expect((await confirm(ada, older)).status).toBe(404))
    app.clock.advance({ hours: 24 })
    await app.unchanged(async () => expect((await confirm(ada, newer)).status).toBe(404))
  })

  test('is mailed at sign-up, five times in an hour, and not once it is done', async ({ app, mailServer }) => {
    const email = newAddress()
    const { body } = await app.anonymous.post('/auth/sign-up', { email, password: 'a password', name: 'Ada' })
    const ada = app.anonymous.with({ authorization: `Bearer ${body.token}` })
    expect(subjectsOf(await mailsTo(app, mailServer, email))).toEqual(['Verify your e-mail address'])
    for (let n = 0; n < 5; n++) expect((await ada.post('/auth/email/verification')).status).toBe(202)
    const sixth = await app.unchanged(() => ada.post('/auth/email/verification'))
    expect(sixth).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
    // Of five queued at once, the newest alone still has a valid link.
    expect(await mailsTo(app, mailServer, email)).toHaveLength(2)
    expect((await confirm(ada, await tokenFor(app, mailServer, email, '/verify-email'))).status).toBe(204)
    app.clock.advance({ hours: 1 })
    await app.unchanged(() => ada.post('/auth/email/verification'))
    // An address that refuses mail has to be verified again.
    await app.ctx.db.run(sql`update users set mail_problem = '550' where email = ${email}`)
    await ada.post('/auth/email/verification')
    expect((await confirm(ada, await tokenFor(app, mailServer, email, '/verify-email'))).status).toBe(204)
    expect(await account(ada)).toMatchObject({ mail_problem: null })
  })

  unmailed('without mail is refused', async ({ app }) => {
    const ada = await app.person()
    const refused = await app.unchanged(() => ada.post('/auth/email/verification'))
    expect(refused).toMatchObject({ status: 409, body: { code: 'MAIL_NOT_CONFIGURED' } })
  })
})

describe('a change of e-mail', () => {
  test(
    'takes effect when the link at the new address is confirmed with a login of the account',
    verifies('account.change-email', 'account.security-mail'),
    async ({ app, mailServer }) => {
      const [ada, eve] = [await app.person(), await app.person()]
      const [old, address] = [ada.user.email, newAddress()]
      const before = (await mailsTo(app, mailServer, old)).length
      expect((await ada.post('/auth/email', { email: address.toUpperCase() })).status).toBe(202)
      expect(await account(ada)).toMatchObject({ email: old, pending_email: address })
      expect(await signInStatus(app, old, ada.password)).toBe(200)
      expect(await signInStatus(app, address, ada.password)).toBe(401)

      const token = await tokenFor(app, mailServer, address, '/verify-email')
      expect(subjectsOf((await mailsTo(app, mailServer, old)).slice(before))).toEqual([
        'Your e-mail address is being changed',
      ])
      await app.unchanged(async () => {
        expect((await confirm(app.anonymous, token)).status).toBe(401)
        expect((await confirm(eve, token)).status).toBe(404)
      })
      expect((await confirm(ada, token)).status).toBe(204)
      expect(await account(ada)).toMatchObject({ email: address, email_verified: true, pending_email: null })
      expect(await signInStatus(app, old, ada.password)).toBe(401)
      expect(await signInStatus(app, address, ada.password)).toBe(200)
      expect((await mailsTo(app, mailServer, old)).length).toBe(before + 1)
      await app.unchanged(async () => expect((await confirm(ada, token)).status).toBe(404))
    },
  )

  test(
    'to the address of another account answers the same, changes nothing and notifies its owner',
    verifies('account.change-email-taken'),
    async ({ app, mailServer }) => {
      const [ada, eve] = [await app.person(), await app.person()]
      const free = await ada.post('/auth/email', { email: newAddress() })
      await app.sendMails()
      const sent = mailServer.mails.length
      const before = await account(ada)
      const taken = await ada.post('/auth/email', { email: eve.user.email.toUpperCase() })
      expect([taken.status, taken.body]).toEqual([free.status, free.body])
      expect(taken.status).toBe(202)
      expect(await account(ada)).toEqual(before)
      expect(await account(eve)).toMatchObject({ email: eve.user.email, pending_email: null })
      expect(subjectsOf(await mailsTo(app, mailServer, eve.user.email))).toEqual([
        'Your address was entered for another account',
      ])
      expect(mailServer.mails.length).toBe(sent + 1)
    },
  )

  test('is refused when another account took the address meanwhile', async ({ app, mailServer }) => {
    const ada = await app.person()
    const address = newAddress()
    await ada.post('/auth/email', { email: address })
    const token = await tokenFor(app, mailServer, address, '/verify-email')
    await app.anonymous.post('/auth/sign-up', { email: address, password: 'a password', name: 'Eve' })
    await app.unchanged(async () => expect((await confirm(ada, token)).status).toBe(404))
    expect(await account(ada)).toMatchObject({ email: ada.user.email })
  })

  test('is limited to five in an hour, and refuses the address that the account has', async ({ app }) => {
    const ada = await app.person()
    await app.unchanged(async () => {
      expect(await ada.post('/auth/email', { email: ada.user.email })).toMatchObject({ status: 422 })
    })
    for (let n = 0; n < 5; n++) expect((await ada.post('/auth/email', { email: newAddress() })).status).toBe(202)
    const sixth = await app.unchanged(() => ada.post('/auth/email', { email: newAddress() }))
    expect(sixth.status).toBe(429)
  })

  unmailed(
    'without mail is immediate and unverified; a taken address is refused',
    verifies('account.change-email-without-mail'),
    async ({ app }) => {
      const [ada, eve] = [await app.person(), await app.person()]
      await app.ctx.db.run(sql`update users set email_verified_at = ${app.clock.now()} where id = ${ada.user.id}`)
      const taken = await app.unchanged(() => ada.post('/auth/email', { email: eve.user.email }))
      expect(taken).toMatchObject({ status: 422, body: { details: { email: expect.any(String) } } })
      const address = newAddress()
      expect((await ada.post('/auth/email', { email: address })).status).toBe(202)
      expect(await account(ada)).toMatchObject({ email: address, email_verified: false, pending_email: null })
      expect(await signInStatus(app, address, ada.password)).toBe(200)
      app.clock.advance({ minutes: 15 })
      const late = await app.unchanged(() => ada.post('/auth/email', { email: newAddress() }))
      expect(late).toMatchObject({ status: 403, body: { code: 'REAUTH_REQUIRED' } })
    },
  )
})

describe('undo', () => {
  /** Changes the address and confirms it. Returns the token of the undo link at the old one. */
  async function moved(
    app: TestApp,
    mailServer: Parameters<typeof tokenFor>[1],
    ada: TestPerson,
    to: string,
    confirmed = true,
  ) {
    const { email } = await account(ada)
    expect((await ada.post('/auth/email', { email: to })).status).toBe(202)
    const change = await tokenFor(app, mailServer, to, '/verify-email')
    if (confirmed) expect((await confirm(ada, change)).status).toBe(204)
    return { undo: await tokenFor(app, mailServer, email, '/undo-email'), change }
  }

  test(
    'restores the address within 7 days, also after the change was confirmed, and ends all logins',
    verifies('account.change-email-undo'),
    async ({ app, mailServer }) => {
      const ada = await app.person()
      const [old, address] = [ada.user.email, newAddress()]
      const second = await secondLogin(app, ada)
      const link = await moved(app, mailServer, ada, address)
      await app.unchanged(async () => expect((await undo(app, `${link.undo}x`)).status).toBe(404))
      app.clock.advance({ days: 6, hours: 23, minutes: 59 })
      expect((await undo(app, link.undo)).status).toBe(204)
      expect([(await ada.get('/auth/me')).status, (await second.get('/auth/me')).status]).toEqual([401, 401])
      expect(await signInStatus(app, address, ada.password)).toBe(401)
      const again = await secondLogin(app, ada)
      expect(await account(again)).toMatchObject({ email: old, email_verified: false, pending_email: null })
      expect(subjectsOf(await mailsTo(app, mailServer, address)).at(-1)).toBe('A change of e-mail address was undone')
      await app.unchanged(async () => expect((await undo(app, link.undo)).status).toBe(404))

      // Password reset is blocked for a day, and its mail says so.
      await app.anonymous.post('/auth/password-reset', { email: old })
      expect(subjectsOf(await mailsTo(app, mailServer, old)).at(-1)).toBe('Password reset is blocked')
      app.clock.advance({ hours: 24 })
      await app.anonymous.post('/auth/password-reset', { email: old })
      expect(subjectsOf(await mailsTo(app, mailServer, old)).at(-1)).toBe('Set a new password')
    },
  )

  test('before the confirmation cancels the change', async ({ app, mailServer }) => {
    const ada = await app.person()
    await app.ctx.db.run(sql`update users set email_verified_at = ${app.clock.now()} where id = ${ada.user.id}`)
    const address = newAddress()
    const link = await moved(app, mailServer, ada, address, false)
    expect((await undo(app, link.undo)).status).toBe(204)
    const again = await secondLogin(app, ada)
    expect(await account(again)).toMatchObject({ email: ada.user.email, email_verified: true, pending_email: null })
    await app.unchanged(async () => expect((await confirm(again, link.change)).status).toBe(404))
    expect(subjectsOf(await mailsTo(app, mailServer, address)).at(-1)).toBe('A change of e-mail address was undone')
  })

  test('expires after 7 days', async ({ app, mailServer }) => {
    const ada = await app.person()
    const { undo: token } = await moved(app, mailServer, ada, newAddress())
    app.clock.advance({ days: 7 })
    await app.unchanged(async () => expect((await undo(app, token)).status).toBe(404))
  })

  test('still works after a second change, and the one of that change does not then', async ({ app, mailServer }) => {
    const ada = await app.person()
    const [b, c] = [newAddress(), newAddress()]
    const first = await moved(app, mailServer, ada, b)
    const second = await moved(app, mailServer, ada, c)
    expect((await undo(app, first.undo)).status).toBe(204)
    const again = await secondLogin(app, ada)
    expect(await account(again)).toMatchObject({ email: ada.user.email })
    await app.unchanged(async () => expect((await undo(app, second.undo)).status).toBe(404))
  })

  test('is not prevented by another account that takes the address', async ({ app, mailServer }) => {
    const [ada, eve] = [await app.person(), await app.person()]
    const { undo: token } = await moved(app, mailServer, ada, newAddress())
    const old = { email: ada.user.email, password: 'a password', name: 'Eve' }
    await app.unchanged(async () => {
      expect(await app.anonymous.post('/auth/sign-up', old)).toMatchObject({ status: 422 })
      expect((await eve.post('/auth/email', { email: old.email })).status).toBe(202)
      await responsesSettled(app.ctx)
    })
    expect((await undo(app, token)).status).toBe(204)
    expect(await signInStatus(app, old.email, ada.password)).toBe(200)
  })

  test('is offered in the notice to the old address', async ({ app, mailServer }) => {
    const ada = await app.person()
    await ada.post('/auth/email', { email: newAddress() })
    const [notice] = await mailsTo(app, mailServer, ada.user.email)
    if (!notice) throw new Error('no mail')
    expect(new URL(linkIn(notice, '/undo-email')).origin).toBe(app.ctx.config.rootUrl)
  })
})

test('an address with a character outside ASCII is refused', verifies('account.address-ascii'), async ({ app }) => {
  const { owner } = await app.workspace()
  await app.unchanged(async () => {
    for (const email of ['\u212Aate@example.com', 'zoë@example.com', 'a@exämple.com', 'a@example.c\u043em']) {
      const refused = [
        await app.anonymous.post('/auth/sign-up', { email, password: 'a password', name: 'Ada' }),
        await owner.post('/workspaces/me/invitations', { email, role: 'member' }),
        await owner.post('/auth/email', { email }),
      ]
      for (const answer of refused) {
        expect(answer).toMatchObject({ status: 422, body: { details: { email: expect.any(String) } } })
      }
    }
  })
})
