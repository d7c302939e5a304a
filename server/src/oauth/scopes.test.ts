import { expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { asApp, consent, exchange, oauthScene, redirectUri, secretOf, token } from '../../test/oauth.ts'

test(
  'a scope removed from the manifest ends at once, and an added one needs a new approval',
  verifies('app.removed-scope-takes-effect-at-once', 'app.added-scope-needs-approval', 'scope.removed-from-manifest'),
  async ({ app }) => {
    const at = await oauthScene(app, ['read', 'write'])
    const { owner, client, team } = at
    const approve = async (scope: string) => {
      const granted = await consent(owner, client.client_id, { all_teams: true }, { scope })
      return (await exchange(app, at, granted)).body
    }
    const tokens = await approve('read write')
    const robot = asApp(app, at.id, tokens.access_token)
    const create = (client = robot) => client.post('/issues', { title: 'By a robot', team_id: team.id })
    expect((await create()).status).toBe(201)
    const manifest = {
      schemaVersion: '1.0.0',
      name: 'Robot',
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: [redirectUri], scopes: ['read'] },
    }
    const path = `/agent-apps/${client.app.id}`
    await owner.put(path, manifest)
    const refused = await app.unchanged(() => create())
    expect(refused).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } })
    expect((await robot.get('/issues')).status).toBe(200)

    await owner.put(path, { ...manifest, oauth: { ...manifest.oauth, scopes: ['write', 'comments:create'] } })
    expect((await create()).status).toBe(201)
    expect((await robot.get('/issues')).status).toBe(403)
    const refreshed = await token(app, {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token,
      ...secretOf(at),
    })
    expect(refreshed.body.scope).toBe('write')
    await owner.put(path, { ...manifest, oauth: { ...manifest.oauth, scopes: ['comments:create'] } })
    const none = asApp(app, at.id, refreshed.body.access_token)
    for (const call of [() => none.get('/issues'), () => create(none)]) expect((await call()).status).toBe(403)
    expect((await approve('comments:create')).scope).toBe('comments:create')
  },
)

test(
  'a grant without scopes can only read; writes are attributed to the app user',
  verifies(
    'oauth.grant-without-scope-is-read',
    'scope.empty-grant-is-read',
    'oauth.token-acts-as-app',
    'identity.writes-attributed-to-app-user',
  ),
  async ({ app }) => {
    const at = await oauthScene(app)
    const { owner, client, team } = at
    const grant = async (scope: string) => {
      const granted = await consent(owner, client.client_id, { all_teams: true }, { scope })
      return (await exchange(app, at, granted)).body
    }
    const reader = await grant('')
    expect(reader.scope).toBe('read')
    const reading = asApp(app, at.id, reader.access_token)
    expect((await reading.get('/issues')).status).toBe(200)
    const refused = await app.unchanged(() => reading.post('/issues', { title: 'No', team_id: team.id }))
    expect(refused).toMatchObject({ status: 403, body: { details: { required: 'issues:create' } } })

    const writer = await grant('read write')
    const writing = asApp(app, at.id, writer.access_token)
    const { body: issue } = await writing.post('/issues', { title: 'Mine', team_id: team.id })
    expect(issue.reporter_id).toBe(writer.app_user_id)
    const comment = { target_type: 'issue', target_id: issue.id, text: 'Done' }
    expect((await writing.post('/comments', comment)).body.author_id).toBe(writer.app_user_id)
    expect(writer.app_user_id).not.toBe(owner.user.id)
  },
)

test('an install request notifies managers once until they read it', async ({ app }) => {
  const { owner, admin, member, client } = await oauthScene(app)
  const elsewhere = await app.workspace()
  const path = `/agent-apps/${client.app.id}/install-request`
  for (let times = 0; times < 2; times++) expect((await member.post(path)).status).toBe(204)
  for (const manager of [owner, admin]) {
    expect((await manager.get('/inbox')).body.data).toMatchObject([
      {
        kind: 'install_request',
        subject_id: client.app.id,
        title: 'Robot',
        url: `${app.ctx.config.appUrl}/settings/agent-apps/${client.app.id}`,
        actor: { id: member.user.id },
      },
    ])
  }
  expect((await member.get('/inbox')).body.data).toEqual([])
  expect((await app.unchanged(() => elsewhere.owner.post(path))).status).toBe(404)
  await owner.delete(`/agent-apps/${client.app.id}`)
  expect((await owner.get('/inbox')).body.data).toEqual([])
})
