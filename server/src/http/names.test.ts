import { describe, expect } from 'vitest'
import { type TestApp, test } from '../../test/harness.ts'
import { minimal } from '../../test/manifest.ts'
import { sql } from '../db/sql.ts'

const hidden = 'Ro\u200Bbot'
const aimed = ['B\u200Baton', 'Robot\u202E', 'Robot\nTwo', hidden]

/** Every call that stores a name of something people meet, with the field that answers name. */
async function calls(app: TestApp) {
  const { owner } = await app.workspace()
  const { body: agent } = await owner.post('/agents/personal', { name: 'Helper', instructions: '' })
  const { body: registered } = await owner.post('/agent-apps', minimal)
  const key = () => `N${Math.floor(Math.random() * 99_999)}`
  const { body: team } = await owner.post('/teams', { name: 'Named', key: key() })
  const { body: label } = await owner.post('/labels', { name: 'Named' })
  const person = (name: string) => ({ name, email: `${crypto.randomUUID()}@example.com`, password: 'a long password' })
  const sends = {
    'a person': (name: string) => app.anonymous.post('/auth/sign-up', person(name)),
    'a workspace': (name: string) => owner.post('/workspaces', { name }),
    'a workspace that is renamed': (name: string) => owner.patch('/workspaces/me', { name }),
    'a team': (name: string) => owner.post('/teams', { name, key: key() }),
    'a team that is renamed': (name: string) => owner.patch(`/teams/${team.id}`, { name }),
    'a label': (name: string) => owner.post('/labels', { name }),
    'a label that is renamed': (name: string) => owner.put(`/labels/${label.id}`, { name }),
    'a personal agent': (name: string) => owner.post('/agents/personal', { name, instructions: '' }),
    'a personal agent that is renamed': (name: string) => owner.patch(`/agents/personal/${agent.id}`, { name }),
    'an app': (name: string) => owner.post('/agent-apps', { ...minimal, name }),
    'an app that is renamed': (name: string) => owner.put(`/agent-apps/${registered.app.id}`, { ...minimal, name }),
    'a developer': (name: string) => owner.post('/agent-apps', { ...minimal, developer: { name } }),
  }
  return { owner, sends }
}

describe('names', () => {
  test('with hidden characters are refused, and nothing is stored', async ({ app }) => {
    const { sends } = await calls(app)
    for (const [what, send] of Object.entries(sends)) {
      for (const name of aimed) {
        const refused = await app.unchanged(() => send(name))
        const field = what === 'a developer' ? 'developer.name' : 'name'
        const message = 'must not contain line breaks or other hidden or control characters'
        expect(refused, `${what} ${JSON.stringify(name)}`).toMatchObject({
          status: 422,
          body: { details: { [field]: message } },
        })
      }
    }
  })

  test('are stored normalised, with emoji as they were sent', async ({ app }) => {
    const { sends } = await calls(app)
    for (const [what, send] of Object.entries(sends)) {
      const { status, body } = await send(' Ｒｏｂｏｔ 👩\u200D💻 ')
      expect([200, 201], what).toContain(status)
      expect(JSON.stringify(body), what).toContain('"Robot 👩\u200D💻"')
    }
  })

  test('have at most 80 characters after they are normalised', async ({ app }) => {
    const { owner } = await app.workspace()
    // One character that becomes 18.
    const long = await app.unchanged(() => owner.post('/labels', { name: `${'x'.repeat(63)}ﷺ` }))
    expect(long).toMatchObject({ status: 422, body: { details: { name: expect.stringContaining('80') } } })
    expect((await owner.post('/labels', { name: `${'x'.repeat(62)}ﷺ` })).status).toBe(201)
    expect((await owner.post('/labels', { name: ` ${'x'.repeat(80)} ` })).status).toBe(201)
    expect((await app.unchanged(() => owner.post('/labels', { name: ' \u3000 ' }))).status).toBe(422)
  })

  test('that look like the built-in agent are refused for people, agents, apps and programs', async ({ app }) => {
    const { sends } = await calls(app)
    for (const name of ['Baton', 'Ｂａｔｏｎ', 'Ваtоn', 'Bat0n.']) {
      for (const what of ['a person', 'a personal agent', 'a personal agent that is renamed', 'an app'] as const) {
        const refused = await app.unchanged(() => sends[what](name))
        expect(refused, `${what} ${name}`).toMatchObject({
          status: 422,
          body: { details: { name: expect.any(String) } },
        })
      }
      const client = { client_name: name, redirect_uris: ['http://127.0.0.1/callback'] }
      const refused = await app.unchanged(() => app.anonymous.post('/oauth/register', client))
      expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } })
      expect((await sends['a team'](name)).status).toBe(201)
    }
  })

  test('of programs are normalised and must not have hidden characters', async ({ app }) => {
    const register = (client_name: string) =>
      app.anonymous.post('/oauth/register', { client_name, redirect_uris: ['http://127.0.0.1/callback'] })
    for (const name of aimed) {
      const refused = await app.unchanged(() => register(name))
      expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } })
    }
    expect(await register(' Ｅｄｉｔｏｒ ')).toMatchObject({ status: 201, body: { client_name: 'Editor' } })
  })

  test('that were stored before these rules stay readable', async ({ app }) => {
    const { owner } = await app.workspace()
    await app.ctx.db.run(sql`update users set display_name = ${'Baton\u202E'} where id = ${owner.user.id}`)
    expect((await owner.get('/auth/me')).body.user.display_name).toBe('Baton\u202E')
    const { body } = await owner.get('/workspaces/me/members')
    expect(body.data.map(({ display_name }: { display_name: string }) => display_name)).toContain('Baton\u202E')
  })
})
