import { describe, expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'

const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
let number = 0
const newcomer = () => ({ ...ann, email: `newcomer-${++number}@example.com` })

describe('sign up', () => {
  test('creates an account and a login', verifies('login.sign-up-201', 'login.token-prefix-psn'), async ({ app }) => {
    const { status, body } = await app.anonymous.post('/auth/sign-up', { ...ann, email: 'Ann@Example.com' })
    expect(status).toBe(201)
    expect(body.user).toEqual({
      id: expect.stringMatching(/^usr_/),
      display_name: 'Ann',
      email: 'ann@example.com',
      user_kind: 'human',
      agent_kind: null,
    })
    expect(body.token).toMatch(/^psn_[\w-]{43}$/)
  })

  test('requires every field', verifies('login.sign-up-missing-field-422'), async ({ app }) => {
    for (const field of ['email', 'password', 'name']) {
      const response = await app.unchanged(() =>
        app.anonymous.post('/auth/sign-up', { ...newcomer(), [field]: undefined }),
      )
      expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      expect(response.body.details).toEqual({ [field]: 'is required' })
    }
  })

  test.for([
    [7, 422],
    [8, 201],
    [200, 201],
    [201, 422],
  ])('a password of %i characters answers %i', verifies('login.password-length'), async ([length, status], { app }) => {
    const response = await app.anonymous.post('/auth/sign-up', {
      ...newcomer(),
      password: 'x'.repeat(length as number),
    })
    expect(response.status).toBe(status)
    if (status === 422) expect(Object.keys(response.body.details)).toEqual(['password'])
  })

  test('e-mails that differ only in case are the same account', async ({ app }) => {
    const person = newcomer()
    await app.anonymous.post('/auth/sign-up', person)
    const again = await app.unchanged(() =>
      app.anonymous.post('/auth/sign-up', { ...person, email: person.email.toUpperCase() }),
    )
    expect(again).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
    expect(again.body.details).toEqual({ email: 'has an account already; sign in instead' })
  })

  test('refuses an invalid e-mail', async ({ app }) => {
    for (const email of [
      '',
      'ann',
      'ann@',
      '@example.com',
      'a b@example.com',
      `${'a'.repeat(250)}@b.example`,
      5,
      null,
    ]) {
      const response = await app.unchanged(() => app.anonymous.post('/auth/sign-up', { ...ann, email }))
      expect(response).toMatchObject({ status: 422, body: { details: { email: 'must be an e-mail address' } } })
    }
  })

  test.for([{ BATON_SIGNUP: 'invite' }, { HOST: '0.0.0.0' }])(
    'requires an invitation, except for the first account: %o',
    verifies('login.signup-invite-mode', 'signup.closed-off-loopback'),
    async (env, { startApp }) => {
      const app = await startApp(env as Record<string, string>)
      const first = await app.anonymous.post('/auth/sign-up', newcomer())
      expect(first.status).toBe(201)
      const invited = newcomer()
      const refused = await app.unchanged(() => app.anonymous.post('/auth/sign-up', invited))
      expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })

      const owner = app.anonymous.with({ authorization: `Bearer ${first.body.token}` })
      const { id } = (await owner.post('/workspaces', { name: 'Acme' })).body
      const inWorkspace = owner.with({ 'x-workspace-id': id })
      await inWorkspace.post('/workspaces/me/invitations', { email: invited.email, role: 'member' })
      expect((await app.unchanged(() => app.anonymous.post('/auth/sign-up', newcomer()))).status).toBe(403)
      expect((await app.anonymous.post('/auth/sign-up', invited)).status).toBe(201)

      const late = newcomer()
      await inWorkspace.post('/workspaces/me/invitations', { email: late.email, role: 'member' })
      app.clock.advance({ days: 7 })
      expect((await app.anonymous.post('/auth/sign-up', late)).status).toBe(403)
    },
  )
})

test('sign-ups from one network are limited unless the service is local', async ({ startApp }) => {
  const app = await startApp({
    BATON_ROOT_URL: 'https://baton.example',
    BATON_SIGNUP: 'open',
    BATON_TRUST_PROXY: '127.0.0.1',
  })
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  for (let i = 0; i < 60; i++) {
    const response = await app.anonymous.post('/auth/sign-up', newcomer(), from(`2001:db8:1:2::${i}`))
    expect(response.status).toBe(201)
  }
  const refused = await app.unchanged(() =>
    app.anonymous.post('/auth/sign-up', newcomer(), from('2001:db8:1:2:ffff::1')),
  )
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
  expect((await app.anonymous.post('/auth/sign-up', newcomer(), from('2001:db8:1:3::1'))).status).toBe(201)
})
