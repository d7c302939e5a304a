import { request } from 'node:http'
import { describe, expect } from 'vitest'
import { type TestApp, type TestPerson, verifies } from '../../test/harness.ts'
import { mailsTo, secondLogin, signInStatus, subjectsOf, test, tokenFor } from '../../test/mailed.ts'
import { connected } from '../../test/oauth.ts'
import { linkIn } from '../../test/smtp.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'
import { responsesSettled } from './after-response.ts'
import { addIdentity, addPasskey } from './methods.ts'

const fresh = 'a new password'
const ask = (app: TestApp, email: unknown) => app.anonymous.post('/auth/password-reset', { email })
const confirm = (app: TestApp, token: string, new_password = fresh) =>
  app.anonymous.post('/auth/password-reset/confirm', { token, new_password })

/** Each test has its own hour, because all share the limit of one network. */
const nextHour = (app: TestApp) => app.clock.advance({ hours: 1 })

const verify = (app: TestApp, { user }: TestPerson) =>
  app.ctx.db.run(sql`update users set email_verified_at = ${app.clock.now()} where id = ${user.id}`)

const hasPassword = async (app: TestApp, { user }: TestPerson) =>
  (
    await app.ctx.db.row<{ has: boolean }>(sql`
    select password_hash is not null as has from users where id = ${user.id}`)
  )?.has

describe('a request', () => {
  test(
    'answers the same for a known and an unknown address, and mails only the known one',
    verifies('reset.same-answer'),
    async ({ app, mailServer }) => {
      nextHour(app)
      const person = await app.person()
      const known = await ask(app, person.user.email)
      const unknown = await ask(app, 'nobody-here@example.com')
      expect([known.status, known.body]).toEqual([202, undefined])
      const headers = ({ headers }: typeof known) => [...headers.keys()].sort()
      expect([unknown.status, unknown.body, headers(unknown)]).toEqual([202, undefined, headers(known)])
      expect(subjectsOf(await mailsTo(app, mailServer, person.user.email))).toEqual(['Set a new password'])
      expect(await mailsTo(app, mailServer, 'nobody-here@example.com')).toEqual([])
      const queued = await app.ctx.db.rows(sql`select 1 from mails where address = 'nobody-here@example.com'`)
      expect(queued).toEqual([])
    },
  )

  test(
    'refuses anything but one address, and sends nothing',
    verifies('reset.one-string'),
    async ({ app, mailServer }) => {
      nextHour(app)
      const { user } = await app.person()
      const other = 'other@example.com'
      const sent = mailServer.mails.length
      const wrong = [
        [user.email, other],
        [user.email],
        { email: user.email },
        `${user.email},${other}`,
        `${user.email} ${other}`,
        `${user.email}\n${other}`,
        `${user.email};${other}`,
        null,
        1,
        '',
      ]
      await app.unchanged(async () => {
        for (const email of wrong) {
          const refused = await ask(app, email)
          expect([email, refused.status, Object.keys(refused.body.details)[0]]).toEqual([
            email,
            422,
            expect.stringMatching(/^email/),
          ])
        }
        const twice = await app.anonymous.post('/auth/password-reset', undefined, {
          raw: `{"email":"${user.email}","email":"${other}"}`,
          headers: { 'content-type': 'application/json' },
        })
        expect(twice.status).toBe(400)
      })
      await app.sendMails()
      expect(mailServer.mails.length).toBe(sent)
    },
  )

  test(
    'mails the stored address alone, however it was typed',
    verifies('reset.to-stored-address'),
    async ({ app, mailServer }) => {
      nextHour(app)
      const { user } = await app.person()
      const typed = user.email.toUpperCase()
      expect((await ask(app, typed)).status).toBe(202)
      const [mail, ...more] = await mailsTo(app, mailServer, user.email)
      expect(more).toEqual([])
      expect(mail?.to).toEqual([user.email])
      expect(mail?.parsed.cc ?? mail?.parsed.bcc).toBeUndefined()
      expect(mail?.raw).not.toContain(typed)
      // The Kelvin sign lower-cases to k: an address with it is refused.
      expect((await ask(app, user.email.replace('person', '\u212Aerson'))).status).toBe(422)
    },
  )

  test('is limited for an address and for a network', verifies('reset.rate-limited'), async ({ app, mailServer }) => {
    nextHour(app)
    const { user } = await app.person()
    for (const wait of [0, 20, 20]) {
      app.clock.advance({ minutes: wait })
      expect((await ask(app, user.email)).status).toBe(202)
    }
    await app.sendMails()
    const sent = mailServer.mails.length
    app.clock.advance({ minutes: 19, seconds: 59 })
    // Housekeeping deletes windows that are not needed any more; this one is.
    await sweep(app.ctx)
    const fourth = await app.unchanged(() => ask(app, user.email))
    expect(fourth).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
    expect(fourth.headers.get('retry-after')).toBe('1')
    await app.sendMails()
    expect(mailServer.mails.length).toBe(sent)
    app.clock.advance({ seconds: 1 })
    expect((await ask(app, user.email)).status).toBe(202)

    nextHour(app)
    for (let n = 0; n < 20; n++) expect((await ask(app, `someone-${n}@example.com`)).status).toBe(202)
    const known = await app.person()
    const refused = await app.unchanged(() => ask(app, known.user.email))
    expect(refused.status).toBe(429)
    expect(await mailsTo(app, mailServer, known.user.email)).toEqual([])
    nextHour(app)
    expect((await ask(app, known.user.email)).status).toBe(202)
  })

  test(
    'for an account without a password names its sign-in methods, and has no link',
    verifies('reset.without-password'),
    async ({ app, mailServer }) => {
      nextHour(app)
      const { user } = await app.person()
      await app.ctx.db.run(sql`update users set password_hash = null where id = ${user.id}`)
      const identity = { userId: user.id, issuer: 'https://company.example', subject: user.id, email: null }
      await addIdentity(app.ctx.db, app.clock.now(), { ...identity, providerId: 'company' })
      await addPasskey(app.ctx.db, app.clock.now(), passkeyOf(user.id))
      await ask(app, user.email)
      const [mail] = await mailsTo(app, mailServer, user.email)
      expect(mail?.parsed.text).toContain('You sign in with company or with a passkey.')
      expect(mail?.raw).not.toMatch(/reset-password|token/)
      const links = await app.ctx.db.rows(sql`select 1 from account_links where user_id = ${user.id}`)
      expect(links).toEqual([])
    },
  )

  test('without mail is refused, for any address', async ({ startApp }) => {
    const app = await startApp()
    const { user } = await app.person()
    await app.unchanged(async () => {
      for (const email of [user.email, 'nobody@example.com']) {
        expect(await ask(app, email)).toMatchObject({ status: 409, body: { code: 'MAIL_NOT_CONFIGURED' } })
      }
    })
  })
})

describe('the link', () => {
  test(
    'works once and for one hour; a changed token does not',
    verifies('reset.link-once-and-one-hour'),
    async ({ app, mailServer }) => {
      nextHour(app)
      const [ada, bob, eve] = [await app.person(), await app.person(), await app.person()]
      const tokens: string[] = []
      for (const { user } of [ada, bob, eve]) {
        await ask(app, user.email)
        tokens.push(await tokenFor(app, mailServer, user.email, '/reset-password'))
      }
      const [first = '', second = '', third = ''] = tokens
      await app.unchanged(async () => {
        const other = first.at(-2) === 'A' ? 'B' : 'A'
        for (const token of [
          `${first.slice(0, -2)}${other}${first.at(-1)}`,
          `${first}A`,
          first.slice(1),
          'x',
          second + first,
        ]) {
          expect(await confirm(app, token)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
        }
      })
      expect(await confirm(app, first)).toMatchObject({ status: 204 })
      expect(await signInStatus(app, ada.user.email, fresh)).toBe(200)
      expect(await signInStatus(app, ada.user.email, ada.password)).toBe(401)
      await app.unchanged(async () => expect((await confirm(app, first, 'another password')).status).toBe(404))

      app.clock.advance({ minutes: 59, seconds: 59 })
      expect((await confirm(app, second)).status).toBe(204)
      app.clock.advance({ seconds: 1 })
      await app.unchanged(async () => expect((await confirm(app, third)).status).toBe(404))
      expect(await signInStatus(app, eve.user.email, eve.password)).toBe(200)
    },
  )

  test(
    'ends with a newer one, a changed password and a changed e-mail',
    verifies('reset.newest-only'),
    async ({ app, mailServer }) => {
      nextHour(app)
      const person = await app.person()
      const { email } = person.user
      const next = async (address = email) => {
        await ask(app, address)
        return tokenFor(app, mailServer, address, '/reset-password')
      }
      const older = await next()
      const newer = await next()
      await app.unchanged(async () => expect((await confirm(app, older)).status).toBe(404))
      const changed = { current_password: person.password, new_password: 'changed by hand' }
      expect((await person.post('/auth/password', changed)).status).toBe(204)
      await app.unchanged(async () => expect((await confirm(app, newer)).status).toBe(404))

      const third = await next()
      expect((await person.put('/auth/password', { new_password: 'set without the old one' })).status).toBe(204)
      await app.unchanged(async () => expect((await confirm(app, third)).status).toBe(404))

      nextHour(app)
      const again = await secondLogin(app, { ...person, password: 'set without the old one' } as TestPerson)
      const fourth = await next()
      const address = `new-${email}`
      expect((await again.post('/auth/email', { email: address })).status).toBe(202)
      const change = await tokenFor(app, mailServer, address, '/verify-email')
      expect((await again.post('/auth/email/confirm', { token: change })).status).toBe(204)
      await app.unchanged(async () => expect((await confirm(app, fourth)).status).toBe(404))
      expect((await confirm(app, await next(address))).status).toBe(204)
    },
  )

  test(
    'ends every login, program and personal token, and starts no login',
    verifies('reset.ends-everything', 'account.security-mail'),
    async ({ app, mailServer }) => {
      nextHour(app)
      const { id, member: person, owner } = await app.workspace()
      const { email } = person.user
      await verify(app, person)
      const second = await secondLogin(app, person)
      await connected(app, person, id)
      await addPersonalToken(app, person, id)
      await addPersonalToken(app, owner, id)
      await addPasskey(app.ctx.db, app.clock.now(), passkeyOf(person.user.id))
      await ask(app, email)
      const answer = await confirm(app, await tokenFor(app, mailServer, email, '/reset-password'))
      expect([answer.status, answer.body, answer.headers.get('set-cookie')]).toEqual([204, undefined, null])
      expect([(await person.get('/auth/me')).status, (await second.get('/auth/me')).status]).toEqual([401, 401])
      const left = await app.ctx.db.row(sql`
        select (select count(*)::int from logins where user_id = ${person.user.id}) as logins,
          (select count(*)::int from grants where user_id = ${person.user.id} and ended_at is null) as programs,
          (select count(*)::int from personal_tokens where user_id = ${person.user.id}) as tokens,
          (select count(*)::int from passkeys where user_id = ${person.user.id}) as passkeys`)
      expect(left).toEqual({ logins: 0, programs: 0, tokens: 0, passkeys: 1 })
      const others = await app.ctx.db.rows(sql`select 1 from personal_tokens where user_id = ${owner.user.id}`)
      expect(others).toHaveLength(1)
      expect((await owner.get('/auth/me')).status).toBe(200)
      expect(subjectsOf(await mailsTo(app, mailServer, email)).slice(-1)).toEqual(['Your password was changed'])
    },
  )

  test(
    'of an unverified account removes its passkeys and identities, and verifies the address',
    verifies('reset.unverified-account-cleans'),
    async ({ app, mailServer }) => {
      nextHour(app)
      const person = await app.person()
      const { id, email } = person.user
      await addPasskey(app.ctx.db, app.clock.now(), passkeyOf(id))
      const identity = { userId: id, providerId: 'company', issuer: 'https://company.example', email: null }
      await addIdentity(app.ctx.db, app.clock.now(), { ...identity, subject: id })
      expect((await person.get('/auth/account')).body).toMatchObject({ email_verified: false, passkeys: 1 })
      await ask(app, email)
      expect((await confirm(app, await tokenFor(app, mailServer, email, '/reset-password'))).status).toBe(204)
      const again = await secondLogin(app, { ...person, password: fresh } as TestPerson)
      expect((await again.get('/auth/account')).body).toMatchObject({
        email_verified: true,
        has_password: true,
        passkeys: 0,
        identities: [],
      })
    },
  )

  test(
    'is stored as a hash, and sealed in the mail until that is sent',
    verifies('reset.token-hashed'),
    async ({ app, mailServer }) => {
      nextHour(app)
      const { user } = await app.person()
      await ask(app, user.email)
      await responsesSettled(app.ctx)
      const secret = async () =>
        (
          await app.ctx.db.row<{ secret: string | null }>(sql`
          select secret from mails where user_id = ${user.id} and kind = 'reset'`)
        )?.secret
      expect(await secret()).toMatch(/^v1\./)
      const before = await app.everything()
      const token = await tokenFor(app, mailServer, user.email, '/reset-password')
      for (const stored of [before, await app.everything()]) {
        expect(stored).not.toContain(token)
        expect(stored).not.toContain(Buffer.from(token).toString('hex'))
      }
      expect(await secret()).toBeNull()
      expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    },
  )

  test(
    'begins with the root URL, and has the token in its fragment',
    verifies('reset.link-from-root-url'),
    async ({ app, mailServer }) => {
      nextHour(app)
      const { user } = await app.person()
      const headers = { 'content-type': 'application/json', host: 'evil.example', 'x-forwarded-host': 'evil.example' }
      const status = await new Promise((resolve, reject) => {
        const url = `${app.rootUrl}/api/v1/auth/password-reset`
        const sent = request(url, { method: 'POST', headers }, (response) => resolve(response.resume().statusCode))
        sent.on('error', reject).end(JSON.stringify({ email: user.email }))
      })
      expect(status).toBe(202)
      const [mail] = await mailsTo(app, mailServer, user.email)
      if (!mail) throw new Error('no mail')
      const link = new URL(linkIn(mail, '/reset-password'))
      expect(link.origin).toBe(app.ctx.config.rootUrl)
      expect([link.search, link.hash]).toEqual(['', expect.stringMatching(/^#token=[\w-]{43}$/)])
      expect(mail.raw).not.toContain('evil')
    },
  )

  test('in a mail that was not sent yet is left out when a newer one exists', async ({ app, mailServer }) => {
    nextHour(app)
    const { user } = await app.person()
    await ask(app, user.email)
    await ask(app, user.email)
    expect(await mailsTo(app, mailServer, user.email)).toHaveLength(1)
    expect((await confirm(app, await tokenFor(app, mailServer, user.email, '/reset-password'))).status).toBe(204)
  })

  test('refuses a short password, and stays valid', async ({ app, mailServer }) => {
    nextHour(app)
    const person = await app.person()
    await ask(app, person.user.email)
    const token = await tokenFor(app, mailServer, person.user.email, '/reset-password')
    await app.unchanged(async () => {
      expect(await confirm(app, token, 'short')).toMatchObject({
        status: 422,
        body: { details: { new_password: expect.any(String) } },
      })
    })
    expect(await hasPassword(app, person)).toBe(true)
    expect((await confirm(app, token)).status).toBe(204)
  })
})

const passkeyOf = (userId: string) => ({
  userId,
  name: 'Laptop',
  credentialId: `credential of ${userId}`,
  publicKey: Buffer.from('key'),
  counter: 0,
  transports: [],
})

const addPersonalToken = (app: TestApp, { user }: TestPerson, workspaceId: string) =>
  app.ctx.db.run(sql`
    insert into personal_tokens (id, workspace_id, user_id, name, token_hash, scopes, expires_at, created_at)
    values (${`pat_${user.id}`}, ${workspaceId}, ${user.id}, 'CI', ${Buffer.from(user.id)}, ${['read']},
      ${new Date(app.clock.now().getTime() + 1e9)}, ${app.clock.now()})`)
