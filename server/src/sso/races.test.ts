import { expect } from 'vitest'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { overtake } from '../../test/races.ts'
import { SsoBrowser, ssoScene } from '../../test/sso.ts'
import { sql } from '../db/sql.ts'

test(
  'of two callbacks with the same state one signs in',
  verifiesOnPostgres('sso.attempt-single-use'),
  async ({ startApp }) => {
    const { issuer, browser } = await ssoScene(startApp)
    const visitor = browser()
    const { redirectTo } = await visitor.begin()
    const parameters = issuer.authorize(redirectTo, issuer.person())
    const ends = await Promise.all([visitor.finish(parameters), visitor.finish(parameters)])
    expect(ends.filter(({ token }) => token)).toHaveLength(1)
    expect(ends.filter(({ location }) => location.endsWith('sso_expired'))).toHaveLength(1)
  },
)

test(
  'two first sign-ins of one person create one account',
  verifiesOnPostgres('sso.identity-by-issuer-and-subject', 'sso.join-once'),
  async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    const person = issuer.person()
    const started = await Promise.all(
      [browser(), browser(), browser()].map(async (visitor) => ({ visitor, ...(await visitor.begin()) })),
    )
    const ends = await Promise.all(
      started.map(({ visitor, redirectTo }) => visitor.finish(issuer.authorize(redirectTo, person))),
    )
    expect(ends.filter(({ token }) => token)).toHaveLength(3)
    expect(await app.ctx.db.rows(sql`select 1 from users where email = ${person.email}`)).toHaveLength(1)
  },
)

test(
  'a first sign-in finds the identity that another one of the person adds meanwhile',
  verifiesOnPostgres('sso.identity-by-issuer-and-subject'),
  async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    const person = issuer.person()
    await browser().signIn(issuer, person)
    await app.ctx.db.run(sql`update sso_identities set subject = 'not yet'`)
    const end = await overtake(
      app,
      sql`select 1 from users where email = ${person.email} for update`,
      () => browser().signIn(issuer, person),
      [sql`update sso_identities set subject = ${person.sub}`],
    )
    expect(end).toMatchObject({ location: '/', token: expect.any(String) })
    expect(await app.ctx.db.rows(sql`select 1 from sso_identities`)).toHaveLength(1)
  },
)

test(
  'two subjects that claim one unverified account do not both get it',
  verifiesOnPostgres('sso.link-second-subject-refused'),
  async ({ startApp }) => {
    const { app, issuer } = await ssoScene(startApp)
    const { user } = await app.person()
    const ends = await Promise.all(
      ['first', 'second'].map((sub) => new SsoBrowser(app).signIn(issuer, issuer.person({ sub, email: user.email }))),
    )
    expect(ends.filter(({ token }) => token)).toHaveLength(1)
    expect(await app.ctx.db.rows(sql`select 1 from sso_identities where user_id = ${user.id}`)).toHaveLength(1)
  },
)

test(
  'an identity that is removed meanwhile starts no login',
  verifiesOnPostgres('reset.unverified-account-cleans'),
  async ({ startApp }) => {
    const { app, issuer, browser } = await ssoScene(startApp)
    const person = issuer.person()
    await browser().signIn(issuer, person)
    const user = sql`(select id from users where email = ${person.email})`
    const end = await overtake(
      app,
      sql`select 1 from users where id = ${user} for update`,
      () => browser().signIn(issuer, person),
      [sql`delete from sso_identities where user_id = ${user}`, sql`delete from logins where user_id = ${user}`],
    )
    expect(end).toMatchObject({ location: '/sign-in?problem=sso_no_account', token: undefined })
    expect(await app.ctx.db.rows(sql`select 1 from logins where user_id = ${user}`)).toEqual([])
  },
)

test(
  'a login that ends meanwhile links no identity',
  verifiesOnPostgres('sso.link-signed-in'),
  async ({ startApp }) => {
    const { app, issuer } = await ssoScene(startApp)
    const { user, token } = await app.person()
    const end = await overtake(
      app,
      sql`select 1 from users where id = ${user.id} for update`,
      () => new SsoBrowser(app, token).signIn(issuer, issuer.person(), { purpose: 'link' }),
      [sql`delete from logins where user_id = ${user.id}`],
    )
    expect(end.location).toBe('/account?problem=sso_expired')
    expect(await app.ctx.db.rows(sql`select 1 from sso_identities where user_id = ${user.id}`)).toEqual([])
  },
)
