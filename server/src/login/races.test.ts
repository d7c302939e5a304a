import { describe, expect } from 'vitest'
import { type TestPerson, test, verifiesOnPostgres } from '../../test/harness.ts'
import { test as mailed, mailsTo, tokenFor } from '../../test/mailed.ts'
import { pkce } from '../../test/oauth.ts'
import { overtake } from '../../test/races.ts'
import { sql } from '../db/sql.ts'
import { responsesSettled } from './after-response.ts'
import { addIdentity, removeIdentity } from './methods.ts'
import { signOperatorLink } from './operator-link.ts'

const statuses = async (requests: Promise<{ status: number }>[]) =>
  (await Promise.all(requests)).map(({ status }) => status).sort()

mailed(
  'a reset does its work on the account after the answer, so that its time reveals nothing',
  verifiesOnPostgres('reset.same-answer'),
  async ({ app, mailServer }) => {
    const { user } = await app.person()
    // While another transaction holds the account, a request that touches it before the answer would wait.
    const answered = await app.ctx.db.tx(async (tx) => {
      await tx.row(sql`select 1 from users where id = ${user.id} for update`)
      return fetch(`${app.rootUrl}/api/v1/auth/password-reset`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: user.email }),
      })
    })
    expect(answered.status).toBe(202)
    await responsesSettled(app.ctx)
    expect(await mailsTo(app, mailServer, user.email)).toHaveLength(1)
  },
)

mailed(
  'a reset link works once, also when it is used several times at once',
  verifiesOnPostgres('reset.link-once-and-one-hour'),
  async ({ app, mailServer }) => {
    const { user } = await app.person()
    await app.anonymous.post('/auth/password-reset', { email: user.email })
    const token = await tokenFor(app, mailServer, user.email, '/reset-password')
    const confirm = (n: number) =>
      app.anonymous.post('/auth/password-reset/confirm', { token, new_password: `a new password ${n}` })
    expect(await statuses([1, 2, 3, 4].map(confirm))).toEqual([204, 404, 404, 404])
  },
)

test("an operator's link works once, also at once", verifiesOnPostgres('reset.operator-link-key'), async ({ app }) => {
  const { user } = await app.person()
  const token = signOperatorLink(app.ctx.keys, { email: user.email, issuedAt: app.clock.now() })
  const confirm = (n: number) =>
    app.anonymous.post('/auth/password-reset/confirm', { token, new_password: `a new password ${n}` })
  expect(await statuses([1, 2, 3, 4].map(confirm))).toEqual([204, 404, 404, 404])
})

test('a CLI code is exchanged once, also at once', verifiesOnPostgres('account.cli-login'), async ({ app }) => {
  const person = await app.person()
  const { challenge, verifier } = pkce()
  const { code } = (await person.post('/auth/cli-logins', { challenge, name: 'baton' })).body
  const exchange = () => app.anonymous.post('/auth/cli-logins/exchange', { code, verifier })
  expect(await statuses([1, 2, 3, 4].map(exchange))).toEqual([200, 404, 404, 404])
  expect((await person.get('/auth/logins')).body.data).toHaveLength(2)
})

mailed(
  'requests for links at once leave one valid link',
  verifiesOnPostgres('reset.newest-only'),
  async ({ app, mailServer }) => {
    const person = await app.person()
    const verify = () => person.post('/auth/email/verification')
    expect(await statuses([verify(), verify(), verify()])).toEqual([202, 202, 202])
    const reset = () => app.anonymous.post('/auth/password-reset', { email: person.user.email })
    expect(await statuses([reset(), reset(), reset()])).toEqual([202, 202, 202])
    expect(await mailsTo(app, mailServer, person.user.email)).toHaveLength(2)
    const links = await app.ctx.db.rows<{ kind: string }>(sql`
      select kind from account_links where user_id = ${person.user.id} order by kind`)
    expect(links.map(({ kind }) => kind)).toEqual(['reset', 'verify'])
  },
)

test(
  'the last sign-in method stays when two requests at once remove the last two',
  verifiesOnPostgres('account.last-sign-in-method-race'),
  async ({ app }) => {
    for (let round = 0; round < 5; round++) {
      const person = await app.person()
      const identity = await addIdentity(app.ctx.db, app.clock.now(), {
        userId: person.user.id,
        providerId: 'company',
        issuer: 'https://company.example',
        subject: person.user.id,
        email: null,
      })
      const outcomes = await Promise.allSettled([
        person.delete('/auth/password').then(({ status, body }) => {
          if (status !== 204) throw body
        }),
        app.ctx.db.tx((tx) => removeIdentity(tx, person.user.id, identity)),
      ])
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(refused).toMatchObject([{ reason: { code: 'LAST_SIGN_IN_METHOD' } }])
      const account = (await person.get('/auth/account')).body
      expect(Number(account.has_password) + account.identities.length).toBe(1)
    }
  },
)

describe('a reset that runs meanwhile', () => {
  const lock = ({ user }: TestPerson) => sql`select 1 from users where id = ${user.id} for update`
  const endLogins = ({ user }: TestPerson) => [sql`delete from logins where user_id = ${user.id}`]

  test(
    'leaves the login that it ended no way back in',
    verifiesOnPostgres('reset.ends-everything'),
    async ({ app }) => {
      const requests: [string, (person: TestPerson) => Promise<{ status: number }>][] = [
        ['password', (person) => person.put('/auth/password', { new_password: 'the password of a thief' })],
        ['e-mail', (person) => person.post('/auth/email', { email: `thief-${person.user.id}@example.com` })],
        ['token', (person) => person.post('/personal-tokens', { name: 'Thief', scopes: ['read'] })],
      ]
      for (const [what, request] of requests) {
        const { owner } = await app.workspace()
        const { status } = await app.unchanged(() => overtake(app, lock(owner), () => request(owner), endLogins(owner)))
        expect({ what, status }).toEqual({ what, status: 401 })
      }
    },
  )

  test('ends a program that exchanges its code', verifiesOnPostgres('reset.ends-everything'), async ({ app }) => {
    const person = await app.person()
    const { challenge, verifier } = pkce()
    const { code } = (await person.post('/auth/cli-logins', { challenge, name: 'baton' })).body
    const exchange = () => app.anonymous.post('/auth/cli-logins/exchange', { code, verifier })
    expect((await overtake(app, lock(person), exchange, endLogins(person))).status).toBe(404)
    expect(await app.ctx.db.rows(sql`select 1 from logins where user_id = ${person.user.id}`)).toEqual([])
  })
})
