import type { Program } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { missing, refusal } from '../../test/agent-sessions.ts'
import { type TestApp, test } from '../../test/harness.ts'
import { asApp, connected, token } from '../../test/oauth.ts'

type Tokens = Awaited<ReturnType<typeof connected>>

const refresh = (app: TestApp, { refresh_token, client_id }: Pick<Tokens, 'refresh_token' | 'client_id'>) =>
  token(app, { grant_type: 'refresh_token', refresh_token, client_id })
const invalidGrant = { status: 400, body: { error: 'invalid_grant' } }
const namesOf = (programs: Program[]) => programs.map(({ client_name }) => client_name)

describe('programs that a person connected', () => {
  test('are listed newest first, with workspace, scopes and last use', async ({ startApp }) => {
    const app = await startApp()
    const { id, owner, member } = await app.workspace('Acme')
    const list = async (query = '') => (await member.get(`/auth/programs${query}`)).body
    expect(await list()).toEqual({ data: [], next_cursor: null })
    const first = await connected(app, member, id, 'Editor')
    const created_at = app.clock.now().toISOString()
    await connected(app, member, id, 'Assistant')
    await connected(app, owner, id, 'Of the owner')
    const { data } = await list()
    expect(namesOf(data)).toEqual(['Assistant', 'Editor'])
    expect(data[1]).toEqual({
      id: expect.stringMatching(/^grt_/),
      client_name: 'Editor',
      workspace: { id, name: 'Acme' },
      scopes: ['read', 'write'],
      created_at,
      last_used_at: null,
    })
    const page = await list('?limit=1')
    expect(namesOf([...page.data, ...(await list(`?limit=1&cursor=${page.next_cursor}`)).data])).toEqual([
      'Assistant',
      'Editor',
    ])

    // The last use is stored at most once a minute.
    const program = asApp(app, id, first.access_token)
    const usedAt = async () => (await list()).data[1].last_used_at
    await program.get('/issues')
    const began = app.clock.now().toISOString()
    app.clock.advance({ seconds: 59 })
    await program.get('/issues')
    expect(await usedAt()).toBe(began)
    app.clock.advance({ seconds: 1 })
    await program.get('/issues')
    expect(await usedAt()).toBe(app.clock.now().toISOString())
  })

  test('lose access at once when disconnected, and others keep it', async ({ startApp }) => {
    const app = await startApp()
    const { id, member } = await app.workspace()
    const [kept, ended] = [await connected(app, member, id, 'Kept'), await connected(app, member, id, 'Ended')]
    const newer = { ...ended, ...(await refresh(app, ended)).body }
    const [program] = (await member.get('/auth/programs')).body.data
    expect(program.client_name).toBe('Ended')
    expect((await asApp(app, id, newer.access_token).get('/issues')).status).toBe(200)

    expect((await member.delete(`/auth/programs/${program.id}`)).status).toBe(204)
    for (const { access_token } of [ended, newer]) {
      expect((await asApp(app, id, access_token).get('/issues')).status).toBe(401)
    }
    expect(await refresh(app, newer)).toMatchObject(invalidGrant)
    expect(namesOf((await member.get('/auth/programs')).body.data)).toEqual(['Kept'])
    expect(await app.unchanged(() => member.delete(`/auth/programs/${program.id}`))).toMatchObject(missing)
    expect((await asApp(app, id, kept.access_token).get('/issues')).status).toBe(200)
    expect((await refresh(app, kept)).status).toBe(200)
  })

  test('of another person cannot be listed or disconnected', async ({ startApp }) => {
    const app = await startApp()
    const { id, owner, member } = await app.workspace()
    const tokens = await connected(app, member, id)
    const [program] = (await member.get('/auth/programs')).body.data
    const { owner: stranger } = await app.workspace()
    const robot = await app.installed(owner)
    for (const person of [owner, stranger]) {
      expect(await app.unchanged(() => person.delete(`/auth/programs/${program.id}`))).toMatchObject(missing)
      expect((await person.get('/auth/programs')).body.data).toEqual([])
    }
    // Programs and apps cannot manage programs.
    for (const client of [asApp(app, id, tokens.access_token), robot]) {
      const loginOnly = refusal(403, 'SESSION_ONLY_ROUTE')
      expect(await app.unchanged(() => client.delete(`/auth/programs/${program.id}`))).toMatchObject(loginOnly)
      expect(await client.get('/auth/programs')).toMatchObject(loginOnly)
    }
    expect((await asApp(app, id, tokens.access_token).get('/issues')).status).toBe(200)
    expect((await refresh(app, tokens)).status).toBe(200)
    // The grant of an app is not a program of the manager who installed it.
    expect((await owner.get('/auth/programs')).body.data).toEqual([])
    expect((await robot.get('/issues')).status).toBe(200)
  })

  test('are listed while they have a valid token', async ({ startApp }) => {
    const app = await startApp()
    const { id, owner, member } = await app.workspace()
    const names = async () => namesOf((await member.get('/auth/programs')).body.data)
    const returned = await connected(app, member, id, 'Gave it back')
    await connected(app, member, id, 'Silent')
    await app.anonymous.post('/oauth/revoke', undefined, {
      raw: new URLSearchParams({ token: returned.refresh_token, client_id: returned.client_id }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    // Its access token is still valid, so the program can still be disconnected.
    expect(await names()).toEqual(['Silent', 'Gave it back'])
    app.clock.advance({ hours: 1 })
    expect(await names()).toEqual(['Silent'])
    await member.get('/auth/me')
    app.clock.advance({ days: 29 })
    await member.get('/auth/me')
    app.clock.advance({ days: 29 })
    await member.get('/auth/me')
    app.clock.advance({ days: 29 })
    expect(await names()).toEqual(['Silent'])
    app.clock.advance({ days: 4 })
    expect(await names()).toEqual([])

    await connected(app, member, id, 'Of a member')
    expect(await names()).toEqual(['Of a member'])
    const { body } = await app.anonymous.post('/auth/sign-in', { email: owner.user.email, password: owner.password })
    const manager = app.anonymous.with({ authorization: `Bearer ${body.token}`, 'x-workspace-id': id })
    expect((await manager.delete(`/workspaces/me/members/${member.user.id}`)).status).toBe(204)
    expect(await names()).toEqual([])
  })
})
