import { describe, expect } from 'vitest'
import { eventsOf } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { installedAppScene as scene } from '../../test/installed-app.ts'
import { asApp, consent, secretOf, token } from '../../test/oauth.ts'
import { isSigned, type Received } from '../../test/receiver.ts'
import { sql } from '../db/sql.ts'

const types = ['Issue', 'Comment', 'Project']

describe('coverage', () => {
  test(
    'can be changed by managers, and sends the app one event per actual change',
    verifies(
      'installation.patch-all-teams',
      'installation.patch-team-ids',
      'installation.coverage-change-event',
      'installation.same-coverage-emits-nothing',
      'installation.new-team-under-all-teams',
      'event.permission-change-on-coverage-change',
      'event.permission-change-payload',
      'event.permission-change-event-id',
      'event.no-permission-change-on-same-coverage',
      'event.no-permission-change-on-new-team',
      'event.always-delivered-types',
      'envelope.actor-system',
      'envelope.url-empty',
      'envelope.installation-fields-app-only',
      'envelope.action-values',
      'envelope.webhook-id',
    ),
    async ({ app, receiver }) => {
      const { id, owner, admin, a, b, path, tokens, client, receivedDuring } = await scene(app, receiver)
      const [received] = await receivedDuring(() => admin.patch(path, { team_ids: [b.id] }))
      expect(received && isSigned(received, client.webhook_secret)).toBe(true)
      expect(received?.headers['svc-event']).toBe('PermissionChange')
      expect(received?.body).toEqual({
        action: 'teamAccessChanged',
        type: 'PermissionChange',
        actor: { id: '', type: 'system', name: '' },
        created_at: app.clock.now().toISOString(),
        data: {
          event_id: `pc_${tokens.installation_id}_1`,
          installation_id: tokens.installation_id,
          all_teams: false,
          team_ids: [b.id],
          added_team_ids: [b.id],
          removed_team_ids: [a.id],
        },
        url: '',
        workspace_id: id,
        webhook_id: expect.stringMatching(/^whk_/),
        webhook_timestamp: app.clock.now().getTime(),
        installation_id: tokens.installation_id,
        app_user_id: tokens.app_user_id,
      })
      expect(await receivedDuring(() => owner.patch(path, { team_ids: [b.id] }))).toEqual([])
      const [all] = await receivedDuring(() => owner.patch(path, { all_teams: true }))
      expect(all?.body.data).toMatchObject({
        event_id: `pc_${tokens.installation_id}_2`,
        all_teams: true,
        team_ids: [],
        added_team_ids: [a.id],
        removed_team_ids: [],
      })
      expect((await owner.get(path)).body).toMatchObject({ all_teams: true, team_ids: [] })
      expect(await receivedDuring(() => owner.post('/teams', { name: 'C', key: 'CCC' }))).toEqual([])
      const [c] = (await owner.get('/teams')).body.data.filter(({ key }: { key: string }) => key === 'CCC')
      const { body: ofC } = await owner.post('/issues', { title: 'Of C', team_id: c.id })
      const robot = asApp(app, id, tokens.access_token)
      expect((await robot.get(`/issues/${ofC.id}`)).body.code).toBe('CCC-1')
      expect((await robot.put(`/issues/${ofC.id}`, { title: 'Changed' })).status).toBe(200)
      expect((await robot.get('/teams/select')).body.data).toContainEqual(expect.objectContaining({ key: 'CCC' }))
      expect((await owner.patch(path, { team_ids: [a.id, b.id] })).body).toMatchObject({ all_teams: false })
    },
  )

  test(
    'applies to tokens that were issued before the change',
    verifies(
      'installation.added-team-accessible',
      'installation.removed-team-not-accessible',
      'identity.teams-select-follows-coverage',
    ),
    async ({ app, receiver }) => {
      const { id, owner, a, b, path, tokens } = await scene(app, receiver)
      const [ofA, ofB] = [
        (await owner.post('/issues', { title: 'Of A', team_id: a.id })).body,
        (await owner.post('/issues', { title: 'Of B', team_id: b.id })).body,
      ]
      const robot = asApp(app, id, tokens.access_token)
      const reach = async () => ({
        a: (await robot.get(`/issues/${ofA.id}`)).body.code,
        b: (await robot.get(`/issues/${ofB.id}`)).body.code,
        teams: (await robot.get('/teams/select')).body.data.map(({ key }: { key: string }) => key).sort(),
      })
      expect(await reach()).toEqual({ a: 'AAA-1', b: 'TEAM_ACCESS_DENIED', teams: ['AAA'] })
      await owner.patch(path, { team_ids: [a.id, b.id] })
      expect(await reach()).toEqual({ a: 'AAA-1', b: 'BBB-1', teams: ['AAA', 'BBB'] })
      await owner.patch(path, { team_ids: [b.id] })
      expect(await reach()).toEqual({ a: 'TEAM_ACCESS_DENIED', b: 'BBB-1', teams: ['BBB'] })
    },
  )

  test(
    'is not changed by a member, by an app or by an invalid choice',
    verifies(
      'installation.patch-by-member-forbidden',
      'installation.uninstall-by-member-forbidden',
      'installation.change-by-app-token-refused',
      'installation.app-token-refused',
      'installation.coverage-exactly-one',
    ),
    async ({ app, receiver }) => {
      const { id, owner, member, a, path, tokens } = await scene(app, receiver)
      const elsewhere = await app.workspace()
      for (const call of [() => member.patch(path, { all_teams: true }), () => member.delete(path)]) {
        expect(await app.unchanged(call)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      }
      const robot = asApp(app, id, tokens.access_token)
      for (const call of [
        () => robot.get('/installations'),
        () => robot.get(path),
        () => robot.patch(path, { all_teams: true }),
        () => robot.delete(path),
      ]) {
        expect(await app.unchanged(call)).toMatchObject({ status: 403, body: { code: 'SESSION_ONLY_ROUTE' } })
      }
      for (const call of [
        () => elsewhere.owner.get(path),
        () => elsewhere.owner.patch(path, { all_teams: true }),
        () => elsewhere.owner.delete(path),
      ]) {
        expect((await app.unchanged(call)).status).toBe(404)
      }
      for (const bad of [
        {},
        { team_ids: [] },
        { all_teams: true, team_ids: [a.id] },
        { all_teams: false },
        { team_ids: ['team_x'] },
      ]) {
        expect((await app.unchanged(() => owner.patch(path, bad))).status).toBe(422)
      }
    },
  )
})

describe('approving again', () => {
  test(
    'keeps the installation and its user, replaces teams and scopes, and ends older grants',
    verifies(
      'installation.reapproval-keeps-identity',
      'installation.reapproval-replaces-coverage',
      'installation.reapproval-replaces-scopes',
      'installation.reapproval-coverage-event',
      'installation.reapproval-starts-new-grant',
      'installation.reapproval-ends-old-grants',
      'event.permission-change-on-reapproval',
    ),
    async ({ app, receiver }) => {
      const at = await scene(app, receiver)
      const { a, b, tokens, approve, receivedDuring, owner, path } = at
      expect(await receivedDuring(() => approve({ team_ids: [a.id] }))).toEqual([])
      const [received] = await receivedDuring(() => approve({ team_ids: [a.id, b.id] }))
      expect(received?.body).toMatchObject({ type: 'PermissionChange', data: { added_team_ids: [b.id] } })
      const again = await approve({ all_teams: true }, 'read')
      expect(again).toMatchObject({
        installation_id: tokens.installation_id,
        app_user_id: tokens.app_user_id,
        scope: 'read',
      })
      expect((await owner.get(path)).body).toMatchObject({ all_teams: true, scopes: ['read'] })
      expect((await owner.get('/installations')).body.data).toHaveLength(1)
      const refresh = (refresh_token: string) =>
        token(app, { grant_type: 'refresh_token', refresh_token, ...secretOf(at) })
      expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
      expect((await refresh(again.refresh_token)).status).toBe(200)
    },
  )
})

describe('uninstalling', () => {
  test(
    'ends every token, cancels pending deliveries, and sends the app only `revoked`',
    verifies(
      'installation.uninstall',
      'installation.uninstall-sends-revoked',
      'installation.uninstall-stops-access-tokens',
      'installation.uninstall-stops-refresh',
      'event.revoked-on-uninstall',
      'event.revoked-payload',
    ),
    async ({ app, receiver }) => {
      const at = await scene(app, receiver, { resourceTypes: types })
      const { id, owner, admin, a, path, tokens, client, appPath } = at
      receiver.answer = 500
      await owner.post('/issues', { title: 'Not delivered yet', team_id: a.id })
      await app.deliver()
      receiver.take()
      receiver.answer = 200
      expect((await admin.delete(path)).status).toBe(204)
      await app.deliver()
      app.clock.advance({ hours: 10 })
      await app.deliver()
      const received = receiver.take()
      expect(received).toHaveLength(1)
      expect(received[0]?.body).toMatchObject({
        type: 'OAuthApp',
        action: 'revoked',
        actor: { id: '', type: 'system', name: '' },
        url: '',
        data: {
          event_id: `rv_${tokens.installation_id}`,
          installation_id: tokens.installation_id,
          app_id: client.app.id,
        },
        installation_id: tokens.installation_id,
      })
      const refused = await asApp(app, id, tokens.access_token).get('/workspaces/me')
      expect(refused).toMatchObject({ status: 401, body: { code: 'INSTALLATION_REVOKED' } })
      const again = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, ...secretOf(at) }
      expect(await token(app, again)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
      expect((await owner.get('/installations')).body.data).toEqual([])
      expect((await owner.get(path)).status).toBe(404)
      const statuses = (await owner.get(`${appPath}/deliveries`)).body.data.map(
        ({ status }: { status: string }) => status,
      )
      expect(statuses).toEqual(['succeeded', 'canceled'])
      await owner.post('/issues', { title: 'After', team_id: a.id })
      await app.deliver()
      expect(receiver.take()).toEqual([])
    },
  )

  test(
    'by deleting the app does the same, and `revoked` is retried on its schedule',
    verifies('app.delete-uninstalls-first', 'delivery.revoked-survives-delete', 'event.revoked-on-uninstall'),
    async ({ app, receiver }) => {
      const { id, owner, a, tokens, appPath, client } = await scene(app, receiver, { resourceTypes: types })
      receiver.answer = 500
      await owner.post('/issues', { title: 'Attempted', team_id: a.id })
      await app.deliver()
      await owner.post('/issues', { title: 'Waiting', team_id: a.id })
      receiver.take()
      expect((await owner.delete(appPath)).status).toBe(204)
      const statuses = () =>
        app.ctx.db.rows(sql`select type, status from deliveries where workspace_id = ${id} order by id`)
      const canceled = { type: 'Issue', status: 'canceled' }
      expect(await statuses()).toEqual([canceled, canceled, { type: 'OAuthApp', status: 'pending' }])
      await app.deliver()
      expect(receiver.take().map(({ body }) => body.action)).toEqual(['revoked'])
      for (const delay of [{ minutes: 1 }, { hours: 1 }]) {
        app.clock.advance({ ...delay, milliseconds: -1 })
        await app.deliver()
        expect(receiver.take()).toEqual([])
        app.clock.advance({ milliseconds: 1 })
        await app.deliver()
        expect(receiver.take().map(({ body }) => body.action)).toEqual(['revoked'])
      }
      receiver.answer = 200
      app.clock.advance({ hours: 6 })
      await app.deliver()
      const [last, ...others] = receiver.take()
      expect([last?.body.action, others]).toEqual(['revoked', []])
      expect(isSigned(last as Received, client.webhook_secret)).toBe(true)
      expect(await statuses()).toEqual([canceled, canceled, { type: 'OAuthApp', status: 'succeeded' }])
      const refused = await asApp(app, id, tokens.access_token).get('/workspaces/me')
      expect(refused).toMatchObject({ status: 401, body: { code: 'INSTALLATION_REVOKED' } })
      expect((await owner.get('/installations')).body.data).toEqual([])
    },
  )

  test('twice delivers `revoked` for both installations once the receiver is back', async ({ app, receiver }) => {
    const { owner, path, approve } = await scene(app, receiver)
    receiver.answer = 500
    await owner.delete(path)
    await app.deliver()
    const again = await approve({ all_teams: true })
    await owner.delete(`/installations/${again.installation_id}`)
    receiver.take()
    receiver.answer = 200
    app.clock.advance({ minutes: 1 })
    await app.deliver()
    const received = receiver.take().map(({ body }) => [body.action, body.installation_id])
    expect(received.sort()).toEqual(
      [
        ['revoked', path.split('/')[2]],
        ['revoked', again.installation_id],
      ].sort(),
    )
  })

  test('cancels deliveries that were committed just after it', async ({ app, receiver }) => {
    const { owner, a, path, tokens, appPath } = await scene(app, receiver, { resourceTypes: types })
    await owner.post('/issues', { title: 'Late', team_id: a.id })
    await app.ctx.db.run(
      sql`update installations set revoked_at = ${app.clock.now()} where id = ${tokens.installation_id}`,
    )
    await app.deliver()
    expect(receiver.take()).toEqual([])
    expect((await owner.get(`${appPath}/deliveries`)).body.data).toMatchObject([{ status: 'canceled', attempts: [] }])
    expect((await owner.get(path)).status).toBe(404)
  })

  test(
    'frees the name, so that a new installation has a new user with the same name',
    verifies('installation.reinstall-is-new', 'installation.app-user-name-suffix'),
    async ({ app, receiver }) => {
      const { owner, path, tokens, approve, manifest } = await scene(app, receiver)
      await owner.post('/agents/personal', { name: 'Robot 2', instructions: '' })
      const second = (await owner.post('/agent-apps', manifest)).body
      const third = (await owner.post('/agent-apps', manifest)).body
      const nameOf = async (installationId: string) =>
        (await owner.get(`/installations/${installationId}`)).body.app_user.display_name
      for (const [client, name] of [
        [second, 'Robot 3'],
        [third, 'Robot 4'],
      ] as const) {
        await consent(owner, client.client_id, { all_teams: true })
        const [newest] = (await owner.get('/installations')).body.data
        expect(await nameOf(newest.id)).toBe(name)
      }
      expect(await nameOf(tokens.installation_id)).toBe('Robot')
      await owner.delete(path)
      const again = await approve({ all_teams: true })
      expect(again.installation_id).not.toBe(tokens.installation_id)
      expect(again.app_user_id).not.toBe(tokens.app_user_id)
      expect(await nameOf(again.installation_id)).toBe('Robot')
    },
  )
})

test('renaming an app renames its app user', async ({ app, receiver }) => {
  const { owner, path, manifest, appPath, client } = await scene(app, receiver)
  await owner.put(appPath, { ...manifest, name: 'Better robot' })
  expect((await owner.get(path)).body.app_user.display_name).toBe('Better robot')
  expect(client.app.name).toBe('Robot')
})

describe('events to an app', () => {
  test(
    'are of its resource types and covered teams only, each with an event id',
    verifies(
      'event.app-opt-in-types',
      'event.app-installation-teams-only',
      'event.app-data-event-id',
      'envelope.event-id-stable',
      'delivery.svc-delivery-app-is-delivery-id',
    ),
    async ({ app, receiver }) => {
      const { owner, a, b, path, tokens, receivedDuring, appPath } = await scene(app, receiver, {
        resourceTypes: ['Issue'],
      })
      receiver.answer = 500
      const [first] = await receivedDuring(() => owner.post('/issues', { title: 'Of A: "data":{', team_id: a.id }))
      expect(first?.body).toMatchObject({
        type: 'Issue',
        action: 'create',
        data: { event_id: expect.stringMatching(/^evt_/), title: 'Of A: "data":{' },
        installation_id: tokens.installation_id,
        app_user_id: tokens.app_user_id,
      })
      receiver.answer = 200
      app.clock.advance({ minutes: 1 })
      await app.deliver()
      const [retry] = receiver.take()
      expect(retry?.body.data.event_id).toBe(first?.body.data.event_id)
      const [delivery] = (await owner.get(`${appPath}/deliveries`)).body.data
      expect(first?.headers['svc-delivery']).toBe(delivery.id)
      expect((await owner.get(`${appPath}/deliveries/${delivery.id}`)).body.request.body).toBe(retry?.raw.toString())
      app.clock.advance({ minutes: 1 })
      expect((await owner.post(`${appPath}/deliveries/${delivery.id}/redeliver`)).status).toBe(202)
      await app.deliver()
      const [redelivered] = receiver.take()
      expect(redelivered?.body.data).toEqual(first?.body.data)

      expect(await receivedDuring(() => owner.post('/issues', { title: 'Of B', team_id: b.id }))).toEqual([])
      expect(await receivedDuring(() => owner.post('/issues', { title: 'Of none' }))).toEqual([])
      expect(await receivedDuring(() => owner.post('/projects', { title: 'P', team_ids: [a.id] }))).toEqual([])
      const [moved] = await receivedDuring(() => owner.put('/issues/AAA-1', { team_id: b.id }))
      expect(moved?.body).toMatchObject({ action: 'update', data: { team_id: b.id } })
      await owner.patch(path, { all_teams: true })
      expect(await receivedDuring(() => owner.post('/issues', { title: 'Of none' }))).toHaveLength(1)
    },
  )

  test(
    'are not sent while its webhook is disabled',
    verifies('event.nothing-while-app-webhook-disabled', 'manifest.webhook-enabled-false-delivers-nothing'),
    async ({ app, receiver }) => {
      const { owner, a, b, path, manifest, appPath, receivedDuring } = await scene(app, receiver, {
        resourceTypes: types,
      })
      await owner.put(appPath, { ...manifest, webhook: { ...manifest.webhook, enabled: false } })
      const received = await receivedDuring(async () => {
        await owner.post('/issues', { title: 'Not received', team_id: a.id })
        await owner.patch(path, { team_ids: [b.id] })
        await owner.delete(path)
      })
      expect(received).toEqual([])
      await owner.post(`${appPath}/webhook/enable`)
      await app.deliver()
      expect(receiver.take()).toEqual([])
    },
  )

  test(
    'that fail too often disable its webhook',
    verifies('webhook.app-auto-disable', 'app.webhook-state'),
    async ({ startApp, receiver }) => {
      const app = await startApp({ BATON_RETRY_DELAYS: '0,0,0' })
      const { owner, a, manifest, appPath, receivedDuring } = await scene(app, receiver, { resourceTypes: types })
      receiver.answer = 500
      for (let made = 0; made < 3; made++) await owner.post('/issues', { title: 'A bug', team_id: a.id })
      await app.deliver()
      expect((await owner.get(appPath)).body.webhook).toMatchObject({ enabled: true, state: 'failing' })
      const [entry] = (await owner.get('/inbox')).body.data
      expect(entry).toMatchObject({ kind: 'webhook_failing', title: 'Robot' })
      expect(entry.url).toContain(`/settings${appPath}`)
      expect(await receivedDuring(() => owner.post('/issues', { title: 'Not received', team_id: a.id }))).toEqual([])
      expect((await owner.put(appPath, manifest)).body.webhook).toMatchObject({ enabled: true, state: 'enabled' })
      receiver.answer = 200
      expect(await receivedDuring(() => owner.post('/issues', { title: 'Received', team_id: a.id }))).toHaveLength(1)
      expect((await owner.get('/inbox')).body.data).toHaveLength(1)
      await owner.delete(appPath)
      expect((await owner.get('/inbox')).body.data).toEqual([])
    },
  )

  test('are recorded even if no endpoint receives them', async ({ app, receiver }) => {
    const { id, owner, a } = await scene(app, receiver)
    expect(await eventsOf(app, id, () => owner.post('/issues', { title: 'A bug', team_id: a.id }))).toHaveLength(1)
    await app.deliver()
    expect(receiver.take()).toEqual([])
  })
})

test(
  'refuses an app token on routes that need a login, and changes nothing',
  verifies(
    'app.session-only-create',
    'app.session-only-change',
    'app.session-only-read',
    'app.session-only-secrets',
    'app.session-only-webhook-test',
    'app.session-only-workspace-webhooks',
    'app.session-only-consent',
    'app.session-only-password',
    'login.password-refuses-app-token',
    'webhook.session-only',
    'delivery.app-list-session-only',
  ),
  async ({ app, receiver }) => {
    const { id, owner, manifest, tokens, appPath } = await scene(app, receiver)
    const hook = { label: 'Chat', url: receiver.url, all_teams: true, resource_types: ['Issue'] }
    const { body: webhook } = await owner.post('/webhooks', hook)
    await owner.post(`${appPath}/webhook/test`)
    await owner.post(`/webhooks/${webhook.id}/test`)
    const [delivery] = (await owner.get(`${appPath}/deliveries`)).body.data
    const robot = asApp(app, id, tokens.access_token)
    receiver.take()
    for (const [method, path, body] of [
      ['POST', '/agent-apps', manifest],
      ['GET', '/agent-apps'],
      ['GET', appPath],
      ['PUT', appPath, manifest],
      ['DELETE', appPath],
      ['POST', `${appPath}/secret`],
      ['POST', `${appPath}/webhook-secret`],
      ['POST', `${appPath}/webhook/test`],
      ['POST', `${appPath}/webhook/enable`],
      ['POST', `${appPath}/webhook/disable`],
      ['GET', `${appPath}/deliveries`],
      ['GET', `${appPath}/deliveries/${delivery.id}`],
      ['POST', `${appPath}/deliveries/${delivery.id}/redeliver`],
      ['GET', '/webhooks'],
      ['POST', '/webhooks', hook],
      ['GET', `/webhooks/${webhook.id}`],
      ['PATCH', `/webhooks/${webhook.id}`, { label: 'Mine' }],
      ['DELETE', `/webhooks/${webhook.id}`],
      ['GET', `/webhooks/${webhook.id}/secret`],
      ['POST', `/webhooks/${webhook.id}/secret`],
      ['POST', `/webhooks/${webhook.id}/test`],
      ['POST', `/webhooks/${webhook.id}/enable`],
      ['POST', `/webhooks/${webhook.id}/disable`],
      ['GET', `/webhooks/${webhook.id}/deliveries`],
      ['POST', '/oauth/requests/con_x/approve', { all_teams: true }],
      ['POST', '/auth/password', { current_password: 'correct horse', new_password: 'a new password' }],
    ] as [string, string, object?][]) {
      const refused = await app.unchanged(() => robot.request(method, path, body))
      expect(refused).toMatchObject({ status: 403, body: { code: 'SESSION_ONLY_ROUTE' } })
    }
    expect(receiver.take()).toEqual([])
  },
)
