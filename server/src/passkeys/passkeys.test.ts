import { describe, expect } from 'vitest'
import { Authenticator, type Deviation } from '../../test/authenticator.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

const other = 'https://evil.example'

/** Rows without challenges, which a refusal uses up, and the number of logins. */
async function stored(app: TestApp) {
  const rows = JSON.parse(await app.everything()) as { name: string }[]
  const logins = await app.ctx.db.row<{ count: number }>(sql`select count(*)::int as count from logins`)
  return { rows: rows.filter(({ name }) => name !== 'passkey_challenges'), logins }
}

async function expectRefusal<T extends { status: number; body: unknown }>(
  app: TestApp,
  expected: object,
  work: () => Promise<T>,
) {
  const before = await stored(app)
  expect(await work()).toMatchObject(expected)
  expect(await stored(app)).toEqual(before)
}

const notVerified = { status: 422, body: { details: { credential: 'could not be verified; try again' } } }
const notSignedIn = { status: 401, body: { code: 'INVALID_CREDENTIALS' } }

test('registers a passkey and signs in with it', verifies('passkey.register-and-sign-in'), async ({ app }) => {
  const person = await app.person()
  const device = new Authenticator(app)
  const { body: options } = await person.post('/auth/passkeys/options')
  expect(options).toMatchObject({
    rp: { id: 'localhost', name: 'Baton' },
    attestation: 'none',
    excludeCredentials: [],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  const created = await person.post('/auth/passkeys', { name: ' My laptop ', credential: device.create(options) })
  expect(created).toMatchObject({ status: 201, body: { name: 'My laptop', last_used_at: null } })

  const { body: asked } = await app.anonymous.post('/auth/passkey-sign-in/options')
  // It names no account, so none can be found out.
  expect(asked).toMatchObject({ rpId: 'localhost', userVerification: 'required' })
  expect(asked.allowCredentials ?? []).toEqual([])
  const { status, body, headers } = await device.signIn()
  expect({ status, user: body.user }).toEqual({ status: 200, user: person.user })
  expect(headers.get('set-cookie')).toMatch(/^baton_session=psn_/)
  const login = app.anonymous.with({ authorization: `Bearer ${body.token}` })
  expect((await login.get('/auth/passkeys')).body).toEqual({
    data: [{ ...created.body, last_used_at: app.clock.now().toISOString() }],
    next_cursor: null,
  })
  const { data: logins } = (await login.get('/auth/logins')).body
  expect(logins.find(({ current }: { current: boolean }) => current).method).toBe('passkey')
  expect((await person.get('/auth/account')).body.passkeys).toBe(1)
})

test('needs a recent login to register', verifies('passkey.register-and-sign-in'), async ({ app }) => {
  const person = await app.person()
  const device = new Authenticator(app)
  const { body: options } = await person.post('/auth/passkeys/options')
  const credential = device.create(options)
  await app.ctx.db.run(sql`update logins set proved_at = null where user_id = ${person.user.id}`)
  for (const [path, body] of [
    ['/auth/passkeys/options', undefined],
    ['/auth/passkeys', { name: 'Laptop', credential }],
  ] as const) {
    const refused = await app.unchanged(() => person.post(path, body))
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'REAUTH_REQUIRED', details: { methods: ['password'] } },
    })
  }
})

test('makes a login recent', async ({ app }) => {
  const [person, stranger] = [await app.person(), await app.person()]
  const [device, theirs] = [new Authenticator(app), new Authenticator(app)]
  await device.register(person)
  await theirs.register(stranger)
  app.clock.advance({ minutes: 16 })
  const confirm = async (by: Authenticator) => {
    const { body: options } = await app.anonymous.post('/auth/passkey-sign-in/options')
    return person.post('/auth/reauth/passkey', { credential: by.use(options) })
  }
  expect((await person.post('/auth/passkeys/options')).status).toBe(403)
  await expectRefusal(app, notVerified, () => confirm(theirs))
  expect((await person.post('/auth/passkeys/options')).status).toBe(403)
  expect((await confirm(device)).status).toBe(204)
  expect((await person.post('/auth/passkeys/options')).status).toBe(200)
})

describe('refuses a response', () => {
  const deviations: [string, Deviation][] = [
    ['with another origin', { origin: other }],
    ['with another port', { origin: 'http://localhost:3001' }],
    ['with another RP id', { rpId: 'evil.example' }],
    ['with another challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
  ]
  for (const [what, deviation] of deviations) {
    test(what, verifies('passkey.hostile'), async ({ app }) => {
      const person = await app.person()
      await expectRefusal(app, notVerified, () => new Authenticator(app).register(person, 'Laptop', deviation))
      const device = new Authenticator(app)
      // With another RP id the device has no passkey to use, so it gets one there.
      if (deviation.rpId) {
        const { body: options } = await person.post('/auth/passkeys/options')
        device.create(options, deviation)
      } else await device.register(person)
      await expectRefusal(app, notSignedIn, () => device.signIn(deviation))
    })
  }

  test('without user verification', verifies('passkey.hostile'), async ({ app }) => {
    const person = await app.person()
    const [careless, device] = [new Authenticator(app), new Authenticator(app)]
    careless.userVerified = false
    const { body: options } = await person.post('/auth/passkeys/options')
    const selection = { residentKey: 'required', userVerification: 'discouraged' }
    const credential = careless.create({ ...options, authenticatorSelection: selection })
    await expectRefusal(app, notVerified, () => person.post('/auth/passkeys', { name: 'Laptop', credential }))
    await device.register(person)
    device.userVerified = false
    const { body: asked } = await app.anonymous.post('/auth/passkey-sign-in/options')
    const used = device.use({ ...asked, userVerification: 'discouraged' })
    await expectRefusal(app, notSignedIn, () => app.anonymous.post('/auth/passkey-sign-in', { credential: used }))
  })

  test('with a used or expired challenge', verifies('passkey.hostile'), async ({ app }) => {
    const person = await app.person()
    const device = new Authenticator(app)
    const { body: options } = await person.post('/auth/passkeys/options')
    app.clock.advance({ minutes: 5 })
    await expectRefusal(app, notVerified, () =>
      person.post('/auth/passkeys', { name: 'Laptop', credential: new Authenticator(app).create(options) }),
    )
    await device.register(person)
    const { body: asked } = await app.anonymous.post('/auth/passkey-sign-in/options')
    expect((await app.anonymous.post('/auth/passkey-sign-in', { credential: device.use(asked) })).status).toBe(200)
    await expectRefusal(app, notSignedIn, () =>
      app.anonymous.post('/auth/passkey-sign-in', { credential: device.use(asked) }),
    )
    const { body: late } = await app.anonymous.post('/auth/passkey-sign-in/options')
    app.clock.advance({ minutes: 4, seconds: 59, milliseconds: 999 })
    const used = device.use(late)
    app.clock.advance({ milliseconds: 1 })
    await expectRefusal(app, notSignedIn, () => app.anonymous.post('/auth/passkey-sign-in', { credential: used }))
  })

  test('to the challenge of another user or purpose', verifies('passkey.hostile'), async ({ app }) => {
    const [person, stranger] = [await app.person(), await app.person()]
    const { body: theirs } = await stranger.post('/auth/passkeys/options')
    const { body: forUse } = await app.anonymous.post('/auth/passkey-sign-in/options')
    const { body: own } = await person.post('/auth/passkeys/options')
    for (const challenge of [theirs.challenge, forUse.challenge]) {
      const credential = new Authenticator(app).create({ ...own, challenge })
      await expectRefusal(app, notVerified, () => person.post('/auth/passkeys', { name: 'Laptop', credential }))
    }
  })

  test('with a counter that decreased', verifies('passkey.hostile'), async ({ app }) => {
    const person = await app.person()
    const device = new Authenticator(app)
    await device.register(person)
    expect((await device.signIn()).status).toBe(200)
    await app.ctx.db.run(sql`update passkeys set counter = 1000 where user_id = ${person.user.id}`)
    await expectRefusal(app, notSignedIn, () => device.signIn())
  })

  test('with a wrong signature, or of an unknown passkey', verifies('passkey.hostile'), async ({ app }) => {
    const person = await app.person()
    const [device, unknown] = [new Authenticator(app), new Authenticator(app)]
    await device.register(person)
    const { body: options } = await person.post('/auth/passkeys/options')
    unknown.create(options)
    await expectRefusal(app, notSignedIn, () => unknown.signIn())
    const { body: asked } = await app.anonymous.post('/auth/passkey-sign-in/options')
    const credential = device.use(asked)
    const response = { ...credential.response, signature: Buffer.from('wrong').toString('base64url') }
    await expectRefusal(app, notSignedIn, () =>
      app.anonymous.post('/auth/passkey-sign-in', { credential: { ...credential, response } }),
    )
  })

  test('from a page at another address', async ({ app }) => {
    const person = await app.person()
    const device = new Authenticator(app)
    await device.register(person)
    const { body: asked } = await app.anonymous.post('/auth/passkey-sign-in/options')
    const body = { credential: device.use(asked) }
    const refused = await app.unchanged(() =>
      app.anonymous.post('/auth/passkey-sign-in', body, { headers: { origin: other } }),
    )
    expect(refused).toMatchObject({ status: 403, body: { code: 'CSRF_REFUSED' } })
  })
})

test('a passkey belongs to one user', verifies('passkey.not-anothers'), async ({ app }) => {
  const [person, stranger] = [await app.person(), await app.person()]
  const device = new Authenticator(app)
  const { body: options } = await person.post('/auth/passkeys/options')
  const credential = device.create(options)
  const { body: passkey } = await person.post('/auth/passkeys', { name: 'Laptop', credential })
  // The same credential again, for a challenge of the second user.
  const { body: theirs } = await stranger.post('/auth/passkeys/options')
  await app.ctx.db.run(sql`
    update passkeys set credential_id = 'taken' where id = ${passkey.id}`)
  const again = device.create({ ...theirs, excludeCredentials: [] })
  await app.ctx.db.run(sql`update passkeys set credential_id = ${again.id} where id = ${passkey.id}`)
  await expectRefusal(app, { status: 422, body: { details: { credential: 'is registered already' } } }, () =>
    stranger.post('/auth/passkeys', { name: 'Copy', credential: again }),
  )
  expect((await app.unchanged(() => stranger.delete(`/auth/passkeys/${passkey.id}`))).status).toBe(404)
  expect((await stranger.get('/auth/passkeys')).body.data).toEqual([])
  expect((await person.delete(`/auth/passkeys/${passkey.id}`)).status).toBe(204)
  expect((await person.get('/auth/passkeys')).body.data).toEqual([])
})

test('a user has at most 20 passkeys', verifies('passkey.not-anothers'), async ({ app }) => {
  const person = await app.person()
  const { body: early } = await person.post('/auth/passkeys/options')
  for (let i = 0; i < 20; i++) expect((await new Authenticator(app).register(person, `Key ${i}`)).status).toBe(201)
  const limit = { status: 409, body: { code: 'PASSKEY_LIMIT_REACHED' } }
  expect(await app.unchanged(() => person.post('/auth/passkeys/options'))).toMatchObject(limit)
  const credential = new Authenticator(app).create({ ...early, excludeCredentials: [] })
  await expectRefusal(app, limit, () => person.post('/auth/passkeys', { name: 'Key 21', credential }))
})

test('the last sign-in method stays', async ({ app }) => {
  const person = await app.person()
  const { body } = await new Authenticator(app).register(person)
  expect((await person.delete('/auth/password')).status).toBe(204)
  const refused = await app.unchanged(() => person.delete(`/auth/passkeys/${body.id}`))
  expect(refused).toMatchObject({ status: 409, body: { code: 'LAST_SIGN_IN_METHOD' } })
})

test('an instance at an IP address has none', async ({ startApp }) => {
  const app = await startApp({ BATON_ROOT_URL: 'http://127.0.0.1:3000' })
  const person = await app.person()
  expect((await app.anonymous.get('/instance')).body.passkeys).toBe(false)
  expect((await app.unchanged(() => app.anonymous.post('/auth/passkey-sign-in/options'))).status).toBe(403)
  expect((await app.unchanged(() => person.post('/auth/passkeys/options'))).status).toBe(403)
})

test('mails about an added and a removed passkey', async ({ startApp, smtp }) => {
  const app = await startApp(smtp.env)
  const person = await app.person()
  const { body } = await new Authenticator(app).register(person, 'Phone')
  await person.delete(`/auth/passkeys/${body.id}`)
  const mails = await app.ctx.db.rows<{ data: object }>(sql`
    select data from mails where user_id = ${person.user.id} and kind = 'security' order by id`)
  expect(mails).toEqual([
    { data: { event: 'passkey_added', name: 'Phone' } },
    { data: { event: 'method_removed', name: 'Phone', method: 'passkey' } },
  ])
})
