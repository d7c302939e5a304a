import { describe, expect } from 'vitest'
import { type TestPerson, test, verifies, within } from '../../test/harness.ts'
import { secondLogin } from '../../test/mailed.ts'
import { watching } from '../../test/watch.ts'
import { shortNetwork } from './logins.ts'

describe('the list of logins', () => {
  test('shows the logins of the caller, newest first', verifies('account.logins-listed'), async ({ app }) => {
    const ada = await app.person()
    const eve = await app.person()
    const createdAt = app.clock.now().toISOString()
    app.clock.advance({ minutes: 5 })
    const client = `Mozilla/5.0 ${'x'.repeat(300)}`
    const second = await secondLogin(app, ada, { 'user-agent': client })
    const usedAt = app.clock.now().toISOString()
    const { status, body } = await second.get('/auth/logins')
    expect(status).toBe(200)
    expect(body).toEqual({
      data: [
        {
          id: expect.stringMatching(/^lgn_[0-9a-hjkmnp-tv-z]{26}$/),
          current: true,
          method: 'password',
          provider_id: null,
          client: client.slice(0, 200),
          network: '127.0.0.0/24',
          created_at: usedAt,
          last_used_at: usedAt,
        },
        {
          id: expect.stringMatching(/^lgn_/),
          current: false,
          method: 'sign_up',
          provider_id: null,
          client: null,
          network: null,
          created_at: createdAt,
          last_used_at: createdAt,
        },
      ],
      next_cursor: null,
    })
    const shown = JSON.stringify(body)
    for (const secret of [ada.token, second.token, '127.0.0.1']) expect(shown).not.toContain(secret)
    expect((await eve.get('/auth/logins')).body.data).toHaveLength(1)
  })

  test('has pages', async ({ app }) => {
    const ada = await app.person()
    // Some begin in the same millisecond.
    for (const wait of [0, 0, 1, 0]) {
      app.clock.advance({ milliseconds: wait })
      await secondLogin(app, ada)
    }
    const all = (await ada.get('/auth/logins')).body.data.map(({ id }: { id: string }) => id)
    expect(new Set(all).size).toBe(5)
    const paged: string[] = []
    let cursor = ''
    do {
      const { body } = await ada.get(`/auth/logins?limit=2${cursor && `&cursor=${cursor}`}`)
      paged.push(...body.data.map(({ id }: { id: string }) => id))
      cursor = body.next_cursor ?? ''
    } while (cursor)
    expect(paged).toEqual(all)
  })

  test('shows the network without the part that identifies a device', () => {
    expect(shortNetwork('203.0.113.77')).toBe('203.0.113.0/24')
    expect(shortNetwork('::ffff:203.0.113.77')).toBe('203.0.113.0/24')
    expect(shortNetwork('2001:db8:12:3456::9')).toBe('2001:db8:12::/48')
    expect(shortNetwork('not an address')).toBeNull()
  })
})

const identityOf = ({ user, password, workspaceId }: TestPerson) => ({ user, password, workspaceId })

test(
  'ending a login refuses its next request and ends its streams; another user cannot',
  verifies('account.login-ended'),
  async ({ app }) => {
    const { id, member, owner } = await app.workspace()
    const { token } = await secondLogin(app, member)
    const second = within(
      Object.assign(app.anonymous.with({ authorization: `Bearer ${token}` }), { ...identityOf(member), token }),
      id,
    )
    const stream = await watching(second)
    const logins = (await member.get('/auth/logins')).body.data as { id: string; current: boolean }[]
    const other = logins.find(({ current }) => !current)?.id ?? ''
    await app.unchanged(async () => {
      for (const login of [other, 'lgn_x', other.replace('lgn_', 'usr_'), `${other.slice(0, -1)}!`]) {
        expect(await owner.delete(`/auth/logins/${login}`)).toMatchObject({ status: 404 })
      }
      expect((await second.get('/auth/me')).status).toBe(200)
    })
    expect((await member.delete(`/auth/logins/${other}`)).status).toBe(204)
    expect((await second.get('/auth/me')).status).toBe(401)
    await owner.post('/teams', { name: 'After', key: 'AFT' })
    expect(await stream.take(1)).toEqual([undefined])
    expect((await member.delete(`/auth/logins/${other}`)).status).toBe(404)
    expect((await member.get('/auth/me')).status).toBe(200)
  },
)

test('ending the others keeps the current login', verifies('account.end-others'), async ({ app }) => {
  const [ada, eve] = [await app.person(), await app.person()]
  const others = [await secondLogin(app, ada), await secondLogin(app, ada)]
  expect((await ada.post('/auth/logins/end-others')).status).toBe(204)
  for (const other of others) expect((await other.get('/auth/me')).status).toBe(401)
  expect([(await ada.get('/auth/me')).status, (await eve.get('/auth/me')).status]).toEqual([200, 200])
  expect((await ada.get('/auth/logins')).body.data).toMatchObject([{ current: true }])
})
