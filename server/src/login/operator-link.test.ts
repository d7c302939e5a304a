import { randomBytes } from 'node:crypto'
import { describe, expect } from 'vitest'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { signInStatus } from '../../test/mailed.ts'
import { plus } from '../clock.ts'
import { Keyring } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { signOperatorLink } from './operator-link.ts'

const confirm = (app: TestApp, token: string, new_password = 'a new password') =>
  app.anonymous.post('/auth/password-reset/confirm', { token, new_password })
const linkFor = (app: TestApp, { user }: TestPerson, keys = app.ctx.keys) =>
  signOperatorLink(keys, { email: user.email, issuedAt: app.clock.now() })

describe("the operator's link", () => {
  test('sets a password once within one hour, without mail', verifies('reset.operator-link'), async ({ app }) => {
    const [ada, bob, eve] = [await app.person(), await app.person(), await app.person()]
    const [first, second, third] = [linkFor(app, ada), linkFor(app, bob), linkFor(app, eve)]
    expect((await confirm(app, first)).status).toBe(204)
    expect(await signInStatus(app, ada.user.email, 'a new password')).toBe(200)
    expect((await ada.get('/auth/me')).status).toBe(401)
    // It proves nothing about the mailbox.
    const row = await app.ctx.db.row(sql`select email_verified_at from users where id = ${ada.user.id}`)
    expect(row).toEqual({ email_verified_at: null })
    app.clock.advance({ minutes: 59, seconds: 59, milliseconds: 999 })
    expect((await confirm(app, second)).status).toBe(204)
    app.clock.advance({ milliseconds: 1 })
    await app.unchanged(async () => expect((await confirm(app, third)).status).toBe(404))
  })

  test(
    'of another key, for another address or used before is refused',
    verifies('reset.operator-link-key'),
    async ({ app }) => {
      const [ada, eve] = [await app.person(), await app.person()]
      const link = linkFor(app, ada)
      const [prefix = '', content = '', mac = ''] = link.split('.')
      const forEve = linkFor(app, eve).split('.')[1]
      const moved = Buffer.from(
        Buffer.from(content, 'base64url').toString().replace(ada.user.email, eve.user.email),
      ).toString('base64url')
      await app.unchanged(async () => {
        for (const token of [
          linkFor(app, ada, new Keyring(randomBytes(32))),
          `${prefix}.${forEve}.${mac}`,
          `${prefix}.${moved}.${mac}`,
          `${prefix}.${content}.`,
          `${prefix}.${content}`,
          `${prefix}..${mac}`,
          `${link}.x`,
          `${link}A`,
          signOperatorLink(app.ctx.keys, { email: 'nobody@example.com', issuedAt: app.clock.now() }),
        ]) {
          expect(await confirm(app, token)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
        }
      })
      expect((await confirm(app, link)).status).toBe(204)
      await app.unchanged(async () => expect((await confirm(app, link, 'once more')).status).toBe(404))
      expect(await signInStatus(app, eve.user.email, eve.password)).toBe(200)
    },
  )

  test('of a clock that is ahead works once, too', async ({ app }) => {
    const ada = await app.person()
    const token = signOperatorLink(app.ctx.keys, { email: ada.user.email, issuedAt: plus(app.clock.now(), 30_000) })
    expect((await confirm(app, token)).status).toBe(204)
    app.clock.advance({ seconds: 10 })
    await app.unchanged(async () => expect((await confirm(app, token)).status).toBe(404))
  })

  test(
    'ends with a changed password, a changed e-mail and a newer account',
    verifies('reset.newest-only'),
    async ({ app }) => {
      const [ada, eve] = [await app.person(), await app.person()]
      const [first, second] = [linkFor(app, ada), linkFor(app, eve)]
      expect((await ada.put('/auth/password', { new_password: 'set by hand' })).status).toBe(204)
      const old = eve.user.email
      expect((await eve.post('/auth/email', { email: `moved-${old}` })).status).toBe(202)
      app.clock.advance({ seconds: 1 })
      await app.anonymous.post('/auth/sign-up', { email: old, password: 'a password', name: 'Another' })
      await app.unchanged(async () => {
        for (const token of [first, second]) expect((await confirm(app, token)).status).toBe(404)
      })
      app.clock.advance({ seconds: 1 })
      expect((await confirm(app, linkFor(app, ada))).status).toBe(204)
    },
  )
})
