import { describe, expect } from 'vitest'
import { eventsOf } from '../../test/events.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { isSigned } from '../../test/receiver.ts'
import { sql } from '../db/sql.ts'

const good = {
  label: 'Chat',
  url: 'https://hooks.example.com/baton?x=1',
  all_teams: true,
  resource_types: ['Issue', 'Comment', 'Project'],
}

async function scene(app: TestApp) {
  const workspace = await app.workspace()
  const { body: team } = await workspace.owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  return { ...workspace, team }
}

describe('creating a webhook', () => {
  test(
    'returns the record and, only this time, its secret',
    verifies(
      'webhook.create',
      'webhook.secret-once',
      'webhook.secret-prefix',
      'webhook.record-fields',
      'webhook.enabled-by-default',
      'webhook.list-and-get',
      'http.id-prefix-by-kind',
    ),
    async ({ app }) => {
      const { owner, admin } = await scene(app)
      const created = await admin.post('/webhooks', good)
      expect(created.status).toBe(201)
      expect(created.headers.get('cache-control')).toBe('no-store')
      const { secret, ...record } = created.body
      expect(secret).toMatch(/^pwhsec_[\w-]{43}$/)
      const now = app.clock.now().toISOString()
      expect(record).toEqual({
        ...good,
        id: expect.stringMatching(/^whk_[0-9a-hjkmnp-tv-z]{26}$/),
        team_ids: [],
        filters: null,
        state: 'enabled',
        created_by: admin.user.id,
        created_at: now,
        updated_at: now,
      })
      expect((await owner.get(`/webhooks/${record.id}`)).body).toEqual(record)
      expect((await owner.get('/webhooks')).body).toEqual({ data: [record], next_cursor: null })
    },
  )

  test(
    'seals the secret, shows and rotates it for managers, and audits both',
    verifies('config.webhook-secrets-encrypted', 'webhook.secret-show', 'webhook.secret-rotate', 'webhook.secret-once'),
    async ({ app }) => {
      const { owner, admin } = await scene(app)
      const { body: created } = await owner.post('/webhooks', good)
      const path = `/webhooks/${created.id}`
      const shown = await admin.get(`${path}/secret`)
      expect(shown.body).toEqual({ secret: created.secret })
      expect(shown.headers.get('cache-control')).toBe('no-store')
      const { body: rotated } = await owner.post(`${path}/secret`)
      expect(rotated.secret).toMatch(/^pwhsec_/)
      expect(rotated.secret).not.toBe(created.secret)
      expect((await owner.get(`${path}/secret`)).body).toEqual(rotated)
      expect(await app.everything()).not.toContain('pwhsec_')
      const answers = [await owner.get(path), await owner.get('/webhooks'), await owner.patch(path, { label: 'New' })]
      for (const { body } of answers) expect(JSON.stringify(body)).not.toContain('pwhsec_')
      const { data } = (await owner.get('/audit-log')).body
      const trail = data.filter(({ subject_id }: { subject_id: string }) => subject_id === created.id)
      expect(trail.map(({ action, actor }: { action: string; actor: { id: string } }) => [action, actor.id])).toEqual([
        ['webhook.updated', owner.user.id],
        ['webhook.secret_shown', owner.user.id],
        ['webhook.secret_rotated', owner.user.id],
        ['webhook.secret_shown', admin.user.id],
        ['webhook.created', owner.user.id],
      ])
      expect(JSON.stringify(data)).not.toContain('pwhsec_')
    },
  )

  const bad: [string, object, string][] = [
    ['a label of 81 characters', { label: 'x'.repeat(81) }, 'label'],
    ['no label', { label: undefined }, 'label'],
    ['an empty label', { label: '' }, 'label'],
    ['a label that is no string', { label: 5 }, 'label'],
    ['no url', { url: undefined }, 'url'],
    ['http', { url: 'http://hooks.example.com/' }, 'url'],
    ['ftp', { url: 'ftp://hooks.example.com/' }, 'url'],
    ['port 80', { url: 'https://hooks.example.com:80/' }, 'url'],
    ['port 8080', { url: 'https://hooks.example.com:8080/' }, 'url'],
    ['a loopback name', { url: 'https://a.localhost/' }, 'url'],
    ['a loopback address', { url: 'https://127.0.0.1/' }, 'url'],
    ['a private address', { url: 'https://10.1.2.3/' }, 'url'],
    ['a loopback address of IPv6', { url: 'https://[::1]/' }, 'url'],
    ['a private address of IPv6', { url: 'https://[fd00::1]/' }, 'url'],
    ['a user', { url: 'https://user@hooks.example.com/' }, 'url'],
    ['a user and password', { url: 'https://u:p@hooks.example.com/' }, 'url'],
    ['a url of 2,049 characters', { url: `https://hooks.example.com/${'x'.repeat(2023)}` }, 'url'],
    ['no all_teams', { all_teams: undefined }, 'all_teams'],
    ['not all teams, and none', { all_teams: false }, 'team_ids'],
    ['not all teams, and an empty list', { all_teams: false, team_ids: [] }, 'team_ids'],
    ['an unknown team', { all_teams: false, team_ids: ['team_x'] }, 'team_ids'],
    ['no types', { resource_types: undefined }, 'resource_types'],
    ['an empty list of types', { resource_types: [] }, 'resource_types'],
    ['Ping', { resource_types: ['Ping'] }, 'resource_types'],
    ['AgentSessionEvent', { resource_types: ['Issue', 'AgentSessionEvent'] }, 'resource_types'],
    ['a type twice', { resource_types: ['Issue', 'Issue'] }, 'resource_types'],
    ['an unknown key', { surprise: 1 }, 'surprise'],
    ['a state', { state: 'disabled' }, 'state'],
    ['a secret', { secret: 'pwhsec_mine' }, 'secret'],
  ]
  const rules = verifies(
    'webhook.label-length',
    'webhook.url-https-only',
    'webhook.url-ports',
    'webhook.url-not-public',
    'webhook.url-userinfo',
    'webhook.all-teams-false-needs-team-ids',
    'webhook.resource-types-values',
    'webhook.resource-types-not-empty',
    'webhook.unknown-key-422',
    'webhook.update',
  )

  test.for(bad)('refuses %s, and so does updating', rules, async ([, change, field], { app }) => {
    const { owner } = await scene(app)
    const { body: webhook } = await owner.post('/webhooks', good)
    const refused = await app.unchanged(() => owner.post('/webhooks', { ...good, ...change }))
    expect(refused).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
    expect(Object.keys(refused.body.details)[0]).toMatch(new RegExp(`^${field}`))
    const sent = JSON.parse(JSON.stringify(change))
    if (Object.keys(sent).length === 0) return
    const unchanged = await app.unchanged(() => owner.patch(`/webhooks/${webhook.id}`, sent))
    expect(unchanged).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
  })

  test.for([
    ['a label of 80 characters', { label: '🚀'.repeat(80) }],
    ['port 443', { url: 'https://hooks.example.com:443/' }],
    ['port 8443', { url: 'https://hooks.example.com:8443/' }],
    ['a public address', { url: 'https://93.184.216.34/' }],
    ['a name that does not resolve', { url: 'https://nothing-here.invalid/' }],
    ['a url of 2,048 characters', { url: `https://hooks.example.com/${'x'.repeat(2022)}` }],
    ['one type', { resource_types: ['Comment'] }],
  ] as [string, object][])('accepts %s', rules, async ([, change], { app }) => {
    const { owner } = await scene(app)
    expect(await owner.post('/webhooks', { ...good, ...change })).toMatchObject({ status: 201, body: change })
  })

  test(
    'for chosen teams accepts only teams of this workspace',
    verifies('webhook.all-teams-false-needs-team-ids'),
    async ({ app }) => {
      const { owner, team } = await scene(app)
      const elsewhere = await scene(app)
      const chosen = { ...good, all_teams: false, team_ids: [team.id] }
      expect(await owner.post('/webhooks', chosen)).toMatchObject({ status: 201, body: { team_ids: [team.id] } })
      for (const change of [{ team_ids: [team.id, elsewhere.team.id] }, { all_teams: true, team_ids: [team.id] }]) {
        const refused = await app.unchanged(() => owner.post('/webhooks', { ...chosen, ...change }))
        expect(refused).toMatchObject({ status: 422, body: { details: { team_ids: expect.any(String) } } })
      }
    },
  )

  test(
    'is refused at the limit, which counts disabled webhooks and not deleted ones',
    verifies('webhook.limit-20', 'webhook.limit-counting'),
    async ({ app }) => {
      const { owner } = await scene(app)
      const ids: string[] = []
      for (let made = 0; made < 20; made++) {
        const { status, body } = await owner.post('/webhooks', good)
        expect(status).toBe(201)
        ids.push(body.id)
      }
      await owner.post(`/webhooks/${ids[0]}/disable`)
      const refused = await app.unchanged(() => owner.post('/webhooks', good))
      expect(refused).toMatchObject({ status: 409, body: { code: 'WEBHOOK_LIMIT_REACHED', details: { limit: 20 } } })
      await owner.delete(`/webhooks/${ids[1]}`)
      expect((await owner.post('/webhooks', good)).status).toBe(201)
      const page = (await owner.get('/webhooks?limit=15')).body
      expect(page.data).toHaveLength(15)
      expect((await owner.get(`/webhooks?limit=15&cursor=${page.next_cursor}`)).body.data).toHaveLength(5)
    },
  )

  test(
    'is refused at the configured limit, also for concurrent requests',
    verifies('config.webhook-limit'),
    async ({ startApp }) => {
      const app = await startApp({ BATON_WEBHOOK_LIMIT: '3' })
      const { owner } = await scene(app)
      const answers = await Promise.all(Array.from({ length: 8 }, () => owner.post('/webhooks', good)))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
      const refused = answers.find(({ status }) => status === 409)
      expect(refused?.body.details).toEqual({ limit: 3 })
    },
  )
})

test(
  'updating a webhook changes which events it receives, with the same validation',
  verifies('webhook.update'),
  async ({ app, receiver }) => {
    const { owner, team } = await scene(app)
    const { body: created } = await owner.post('/webhooks', good)
    const path = `/webhooks/${created.id}`
    app.clock.advance({ seconds: 1 })
    const change = {
      label: 'Other',
      url: receiver.url,
      all_teams: false,
      team_ids: [team.id],
      resource_types: ['Issue'],
    }
    const { secret: _, ...record } = created
    const { body: changed } = await owner.patch(path, change)
    expect(changed).toEqual({ ...record, ...change, updated_at: app.clock.now().toISOString() })
    expect((await owner.get(path)).body).toEqual(changed)
    await owner.post('/issues', { title: 'Of no team' })
    await owner.post('/issues', { title: 'Of the team', team_id: team.id })
    await app.deliver()
    expect(receiver.take().map(({ body }) => body.data.title)).toEqual(['Of the team'])
    expect((await owner.patch(path, { all_teams: true })).body).toMatchObject({ all_teams: true, team_ids: [] })
    const refused = await app.unchanged(() => owner.patch(path, { team_ids: [team.id] }))
    expect(refused).toMatchObject({ status: 422 })
  },
)

describe('a test', () => {
  test(
    'sends one signed Ping and returns the result',
    verifies('webhook.test-result', 'webhook.test-once', 'event.ping-payload', 'delivery.svc-event-header'),
    async ({ app, receiver }) => {
      const { owner, admin, id: workspaceId } = await scene(app)
      const { body: webhook } = await owner.post('/webhooks', { ...good, url: receiver.url })
      const path = `/webhooks/${webhook.id}`
      expect(await admin.post(`${path}/test`)).toMatchObject({
        status: 200,
        body: { ok: true, status: 200, reason: null, duration_ms: expect.any(Number) },
      })
      receiver.answer = 500
      const failed = await admin.post(`${path}/test`)
      expect(failed).toMatchObject({ status: 200, body: { ok: false, status: 500, reason: 'http_error' } })
      const [ping, second] = receiver.take()
      expect(ping && isSigned(ping, webhook.secret)).toBe(true)
      expect(ping?.headers['svc-event']).toBe('Ping')
      expect(ping?.body).toEqual({
        action: 'create',
        type: 'Ping',
        actor: { id: admin.user.id, type: 'user', name: admin.user.display_name },
        created_at: app.clock.now().toISOString(),
        data: { webhook_id: webhook.id, label: 'Chat' },
        url: '',
        workspace_id: workspaceId,
        webhook_id: webhook.id,
        webhook_timestamp: app.clock.now().getTime(),
      })
      expect(second?.headers['svc-delivery']).not.toBe(ping?.headers['svc-delivery'])
      app.clock.advance({ days: 1 })
      await app.deliver()
      expect(receiver.take()).toEqual([])
      const { data } = (await owner.get(`${path}/deliveries`)).body
      expect(data).toMatchObject([
        { id: second?.headers['svc-delivery'], type: 'Ping', status: 'failed', attempts: [{ number: 1 }] },
        { id: ping?.headers['svc-delivery'], type: 'Ping', status: 'succeeded', attempts: [{ http_status: 200 }] },
      ])
      const { body: detail } = await owner.get(`${path}/deliveries/${data[1].id}`)
      expect(detail.request.body).toBe(ping?.raw.toString())
    },
  )

  test(
    'works while the webhook is disabled and leaves it disabled',
    verifies('webhook.test-while-disabled', 'webhook.disable'),
    async ({ app, receiver }) => {
      const { owner } = await scene(app)
      const { body: webhook } = await owner.post('/webhooks', { ...good, url: receiver.url })
      const path = `/webhooks/${webhook.id}`
      await owner.post(`${path}/disable`)
      expect((await owner.post(`${path}/test`)).body.ok).toBe(true)
      expect(receiver.take()).toHaveLength(1)
      expect((await owner.get(path)).body.state).toBe('disabled')
    },
  )

  test(
    'of a receiver that does not answer is a timeout',
    verifies('webhook.test-result'),
    async ({ app, receiver }) => {
      const { owner } = await scene(app)
      const { body: webhook } = await owner.post('/webhooks', { ...good, url: receiver.url })
      receiver.answer = () => {}
      const arrived = receiver.next()
      const testing = owner.post(`/webhooks/${webhook.id}/test`)
      await arrived
      app.clock.advance({ seconds: 5 })
      expect((await testing).body).toMatchObject({ ok: false, status: null, reason: 'timeout' })
    },
  )
})

test('tests are rate limited', async ({ app, receiver }) => {
  const { owner } = await scene(app)
  const { body: webhook } = await owner.post('/webhooks', { ...good, url: receiver.url })
  const send = () => owner.post(`/webhooks/${webhook.id}/test`)
  for (let sent = 0; sent < 30; sent++) expect((await send()).status).toBe(200)
  const refused = await app.unchanged(send)
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
  expect(refused.headers.get('retry-after')).toBe('2')
  expect(receiver.take()).toHaveLength(30)
  app.clock.advance({ seconds: 2 })
  expect((await send()).status).toBe(200)
})

test(
  'webhooks are for managers, in their own workspace',
  verifies('webhook.managers-only'),
  async ({ app, receiver }) => {
    const { owner, member } = await scene(app)
    const elsewhere = await scene(app)
    const { body: webhook } = await owner.post('/webhooks', { ...good, url: receiver.url })
    const path = `/webhooks/${webhook.id}`
    await owner.post(`${path}/test`)
    receiver.take()
    const [delivery] = (await owner.get(`${path}/deliveries`)).body.data
    const calls: [string, string, object?][] = [
      ['GET', path],
      ['PATCH', path, { label: 'Mine' }],
      ['DELETE', path],
      ['GET', `${path}/secret`],
      ['POST', `${path}/secret`],
      ['POST', `${path}/test`],
      ['POST', `${path}/enable`],
      ['POST', `${path}/disable`],
      ['GET', `${path}/deliveries`],
      ['GET', `${path}/deliveries/${delivery.id}`],
      ['POST', `${path}/deliveries/${delivery.id}/redeliver`],
    ]
    for (const [method, where, body] of [['GET', '/webhooks'], ['POST', '/webhooks', good], ...calls] as typeof calls) {
      const refused = await app.unchanged(() => member.request(method, where, body))
      expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    }
    for (const [method, where, body] of calls) {
      const refused = await app.unchanged(() => elsewhere.owner.request(method, where, body))
      expect(refused).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
    }
    expect((await elsewhere.owner.get('/webhooks')).body.data).toEqual([])
    expect(receiver.take()).toEqual([])
  },
)

test('enabling an enabled webhook or disabling a disabled one changes nothing', async ({ app }) => {
  const { owner } = await scene(app)
  const { body: webhook } = await owner.post('/webhooks', good)
  const path = `/webhooks/${webhook.id}`
  app.clock.advance({ seconds: 1 })
  expect(await app.unchanged(() => owner.post(`${path}/enable`))).toMatchObject({
    status: 200,
    body: { state: 'enabled' },
  })
  await owner.post(`${path}/disable`)
  await app.endpointsWoken()
  app.clock.advance({ seconds: 1 })
  expect(await app.unchanged(() => owner.post(`${path}/disable`))).toMatchObject({
    status: 200,
    body: { state: 'disabled' },
  })
})

test('changes of a webhook record no event', async ({ app }) => {
  const { id, owner } = await scene(app)
  const events = await eventsOf(app, id, async () => {
    const { body } = await owner.post('/webhooks', good)
    await owner.patch(`/webhooks/${body.id}`, { label: 'Other' })
    await owner.delete(`/webhooks/${body.id}`)
  })
  expect(events).toEqual([])
  expect(await app.ctx.db.rows(sql`select id from deliveries where workspace_id = ${id}`)).toEqual([])
})
