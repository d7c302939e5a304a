import { describe, expect } from 'vitest'
import { type TestApp, type TestPerson, test, verifies, within } from '../../test/harness.ts'
import { programOf } from '../../test/oauth.ts'
import { linkIn } from '../../test/smtp.ts'
import { SsoBrowser, ssoScene } from '../../test/sso.ts'
import { sql } from '../db/sql.ts'

type StartApp = (env?: Record<string, string>) => Promise<TestApp>

/** An instance with people and passwords. `turnOn` is a restart with single sign-on only; the owner is break-glass. */
async function scene(startApp: StartApp, env: Record<string, string> = {}) {
  const { app, issuer } = await ssoScene(startApp, undefined, env)
  const workspace = await app.workspace()
  const turnOn = () => {
    Object.assign(app.ctx.config.sso, { only: true, breakGlass: workspace.owner.user.email })
  }
  return { ...workspace, app, issuer, turnOn }
}

const signIn = (app: TestApp, { user, password }: TestPerson) =>
  app.anonymous.post('/auth/sign-in', { email: user.email, password })

test('refuses all other ways in', verifies('sso.only-refuses-other-ways'), async ({ startApp, smtp }) => {
  const { app, issuer, member, turnOn } = await scene(startApp, smtp.env)
  expect((await app.anonymous.get('/instance')).body).toMatchObject({ passkeys: true, sso: { only: false } })
  await app.anonymous.post('/auth/password-reset', { email: member.user.email })
  await app.sendMails()
  const { hash } = new URL(linkIn(smtp.to(member.user.email), '/reset-password'))
  turnOn()
  const required = { status: 403, body: { code: 'SSO_REQUIRED' } }
  const { anonymous } = app
  const used = {
    id: 'eA',
    rawId: 'eA',
    type: 'public-key',
    response: { clientDataJSON: 'e30', authenticatorData: 'eA', signature: 'eA' },
  }
  const refused: [string, () => Promise<unknown>][] = [
    ['sign-up', () => anonymous.post('/auth/sign-up', { email: 'n@example.com', password: 'a password', name: 'N' })],
    ['passkey options', () => anonymous.post('/auth/passkey-sign-in/options')],
    ['passkey sign-in', () => anonymous.post('/auth/passkey-sign-in', { credential: used })],
    ['reset', () => anonymous.post('/auth/password-reset', { email: member.user.email })],
    [
      'reset by a link',
      () =>
        anonymous.post('/auth/password-reset/confirm', {
          token: new URLSearchParams(hash.slice(1)).get('token'),
          new_password: 'a password',
        }),
    ],
  ]
  for (const [what, call] of refused) {
    expect({ what, answer: await app.unchanged(call) }).toMatchObject({ what, answer: required })
  }
  const { token } = await new SsoBrowser(app).signIn(issuer, issuer.person({ email: member.user.email }))
  const person = anonymous.with({ authorization: `Bearer ${token}` })
  expect(await app.unchanged(() => person.put('/auth/password', { new_password: 'a password' }))).toMatchObject(
    required,
  )
  expect(await app.unchanged(() => person.post('/auth/reauth', { password: 'x' }))).toMatchObject(required)
  expect(await app.unchanged(() => person.post('/auth/reauth/passkey', { credential: used }))).toMatchObject(required)
  expect((await anonymous.get('/instance')).body).toMatchObject({
    sign_up: false,
    needs_first_account: false,
    passkeys: false,
    sso: { only: true, providers: [{ id: 'company' }] },
  })
})

describe('the break-glass account', () => {
  test(
    'signs in with its password, which is audited and mailed',
    verifies('sso.only-break-glass'),
    async ({ startApp, smtp }) => {
      const { app, owner, member, admin, turnOn } = await scene(startApp, smtp.env)
      turnOn()
      for (const person of [member, admin]) {
        expect(await app.unchanged(() => signIn(app, person))).toMatchObject({
          status: 403,
          body: { code: 'SSO_REQUIRED' },
        })
        const wrong = await app.unchanged(() => signIn(app, { ...person, password: 'a guess' } as TestPerson))
        expect(wrong).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } })
      }
      const guess = await app.unchanged(() => signIn(app, { ...owner, password: 'a guess' } as TestPerson))
      expect(guess).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } })
      const { status, body } = await signIn(app, owner)
      expect(status).toBe(200)
      const client = app.anonymous.with({ authorization: `Bearer ${body.token}`, 'x-workspace-id': owner.workspaceId })
      expect((await client.get('/audit-log?action=login.break_glass')).body.data).toMatchObject([
        { actor: { id: owner.user.id }, subject_id: owner.user.id },
      ])
      const mails = await app.ctx.db.rows<{ user_id: string; data: object }>(sql`
        select user_id, data from mails where kind = 'security' and data->>'event' = 'break_glass'`)
      expect(mails).toEqual([{ user_id: owner.user.id, data: { event: 'break_glass', name: owner.user.email } }])
      expect((await client.put('/auth/password', { new_password: 'another password' })).status).toBe(204)
    },
  )

  test(
    'confirms its identity with its password or a provider, and no other account takes its address',
    verifies('sso.only-break-glass', 'reauth.required'),
    async ({ startApp }) => {
      const { app, issuer, owner, member, turnOn } = await scene(startApp)
      await app.ctx.db.run(sql`
        insert into passkeys (id, user_id, name, credential_id, public_key, counter, transports, created_at)
        values ('psk_x', ${owner.user.id}, 'Laptop', 'eA', '', 0, '{}', ${app.clock.now()})`)
      turnOn()
      const { token } = await new SsoBrowser(app).signIn(issuer, issuer.person({ email: member.user.email }))
      const person = app.anonymous.with({ authorization: `Bearer ${token}` })
      app.ctx.config.sso.breakGlass = 'emergency@example.com'
      const taken = await app.unchanged(() => person.post('/auth/email', { email: 'emergency@example.com' }))
      expect(taken).toMatchObject({ status: 422, body: { details: { email: expect.any(String) } } })
      turnOn()
      app.clock.advance({ minutes: 15 })
      const late = { status: 403, body: { code: 'REAUTH_REQUIRED', details: { methods: ['password'] } } }
      expect(await app.unchanged(() => owner.delete('/auth/password'))).toMatchObject(late)
      expect(await app.unchanged(() => owner.post('/auth/sso/company', { purpose: 'link' }))).toMatchObject(late)
    },
  )

  test('is recorded in each of its workspaces', verifies('sso.only-break-glass'), async ({ startApp }) => {
    const { app, owner, turnOn } = await scene(startApp)
    const { body: second } = await owner.post('/workspaces', { name: 'Second' })
    const other = await app.workspace('Third')
    turnOn()
    await signIn(app, owner)
    app.ctx.config.sso.only = false
    for (const [person, id, count] of [
      [owner, owner.workspaceId, 1],
      [owner, second.id, 1],
      [other.owner, other.id, 0],
    ] as const) {
      const { body } = await within(person, id).get('/audit-log?action=login.break_glass')
      expect(body.data).toHaveLength(count)
    }
  })
})

test(
  'ends logins that began with a password or a passkey',
  verifies('sso.only-ends-password-logins'),
  async ({ startApp }) => {
    const { app, issuer, owner, admin, member, turnOn } = await scene(startApp)
    await app.ctx.db.run(sql`update logins set method = 'passkey' where user_id = ${admin.user.id}`)
    const statuses = () =>
      Promise.all([admin, member, owner].map(async (person) => (await person.get('/auth/me')).status))
    expect(await statuses()).toEqual([200, 200, 200])
    turnOn()
    expect(await statuses()).toEqual([401, 401, 200])
    // Nothing was deleted: the operator can turn it off again.
    app.ctx.config.sso.only = false
    expect(await statuses()).toEqual([200, 200, 200])
    turnOn()
    const { token } = await new SsoBrowser(app).signIn(issuer, issuer.person({ email: member.user.email }))
    expect((await app.anonymous.get('/auth/me', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  },
)

test(
  'suspends programs and personal tokens 30 days after the last single sign-on',
  verifies('sso.only-tokens-suspended'),
  async ({ startApp }) => {
    const { app, issuer, id, member, turnOn } = await scene(startApp)
    const { body } = await member.post('/personal-tokens', { name: 'Script', scopes: ['read'] })
    const tokens = [await programOf(app, member, id), body.token]
    const call = async () => {
      const headers = (token: string) => ({ authorization: `Bearer ${token}`, 'x-workspace-id': id })
      const answers = await Promise.all(
        tokens.map((token) => app.anonymous.get('/issues', { headers: headers(token) })),
      )
      return answers.map(({ status }) => status)
    }
    expect(await call()).toEqual([200, 200])
    turnOn()
    expect(await call()).toEqual([401, 401])
    await app.ctx.db.run(sql`update access_tokens set expires_at = ${new Date(app.clock.now().getTime() + 1e10)}`)
    await app.ctx.db.run(sql`
      update users set email_verified_at = ${app.clock.now()} where id = ${member.user.id}`)
    const person = issuer.person({ email: member.user.email })
    await new SsoBrowser(app).signIn(issuer, person)
    expect(await call()).toEqual([200, 200])
    app.clock.advance({ days: 30 })
    expect(await call()).toEqual([200, 200])
    app.clock.advance({ milliseconds: 1 })
    expect(await call()).toEqual([401, 401])
    await new SsoBrowser(app).signIn(issuer, person)
    expect(await call()).toEqual([200, 200])
  },
)
