import { describe, expect } from 'vitest'
import { eventsOf } from '../../test/events.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { allScopes, asApp, consent, exchange, oauthScene, programOf, secretOf, token } from '../../test/oauth.ts'
import { sql } from '../db/sql.ts'

async function scene(app: TestApp) {
  const at = await oauthScene(app)
  const path = `/agent-apps/${at.client.app.id}/install`
  return { ...at, path, install: (body: object, person = at.owner) => person.post(path, body) }
}

/** What an installation left behind, without ids, names and times. */
async function traces(app: TestApp, workspaceId: string, appId: string) {
  const plain = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll(/"\w+_[0-9a-hjkmnp-tv-z]{26}"/g, '"id"'), (key, field) =>
      /_at$|^(display_)?name$/.test(key) ? typeof field : field,
    )
  const { db } = app.ctx
  const [installation] = await db.rows(sql`select * from installations where app_id = ${appId}`)
  return plain({
    installation,
    users: await db.rows(sql`
      select * from users where id in (select app_user_id from installations where app_id = ${appId})`),
    audit: await db.rows(sql`
      select action, subject_id, details from audit_entries
      where workspace_id = ${workspaceId} and details->>'app_id' = ${appId}`),
    grants: await db.rows(sql`
      select g.* from grants g join installations i on i.id = g.installation_id where i.app_id = ${appId}`),
  })
}

describe('a manager installs an app from its page', () => {
  test(
    'and gets working tokens; the rest is as after an approved consent',
    verifies('install.from-page'),
    async ({ app }) => {
      const at = await scene(app)
      const { id, admin, team, client, install } = at
      const other = (await at.owner.post('/teams', { name: 'Other', key: 'OTH' })).body
      const teams = { team_ids: [team.id] }
      const events = await eventsOf(app, id, async () => {
        const { status, body, headers } = await install({ ...teams, scopes: ['read', 'issues:create'] }, admin)
        expect(status).toBe(201)
        expect(headers.get('cache-control')).toBe('no-store')
        expect(body).toEqual({
          access_token: expect.stringMatching(/^svc_at_/),
          token_type: 'Bearer',
          expires_in: 3600,
          refresh_token: expect.stringMatching(/^prt_/),
          scope: 'read issues:create',
          actor: 'app',
          installation_id: expect.stringMatching(/^ins_/),
          app_user_id: expect.stringMatching(/^usr_/),
          workspace_id: id,
        })
        // Only hashes are stored, so the tokens can never be shown again.
        const stored = await app.everything()
        for (const secret of [body.access_token, body.refresh_token]) expect(stored).not.toContain(secret.slice(7))

        const robot = asApp(app, id, body.access_token)
        expect((await robot.get('/auth/me')).body).toMatchObject({
          user: { id: body.app_user_id },
          installation_id: body.installation_id,
        })
        expect((await robot.get('/teams/select')).body.data.map((one: { id: string }) => one.id)).toEqual([team.id])
        const refused = await robot.post('/comments', { target_type: 'issue', target_id: 'iss_x', text: 'No' })
        expect(refused.body.code).toBe('INSUFFICIENT_SCOPE')
        expect((await robot.post('/issues', { title: 'No', team_id: other.id })).status).toBe(403)
        const form = { grant_type: 'refresh_token', refresh_token: body.refresh_token, ...secretOf(at) }
        expect(await token(app, form)).toMatchObject({ status: 200, body: { scope: 'read issues:create' } })
      })
      expect(events).toEqual([])

      const { body: second } = await at.owner.post('/agent-apps', {
        schemaVersion: '1.0.0',
        name: 'Consented',
        developer: { name: 'Robots Inc' },
        oauth: { redirect_uris: client.app.redirect_uris, scopes: allScopes },
      })
      const granted = await consent(admin, second.client_id, teams, { scope: 'read issues:create' })
      await exchange(app, { ...at, client: second }, granted)
      expect(await traces(app, id, client.app.id)).toEqual(await traces(app, id, second.app.id))
    },
  )

  test('with all scopes of the manifest by default, and read with none', async ({ app }) => {
    const { owner, install } = await scene(app)
    const { body } = await install({ all_teams: true })
    expect(body.scope).toBe(allScopes.join(' '))
    await owner.delete(`/installations/${body.installation_id}`)
    const again = await install({ all_teams: true, scopes: [] })
    expect(again).toMatchObject({ status: 201, body: { scope: 'read' } })
    expect(again.body.installation_id).not.toBe(body.installation_id)
  })

  test('once, of several at the same time', verifies('install.from-page-refusals'), async ({ app }) => {
    const { id, owner, admin, install } = await scene(app)
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => install({ all_teams: true }, index % 2 ? owner : admin)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
    const active = await app.ctx.db.row(sql`
      select count(*)::int as installations, count(g.id)::int as grants
      from installations i left join grants g on g.installation_id = i.id where i.workspace_id = ${id}`)
    expect(active).toEqual({ installations: 1, grants: 1 })
  })

  test('which marks the requests for it as read, for all managers', async ({ app }) => {
    const { owner, admin, member, client, install } = await scene(app)
    await member.post(`/agent-apps/${client.app.id}/install-request`)
    const unread = async () =>
      Promise.all([owner, admin].map(async (one) => (await one.get('/inbox?unread=true')).body.data.length))
    expect(await unread()).toEqual([1, 1])
    await install({ all_teams: true })
    expect(await unread()).toEqual([0, 0])
    expect((await admin.get('/inbox')).body.data).toMatchObject([{ kind: 'install_request' }])
  })
})

test(
  'an app is not installed from its page by others, elsewhere, twice, or with other scopes or teams',
  verifies('install.from-page-refusals'),
  async ({ app }) => {
    const { id, owner, admin, member, client, team, path, install } = await scene(app)
    const elsewhere = await scene(app)
    const theirTeam = (await elsewhere.owner.post('/teams', { name: 'Theirs', key: 'THE' })).body
    const all = { all_teams: true }
    const refused = (work: () => Promise<{ status: number; body: { code: string } }>) => app.unchanged(work)
    const invalid = async (body: object, field: string) => {
      const { status, body: problem } = await app.unchanged(() => install(body))
      expect({ status, fields: Object.keys(problem.details) }).toEqual({ status: 422, fields: [field] })
    }
    expect(await refused(() => install(all, member))).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect(await refused(() => app.anonymous.post(path, all))).toMatchObject({ status: 401 })
    const robot = await app.installed(owner)
    const program = asApp(app, id, await programOf(app, owner, id))
    for (const caller of [robot, program]) {
      const answer = await refused(() => caller.post(path, all))
      expect(answer).toMatchObject({ status: 403, body: { code: 'SESSION_ONLY_ROUTE' } })
    }
    expect(await refused(() => elsewhere.owner.post(path, all))).toMatchObject({ status: 404 })
    expect(await refused(() => owner.post(elsewhere.path, all))).toMatchObject({ status: 404 })
    expect(await refused(() => owner.post('/agent-apps/app_nothing/install', all))).toMatchObject({ status: 404 })

    await owner.put(`/agent-apps/${client.app.id}`, {
      schemaVersion: '1.0.0',
      name: 'Robot',
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: client.app.redirect_uris, scopes: ['read'] },
    })
    await invalid({ ...all, scopes: ['read', 'write'] }, 'scopes')
    await invalid({ ...all, scopes: ['admin'] }, 'scopes')
    await invalid({ ...all, scopes: ['read', 'read'] }, 'scopes')
    await invalid({ scopes: ['read'] }, 'all_teams')
    await invalid({ ...all, team_ids: [team.id] }, 'team_ids')
    await invalid({ team_ids: [] }, 'team_ids')
    await invalid({ team_ids: [theirTeam.id] }, 'team_ids')
    await invalid({ all_teams: false }, 'all_teams')
    await invalid({ ...all, workspace_id: id }, 'workspace_id')

    const { body } = await install(all, admin)
    const twice = await refused(() => install(all))
    expect(twice).toMatchObject({ status: 409, body: { code: 'ALREADY_INSTALLED' } })
    // The tokens of the first installation are not affected.
    expect((await asApp(app, id, body.access_token).get('/auth/me')).status).toBe(200)
    await owner.delete(`/installations/${body.installation_id}`)
    await owner.delete(`/agent-apps/${client.app.id}`)
    expect(await refused(() => install(all))).toMatchObject({ status: 404 })
  },
)
