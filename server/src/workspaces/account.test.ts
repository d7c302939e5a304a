import { describe, expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { programOf } from '../../test/oauth.ts'
import { change, mark, watching } from '../../test/watch.ts'

describe('the account', () => {
  test('has the settings of the caller, and of no other person', verifies('account.read'), async ({ app }) => {
    const { owner, member } = await app.workspace()
    await member.patch('/auth/account', { time_zone: 'Asia/Tokyo' })
    expect(await owner.get('/auth/account')).toMatchObject({ status: 200 })
    expect((await owner.get('/auth/account')).body).toEqual({
      display_name: owner.user.display_name,
      email: owner.user.email,
      email_verified: false,
      pending_email: null,
      has_password: true,
      time_zone: 'UTC',
      mail_problem: null,
      identities: [],
      passkeys: 0,
    })
  })

  test('needs a login', async ({ app }) => {
    const { owner, member, id } = await app.workspace()
    const robot = await app.installed(owner)
    const token = await programOf(app, member, id)
    const program = app.anonymous.with({ authorization: `Bearer ${token}` })
    expect((await app.anonymous.get('/auth/account')).status).toBe(401)
    for (const caller of [robot, program]) {
      expect(await caller.get('/auth/account')).toMatchObject({ status: 403, body: { code: 'SESSION_ONLY_ROUTE' } })
      const refused = await app.unchanged(() => caller.patch('/auth/account', { display_name: 'Other' }))
      expect(refused).toMatchObject({ status: 403, body: { code: 'SESSION_ONLY_ROUTE' } })
    }
  })

  test(
    'takes a new name and a new time zone, each alone or both',
    verifies('account.change-name-and-zone'),
    async ({ app }) => {
      const { owner, member } = await app.workspace()
      const before = (await owner.get('/auth/account')).body
      const renamed = await owner.patch('/auth/account', { display_name: ' Grace Hopper ' })
      expect(renamed).toMatchObject({ status: 200, body: { ...before, display_name: 'Grace Hopper' } })
      for (const time_zone of ['Europe/Zurich', 'America/Argentina/Ushuaia', 'UTC', 'Asia/Kolkata']) {
        const { body } = await owner.patch('/auth/account', { time_zone })
        expect(body).toEqual({ ...before, display_name: 'Grace Hopper', time_zone })
      }
      const both = { display_name: 'x'.repeat(80), time_zone: 'Asia/Tokyo' }
      expect((await owner.patch('/auth/account', both)).body).toEqual({ ...before, ...both })
      expect((await owner.patch('/auth/account', {})).body).toEqual({ ...before, ...both })
      expect((await owner.get('/auth/me')).body.user.display_name).toBe(both.display_name)
      const names = (await member.get('/workspaces/me/members')).body.data
      expect(names).toContainEqual(expect.objectContaining({ id: owner.user.id, display_name: both.display_name }))
      expect((await member.get('/auth/account')).body).toMatchObject({ time_zone: 'UTC' })
    },
  )

  test('refuses other values, and changes nothing', verifies('account.change-name-and-zone'), async ({ app }) => {
    const { owner } = await app.workspace()
    for (const [body, field] of [
      [{ display_name: '' }, 'display_name'],
      [{ display_name: ' ' }, 'display_name'],
      [{ display_name: 'x'.repeat(81) }, 'display_name'],
      [{ display_name: 'Ba\u200Bton' }, 'display_name'],
      [{ display_name: 'Ｂaton' }, 'display_name'],
      [{ display_name: null }, 'display_name'],
      [{ time_zone: 'Mars/Olympus', display_name: 'New' }, 'time_zone'],
      [{ time_zone: '+01:00' }, 'time_zone'],
      [{ time_zone: '' }, 'time_zone'],
      [{ time_zone: 'x'.repeat(65) }, 'time_zone'],
      [{ email: 'new@example.com' }, 'email'],
    ] as const) {
      const refused = await app.unchanged(() => owner.patch('/auth/account', body))
      expect(refused, JSON.stringify(body)).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      expect(Object.keys(refused.body.details)).toEqual([field])
    }
  })

  test('sends a new name to the browsers of all workspaces of the person', async ({ app }) => {
    const { owner, member, id } = await app.workspace()
    const other = await app.workspace()
    const [here, there] = [await watching(member), await watching(other.owner)]
    await owner.patch('/auth/account', { display_name: 'Grace' })
    expect(await here.next()).toEqual(change('Workspace', id, 'update'))
    await owner.patch('/auth/account', { time_zone: 'Asia/Tokyo' })
    const [ours, theirs] = [await mark(owner), await mark(other.owner)]
    expect(await here.next()).toEqual(ours)
    expect(await there.next()).toEqual(theirs)
  })
})
