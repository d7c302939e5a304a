import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
import { type TestApp, type TestPerson, test, verifies, within } from '../../test/harness.ts'
import { ssoSettings } from '../../test/issuer.ts'
import { programOf } from '../../test/oauth.ts'
import { expectRefusal, SsoBrowser, ssoScene, startIssuer } from '../../test/sso.ts'
import { sql } from '../db/sql.ts'
import { createLink } from '../login/links.ts'
import { addIdentity, addPasskey } from '../login/methods.ts'

const problem = (name: string) => `/sign-in?problem=${name}`
const meOf = async (app: TestApp, token: string | undefined) =>
  (await app.anonymous.get('/auth/me', { headers: { authorization: `Bearer ${token}` } })).body?.user
const isIn = async (person: TestPerson) => (await person.get('/auth/me')).status === 200
const verify = (app: TestApp, { user }: TestPerson) =>
  app.ctx.db.run(sql`update users set email_verified_at = ${app.clock.now()} where id = ${user.id}`)
const identitiesOf = (app: TestApp, { user }: TestPerson) =>
  app.ctx.db.rows<{ subject: string }>(sql`select subject from sso_identities where user_id = ${user.id}`)
const addPasskeyTo = (app: TestApp, { user }: TestPerson) =>
  addPasskey(app.ctx.db, app.clock.now(), {
    userId: user.id,
    name: 'Laptop',
    credentialId: `credential-of-${user.id}`,
    publicKey: Buffer.from('key'),
    counter: 0,
    transports: [],
  })

test(
  'an identity is the issuer and the subject, whatever its e-mail',
  verifies('sso.identity-by-issuer-and-subject'),
  async ({ startApp }) => {
    const [a, b] = [await startIssuer(), await startIssuer()]
    const open = { sign_up: 'yes', allowed_domains: ['example.com'] }
    const app = await startApp(ssoSettings({ issuer: a, ...open }, { issuer: b, ...open }))
    for (const issuer of [a, b]) issuer.now = () => app.clock.now()
    const first = await new SsoBrowser(app).signIn(a, a.person({ sub: 'same', email: 'one@example.com' }))
    const again = await new SsoBrowser(app).signIn(a, a.person({ sub: 'same', email: 'two@example.com' }))
    const user = await meOf(app, first.token)
    expect(user.email).toBe('one@example.com')
    expect(await meOf(app, again.token)).toEqual(user)
    const other = b.person({ sub: 'same', email: 'three@example.com' })
    const theirs = await new SsoBrowser(app).signIn(b, other, {}, 'company-2')
    expect((await meOf(app, theirs.token)).id).not.toBe(user.id)
  },
)

describe('an address that the issuer does not confirm', () => {
  for (const [what, email_verified] of [
    ['missing', undefined],
    ['false', false],
    ['a text', 'true'],
    ['a number', 1],
  ] as const) {
    test(what, verifies('sso.email-unverified-never-links'), async ({ startApp }) => {
      const { app, issuer, browser } = await ssoScene(startApp)
      const { user } = await app.person()
      for (const email of [user.email, 'new@example.com']) {
        const person = issuer.person({ email, email_verified })
        await expectRefusal(app, problem('sso_email_unverified'), () => browser().signIn(issuer, person))
      }
    })
  }

  test('counts as confirmed if the operator says so', async ({ startApp }) => {
    const { issuer, browser } = await ssoScene(startApp, { allowed_domains: ['example.com'], email_is_verified: true })
    expect((await browser().signIn(issuer, issuer.person({ email_verified: undefined }))).token).toBeDefined()
  })

  test('is refused with letters that look or fold alike', async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    // The Kelvin sign becomes a k in lower case.
    const person = issuer.person({ email: '\u212Aim@example.com' })
    await expectRefusal(app, problem('sso_not_allowed'), () => browser().signIn(issuer, person))
  })
})

test(
  'links an account only within the exact allowed domain',
  verifies('sso.link-needs-allowed-domain'),
  async ({ startApp }) => {
    const open = await ssoScene(startApp, { sign_up: 'yes' })
    const existing = await open.app.person()
    const person = open.issuer.person({ email: existing.user.email })
    await expectRefusal(open.app, problem('sso_link_first'), () => open.browser().signIn(open.issuer, person))

    const strict = await ssoScene(startApp)
    const { user } = await strict.app.person()
    for (const email of [user.email.replace('@', '@sub.'), user.email.replace('example.com', 'notexample.com')]) {
      await strict.app.ctx.db.run(sql`update users set email = ${email} where id = ${user.id}`)
      await expectRefusal(strict.app, problem('sso_not_allowed'), () =>
        strict.browser().signIn(strict.issuer, strict.issuer.person({ email })),
      )
    }
    await strict.app.ctx.db.run(sql`update users set email = ${user.email} where id = ${user.id}`)
    const upper = strict.issuer.person({ email: user.email.toUpperCase() })
    expect((await meOf(strict.app, (await strict.browser().signIn(strict.issuer, upper)).token)).id).toBe(user.id)
  },
)

test(
  'links no second subject of the same provider by e-mail',
  verifies('sso.link-second-subject-refused'),
  async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    const owner = await app.person()
    await verify(app, owner)
    await browser().signIn(issuer, issuer.person({ sub: 'first', email: owner.user.email }))
    await expectRefusal(app, problem('sso_link_first'), () =>
      browser().signIn(issuer, issuer.person({ sub: 'second', email: owner.user.email })),
    )
    expect(await identitiesOf(app, owner)).toEqual([{ subject: 'first' }])
  },
)

test(
  'does not link a verified account that has a passkey',
  verifies('sso.link-passkey-account-refused'),
  async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    const owner = await app.person()
    await verify(app, owner)
    await addPasskeyTo(app, owner)
    await expectRefusal(app, problem('sso_link_first'), () =>
      browser().signIn(issuer, issuer.person({ email: owner.user.email })),
    )
  },
)

test(
  'takes everything from an account that registered the address without verifying it',
  verifies('sso.link-unverified-account-cleans'),
  async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    const attacker = await app.person()
    const { body: workspace } = await attacker.post('/workspaces', { name: 'Trap' })
    const program = await programOf(app, within(attacker, workspace.id), workspace.id)
    const { db } = app.ctx
    const now = app.clock.now()
    const { id: userId } = attacker.user
    await addPasskeyTo(app, attacker)
    await addIdentity(db, now, { userId, providerId: 'other', issuer: 'https://other', subject: 'x', email: null })
    await db.run(sql`
      insert into personal_tokens (id, workspace_id, user_id, name, token_hash, scopes, expires_at, created_at)
      values ('pat_1', ${workspace.id}, ${userId}, 'Token', '\\x00', '{read}', ${new Date(now.getTime() + 1e9)}, ${now})`)
    await db.run(sql`
      insert into account_links (token_hash, user_id, kind, email, created_at, expires_at)
      values ('\\x01', ${userId}, 'reset', ${attacker.user.email}, ${now}, ${new Date(now.getTime() + 1e9)})`)

    const { token } = await browser().signIn(issuer, issuer.person({ email: attacker.user.email }))
    const owner = app.anonymous.with({ authorization: `Bearer ${token}` })
    expect((await owner.get('/auth/account')).body).toMatchObject({
      email: attacker.user.email,
      email_verified: true,
      has_password: false,
      passkeys: 0,
      identities: [{ provider_id: 'company' }],
    })
    expect(await isIn(attacker)).toBe(false)
    const withProgram = { authorization: `Bearer ${program}`, 'x-workspace-id': workspace.id }
    expect((await app.anonymous.get('/issues', { headers: withProgram })).status).toBe(401)
    const { email } = attacker.user
    expect((await app.anonymous.post('/auth/sign-in', { email, password: attacker.password })).status).toBe(401)
    for (const table of [sql`personal_tokens`, sql`account_links`, sql`passkeys`]) {
      expect(await db.rows(sql`select 1 from ${table} where user_id = ${userId}`)).toEqual([])
    }
  },
)

test(
  'keeps password and logins of a verified account',
  verifies('sso.link-verified-account-keeps'),
  async ({ startApp, smtp }) => {
    const { app, issuer, browser } = await ssoScene(startApp, { allowed_domains: ['example.com'] }, smtp.env)
    const { owner } = await app.workspace()
    await verify(app, owner)
    const { token } = await browser().signIn(issuer, issuer.person({ email: owner.user.email }))
    expect((await meOf(app, token)).id).toBe(owner.user.id)
    expect(await isIn(owner)).toBe(true)
    const { email } = owner.user
    expect((await app.anonymous.post('/auth/sign-in', { email, password: owner.password })).status).toBe(200)
    const { body } = await owner.get('/audit-log?action=identity.linked')
    expect(body.data).toMatchObject([{ subject_id: owner.user.id, details: { provider: 'company' } }])
    const mails = await app.ctx.db.rows<{ data: object }>(sql`select data from mails where kind = 'security'`)
    expect(mails).toEqual([{ data: { event: 'identity_added', name: 'Company' } }])
  },
)

describe('a signed-in user', () => {
  test('links an identity', verifies('sso.link-signed-in'), async ({ startApp }) => {
    const { app, issuer } = await ssoScene(startApp, {})
    const owner = await app.person()
    const browser = new SsoBrowser(app, owner.token)
    const person = issuer.person({ email: 'elsewhere@other.example', email_verified: false })
    const end = await browser.signIn(issuer, person, { purpose: 'link', next: '/account' })
    expect(end).toMatchObject({ status: 303, location: '/account', token: undefined })
    expect((await owner.get('/auth/account')).body).toMatchObject({
      email: owner.user.email,
      identities: [{ provider_id: 'company', email: 'elsewhere@other.example' }],
    })
    expect((await meOf(app, (await new SsoBrowser(app).signIn(issuer, person)).token)).id).toBe(owner.user.id)

    const other = await app.person()
    await expectRefusal(app, '/account?problem=sso_in_use', () =>
      new SsoBrowser(app, other.token).signIn(issuer, person, { purpose: 'link' }),
    )
    expect(await identitiesOf(app, other)).toEqual([])
  })

  test('needs a recent login, and the same one at the end', verifies('sso.link-signed-in'), async ({ startApp }) => {
    const { app, issuer } = await ssoScene(startApp, {})
    const [owner, other] = [await app.person(), await app.person()]
    expect(await app.unchanged(() => app.anonymous.post('/auth/sso/company', { purpose: 'link' }))).toMatchObject({
      status: 401,
    })
    const browser = new SsoBrowser(app, owner.token)
    const { redirectTo } = await browser.begin({ purpose: 'link' })
    const parameters = issuer.authorize(redirectTo, issuer.person())
    browser.cookies.set('baton_session', other.token)
    await expectRefusal(app, '/account?problem=sso_expired', () => browser.finish(parameters))
    app.clock.advance({ minutes: 15 })
    const refused = await app.unchanged(() => new SsoBrowser(app, owner.token).begin({ purpose: 'link' }))
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'REAUTH_REQUIRED', details: { methods: ['password'] } },
    })
  })

  test('removes an identity', async ({ startApp }) => {
    const { app, issuer } = await ssoScene(startApp, {})
    const { owner, admin } = await app.workspace()
    await new SsoBrowser(app, owner.token).signIn(issuer, issuer.person(), { purpose: 'link' })
    const [identity] = (await owner.get('/auth/account')).body.identities
    expect((await app.unchanged(() => admin.delete(`/auth/identities/${identity.id}`))).status).toBe(404)
    expect((await owner.delete(`/auth/identities/${identity.id}`)).status).toBe(204)
    expect((await owner.get('/auth/account')).body.identities).toEqual([])
    expect((await admin.get('/audit-log?action=identity.unlinked')).body.data).toHaveLength(1)
  })
})

describe('confirming the identity', () => {
  const reauth = { purpose: 'reauth', next: '/account' }
  const recent = async (app: TestApp, token: string) =>
    (await new SsoBrowser(app, token).begin({ purpose: 'link' })).status === 200

  test('asks for a new sign-in at the provider', verifies('reauth.by-sso-fresh'), async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    const [person, stranger] = [issuer.person(), issuer.person()]
    const token = (await browser().signIn(issuer, person)).token as string
    await browser().signIn(issuer, stranger)
    const confirm = (who = person) => new SsoBrowser(app, token).signIn(issuer, who, reauth)
    app.clock.advance({ minutes: 16 })
    expect(await recent(app, token)).toBe(false)
    const { redirectTo } = await new SsoBrowser(app, token).begin(reauth)
    expect(new URL(redirectTo).searchParams.get('prompt')).toBe('login')

    const seconds = Math.floor(app.clock.now().getTime() / 1000)
    for (const [auth_time, works] of [
      [undefined, false],
      [seconds - 301, false],
      [String(seconds), false],
      [seconds - 300, true],
    ] as const) {
      issuer.behaviour = { claims: { auth_time } }
      if (works) expect(await confirm()).toMatchObject({ location: '/account', token: undefined })
      else await expectRefusal(app, '/account?problem=sso_failed', confirm)
      expect(await recent(app, token)).toBe(works)
    }
    app.clock.advance({ minutes: 16 })
    issuer.behaviour = {}
    await expectRefusal(app, '/account?problem=sso_in_use', () => confirm(stranger))
    expect(await recent(app, token)).toBe(false)
  })
})

describe('a person without an account', () => {
  const cases: [sign_up: string, signup: 'open' | 'invite', invited: boolean, works: boolean][] = [
    ['yes', 'invite', false, true],
    ['invited', 'invite', false, false],
    ['invited', 'invite', true, true],
    ['invited', 'open', false, true],
    ['no', 'open', true, false],
  ]
  for (const [sign_up, signup, invited, works] of cases) {
    test(
      `${works ? 'gets' : 'does not get'} one with sign_up ${sign_up}, sign-up ${signup}${invited ? ', invited' : ''}`,
      verifies('sso.sign-up-rule'),
      async ({ startApp }) => {
        const { app, issuer, browser } = await ssoScene(startApp, { sign_up }, { BATON_SIGNUP: signup })
        const first = await app.anonymous.post('/auth/sign-up', {
          email: 'first@example.com',
          password: 'a password',
          name: 'First',
        })
        const owner = app.anonymous.with({ authorization: `Bearer ${first.body.token}` })
        const { body: workspace } = await owner.post('/workspaces', { name: 'Acme' })
        const person = issuer.person()
        if (invited) {
          const invitation = { email: person.email, role: 'member' }
          await owner.with({ 'x-workspace-id': workspace.id }).post('/workspaces/me/invitations', invitation)
        }
        if (works) expect((await browser().signIn(issuer, person)).token).toBeDefined()
        else await expectRefusal(app, problem('sso_no_account'), () => browser().signIn(issuer, person))
      },
    )
  }

  test('gets one without a password', verifies('sso.account-without-password'), async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    const person = issuer.person({ name: '\u202E' })
    const { token } = await browser().signIn(issuer, person)
    const owner = app.anonymous.with({ authorization: `Bearer ${token}` })
    expect((await owner.get('/auth/account')).body).toMatchObject({
      has_password: false,
      email_verified: true,
      // The name of the claim has hidden characters only.
      display_name: (person.email as string).split('@')[0],
    })
    for (const password of ['', 'a password', 'null']) {
      const refused = await app.unchanged(() => app.anonymous.post('/auth/sign-in', { email: person.email, password }))
      expect(refused).toMatchObject({ status: 401, body: { code: 'INVALID_CREDENTIALS' } })
    }
  })
})

describe('domains and groups', () => {
  const notAllowed: [what: string, settings: object, change: object, ...ids: RequirementId[]][] = [
    [
      'another domain',
      { allowed_domains: ['example.com'] },
      { email: 'left@other.example' },
      'sso.domain-and-group-at-every-sign-in',
    ],
    ['no group', { allowed_groups: ['staff'] }, { groups: [] }, 'sso.domain-and-group-at-every-sign-in'],
    ['another group', { allowed_groups: ['staff'] }, { groups: ['guests'] }, 'sso.domain-and-group-at-every-sign-in'],
    ['a missing claim', { allowed_groups: ['staff'] }, { groups: undefined }, 'sso.group-claim-shape'],
    ['a text', { allowed_groups: ['staff'] }, { groups: 'staff' }, 'sso.group-claim-shape'],
    ['an object', { allowed_groups: ['staff'] }, { groups: { staff: true } }, 'sso.group-claim-shape'],
    ['a list of mixed values', { allowed_groups: ['staff'] }, { groups: ['staff', 5] }, 'sso.group-claim-shape'],
    [
      'an overage hint',
      { allowed_groups: ['staff'] },
      { groups: undefined, _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph' } } },
      'sso.group-claim-shape',
    ],
    [
      'the short overage hint',
      { allowed_groups: ['staff'] },
      { groups: undefined, hasgroups: true },
      'sso.group-claim-shape',
    ],
  ]
  for (const [what, settings, change, ...ids] of notAllowed) {
    test(`apply at every sign-in: ${what}`, verifies(...ids), async ({ startApp }) => {
      const { app, issuer, browser } = await ssoScene(startApp, settings as Record<string, unknown>)
      const person = issuer.person({ groups: ['everyone', 'staff'] })
      const { token } = await browser().signIn(issuer, person)
      const colleague = await browser().signIn(issuer, issuer.person({ groups: ['staff'] }))
      expect((await meOf(app, token)).email).toBe(person.email)
      const end = await browser().signIn(issuer, { ...person, ...change })
      expect(end).toMatchObject({ location: problem('sso_not_allowed'), token: undefined })
      // Their logins end, those of others do not.
      expect(await meOf(app, token)).toBeUndefined()
      expect(await meOf(app, colleague.token)).toBeDefined()
    })
  }

  test('read a missing group claim from UserInfo, in the claim that is configured', async ({ startApp }) => {
    const { issuer, browser } = await ssoScene(startApp, { allowed_groups: ['staff'], groups_claim: 'roles' })
    const person = issuer.person()
    issuer.behaviour = { userInfo: { sub: person.sub, roles: ['staff'] } }
    expect((await browser().signIn(issuer, person)).token).toBeDefined()
    issuer.behaviour = { userInfo: { sub: person.sub, groups: ['staff'] } }
    expect((await browser().signIn(issuer, person)).location).toBe(problem('sso_not_allowed'))
  })
})

test('joins workspaces once', verifies('sso.join-once'), async ({ startApp }) => {
  const { app, issuer } = await ssoScene(startApp)
  const [one, two] = [await app.workspace('One'), await app.workspace('Two')]
  const [provider] = app.ctx.config.sso.providers
  provider?.join.push(
    { workspaceId: one.id, role: 'admin' },
    { workspaceId: two.id, role: 'member' },
    { workspaceId: 'wsp_00000000000000000000000000', role: 'member' },
  )
  // An owner of the second workspace keeps the role.
  await verify(app, two.owner)
  await new SsoBrowser(app).signIn(issuer, issuer.person({ email: two.owner.user.email }))
  const person = issuer.person()
  const { token } = await new SsoBrowser(app).signIn(issuer, person)
  const rolesOf = async (token: string | undefined) => {
    const { body } = await app.anonymous.get('/auth/me', { headers: { authorization: `Bearer ${token}` } })
    return Object.fromEntries(body.workspaces.map(({ id, role }: { id: string; role: string }) => [id, role]))
  }
  expect(await rolesOf(token)).toEqual({ [one.id]: 'admin', [two.id]: 'member' })
  expect(await rolesOf(two.owner.token)).toEqual({ [one.id]: 'admin', [two.id]: 'owner' })
  expect((await one.owner.get('/audit-log?action=member.joined')).body.data).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ details: { role: 'admin', provider: 'company' } })]),
  )
  const user = await meOf(app, token)
  await one.owner.delete(`/workspaces/me/members/${user.id}`)
  await two.owner.patch(`/workspaces/me/members/${user.id}`, { role: 'admin' })
  const again = await new SsoBrowser(app).signIn(issuer, person)
  expect(await rolesOf(again.token)).toEqual({ [two.id]: 'admin' })
})

test(
  'an address that an account can get back is not given to a new one',
  verifies('account.change-email-undo'),
  async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    const { user } = await app.person()
    const now = app.clock.now()
    const link = { userId: user.id, kind: 'undo' as const, email: 'earlier@example.com' }
    const { token } = await app.ctx.db.tx((tx) => createLink({ tx, now }, link))
    const person = issuer.person({ email: link.email })
    await expectRefusal(app, '/sign-in?problem=sso_link_first', () => browser().signIn(issuer, person))
    expect((await app.anonymous.post('/auth/email/undo', { token })).status).toBe(204)
    // The address is in use from the start.
    const other = await app.person()
    const taken = await app.ctx.db.tx((tx) => createLink({ tx, now }, { ...link, email: other.user.email }))
    const refused = await app.unchanged(() => app.anonymous.post('/auth/email/undo', { token: taken.token }))
    expect(refused.status).toBe(404)
  },
)
