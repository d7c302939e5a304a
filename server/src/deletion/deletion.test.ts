import { api, isRefusedWhilePendingDeletion, type Operation, type RouteName } from '@baton/protocol'
import { expect } from 'vitest'
import { accepted, makeScene, pathOf, type WriteName } from '../../test/calls.ts'
import { done, teamwork } from '../../test/delegation.ts'
import { gitScene } from '../../test/git.ts'
import { type TestApp, type TestPerson, test, verifies, within } from '../../test/harness.ts'
import { codeOf, installedLinearApp } from '../../test/linear.ts'
import { callTool } from '../../test/mcp.ts'
import { programOf } from '../../test/oauth.ts'
import { rowsOfWorkspace } from '../../test/workspace-rows.ts'
import { sql } from '../db/sql.ts'
import { postDueComments } from '../git/comments.ts'
import { advanceDeletions } from './purge.ts'

const start = (person: TestPerson, name = 'Acme') => person.post('/workspaces/me/deletion', { name })
const cancel = (person: TestPerson) => person.delete('/workspaces/me/deletion')
const pending = { status: 409, body: { code: 'WORKSPACE_PENDING_DELETION' } }

test(
  'starting it needs an owner, a recent login and the exact name',
  verifies('export.deletion-confirmed'),
  async ({ app }) => {
    const { owner, admin, member } = await app.workspace()
    for (const name of ['acme', 'Acme ', 'Acm', 'Other']) {
      const refused = await app.unchanged(() => start(owner, name))
      expect(refused).toMatchObject({ status: 422, body: { details: { name: expect.any(String) } } })
    }
    expect(await app.unchanged(() => owner.post('/workspaces/me/deletion', {}))).toMatchObject({ status: 422 })
    for (const person of [admin, member]) {
      expect(await app.unchanged(() => start(person))).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      expect(await app.unchanged(() => cancel(person))).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    }
    expect(await app.unchanged(() => cancel(owner))).toMatchObject({ status: 404 })
    app.clock.advance({ minutes: 15, milliseconds: 1 })
    expect(await app.unchanged(() => start(owner))).toMatchObject({ status: 403, body: { code: 'REAUTH_REQUIRED' } })
    await done(owner.post('/auth/reauth', { password: owner.password }))
    const deletionAt = new Date(app.clock.now().getTime() + 14 * 86_400_000).toISOString()
    expect(await start(owner)).toMatchObject({ status: 200, body: { deletion_at: deletionAt } })
    expect((await member.get('/workspaces/me')).body.deletion_at).toBe(deletionAt)
    expect(await app.unchanged(() => start(owner))).toMatchObject(pending)
    const [entry] = (await owner.get('/audit-log')).body.data
    expect(entry).toMatchObject({ action: 'workspace.deletion_started', actor: { id: owner.user.id } })
  },
)

test('of two owners who start and cancel at once, one succeeds', async ({ app }) => {
  const { owner, join } = await app.workspace()
  const other = await join('owner')
  const started = await Promise.all([start(owner), start(other)])
  expect(started.map(({ status }) => status).toSorted()).toEqual([200, 409])
  const canceled = await Promise.all([cancel(owner), cancel(other)])
  expect(canceled.map(({ status }) => status).toSorted()).toEqual([204, 404])
})

const operations = Object.entries(api) as [RouteName, Operation][]

test('while it is pending every write is refused and every read works', {
  ...verifies('export.deletion-read-only'),
  timeout: 120_000,
}, async ({ app }) => {
  const scene = await makeScene(app)
  const { owner, member, robot, id } = scene
  const { body: token } = await owner.post('/personal-tokens', { name: 'Script', scopes: ['read', 'write'] })
  const asOwner = (bearer: string) => app.anonymous.with({ authorization: `Bearer ${bearer}`, 'x-workspace-id': id })
  const program = asOwner(await programOf(app, owner, id))
  await done(start(owner))
  const writes = operations.filter(([, { route }]) => isRefusedWhilePendingDeletion(route))
  expect(writes.length).toBeGreaterThan(80)
  await app.unchanged(async () => {
    for (const [name, operation] of writes) {
      const { route } = operation
      const body = accepted[name as WriteName] ?? undefined
      const answer = async (client: TestPerson | typeof robot) =>
        (await client.request(route.method, pathOf(operation, scene.ids), body)).body.code
      if (route.caller !== 'app') expect([name, await answer(owner)]).toEqual([name, pending.body.code])
      if ('scope' in route) expect([name, await answer(robot)]).toEqual([name, pending.body.code])
    }
    for (const client of [asOwner(token.token), program]) {
      expect(await client.post('/issues', { title: 'New' })).toMatchObject(pending)
      expect((await client.get('/issues')).status).toBe(200)
    }
  })
  const reads = operations.filter(
    ([, { route }]) => route.method === 'GET' && route.caller.includes('member') && !route.stream && !route.writes,
  )
  expect(reads.length).toBeGreaterThan(40)
  for (const [name, operation] of reads) {
    const { status, body } = await member.get(pathOf(operation, scene.ids))
    expect([name, status, body?.code]).not.toEqual([name, 409, expect.anything()])
    expect([name, status < 500]).toEqual([name, true])
  }
  expect((await member.get('/issues')).body.data).toHaveLength(2)
})

test('tools, Linear, git hosts, invitations, consent and mail links change nothing while it is pending', {
  ...verifies('export.deletion-read-only'),
}, async ({ app }) => {
  const { owner, send, issue } = await gitScene(app)
  const { body: team } = await owner.post('/teams', { name: 'Support', key: 'SUP' })
  const robot = await app.installed(owner)
  const linear = await installedLinearApp(app, owner)
  const { body: invited } = await owner.post('/workspaces/me/invitations', { email: 'x@example.com', role: 'member' })
  const { body: registered } = await owner.post('/agent-apps', {
    schemaVersion: '1.0.0',
    name: 'Other robot',
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
  })
  const asked = await owner.get(
    `/oauth/authorize?${new URLSearchParams({
      client_id: registered.client_id,
      redirect_uri: registered.app.redirect_uris[0],
      response_type: 'code',
      actor: 'app',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    })}`,
  )
  const request = new URL(asked.headers.get('location') ?? '').searchParams.get('request')
  const stranger = await app.person()
  await done(start(owner))
  await app.unchanged(async () => {
    const written = await callTool(robot, 'create_label', { name: 'Red' })
    expect([written.isError, JSON.stringify(written)]).toEqual([true, expect.stringContaining(pending.body.code)])
    const mutation = 'mutation($i:IssueCreateInput!){issueCreate(input:$i){issue{id}}}'
    expect(codeOf(await linear.query(mutation, { i: { title: 'New', teamId: team.id } }))).toBe(pending.body.code)
    expect(await stranger.post('/invitations/accept', { token: invited.token })).toMatchObject(pending)
    expect(await owner.post(`/oauth/requests/${request}/approve`, { all_teams: true })).toMatchObject(pending)
    expect(await send({ title: `Fix ${issue.code}` })).toMatchObject(pending)
    expect(await postDueComments(app.ctx)).toBe(0)
  })
  expect((await callTool(robot, 'list_labels', {})).isError).toBeFalsy()
  expect(await linear.data('{viewer{id}}')).toMatchObject({ viewer: { id: linear.viewerId } })
  await done(cancel(owner))
  expect((await send({ title: `Fix ${issue.code}` })).status).toBe(202)
  await done(stranger.post('/invitations/accept', { token: invited.token }))
})

test('no delivery is sent while it is pending, and held ones are sent after a cancel', {
  ...verifies('export.deletion-read-only', 'export.deletion-canceled'),
}, async ({ app, receiver }) => {
  const { owner, delegated, rereadSession } = await teamwork(app, receiver, { resourceTypes: ['Issue'] })
  const { body: webhook } = await owner.post('/webhooks', {
    label: 'Chat',
    url: receiver.url,
    all_teams: true,
    resource_types: ['Issue'],
  })
  await app.deliver()
  receiver.take()
  const { issue, session } = await delegated()
  const waiting = await pendingDeliveries(app, owner.workspaceId)
  expect(waiting.length).toBeGreaterThan(2)
  await done(start(owner))
  for (const days of [0, 1, 12]) {
    app.clock.advance({ days })
    await app.deliver()
    expect(receiver.take()).toEqual([])
  }
  const held = await pendingDeliveries(app, owner.workspaceId)
  expect(held).toEqual(expect.arrayContaining(waiting))
  expect(await rereadSession(session)).toMatchObject({ state: 'complete', end_reason: 'stopped' })

  await done(cancel(owner))
  expect((await owner.get('/workspaces/me')).body.deletion_at).toBeNull()
  await app.deliver()
  const sent = receiver.take()
  expect(sent).toHaveLength(held.length)
  expect(sent.map(({ body }) => body.type)).toContain('AgentSessionEvent')
  expect(await pendingDeliveries(app, owner.workspaceId)).toEqual([])
  expect((await owner.get(`/webhooks/${webhook.id}`)).body.state).toBe('enabled')
  expect((await owner.put(`/issues/${issue.id}`, { title: 'Changed' })).status).toBe(200)
  await app.deliver()
  expect(receiver.take().length).toBeGreaterThan(0)
})

const pendingDeliveries = async ({ ctx }: TestApp, workspaceId: string) =>
  (
    await ctx.db.rows<{ id: string }>(
      sql`select id from deliveries where workspace_id = ${workspaceId} and status = 'pending' order by id`,
    )
  ).map(({ id }) => id)

test(
  'a cancel leaves all data but the stopped sessions as it was',
  verifies('export.deletion-canceled'),
  async ({ app, receiver }) => {
    const { owner, admin, join, delegated, rereadSession } = await teamwork(app, receiver)
    const other = await join('owner')
    const { session } = await delegated()
    await app.deliver()
    const ofSessions =
      /^(agent_sessions|agent_activities|audit_entries|events|deliveries|inbox_entries|inbox_threads|endpoints|agent_work)$/
    const others = async () => {
      const tables = Object.entries(await rowsOfWorkspace(app.ctx.db, owner.workspaceId))
      const workspace = await app.ctx.db.row(sql`select * from workspaces where id = ${owner.workspaceId}`)
      return { workspace, ...Object.fromEntries(tables.filter(([name]) => !ofSessions.test(name))) }
    }
    const before = await others()
    await done(start(owner))
    app.clock.advance({ days: 13 })
    await advanceDeletions(app.ctx)
    await app.tick()
    expect(await app.unchanged(() => cancel(admin))).toMatchObject({ status: 403 })
    await done(cancel(other))
    expect(await others()).toEqual(before)
    expect(await rereadSession(session)).toMatchObject({ end_reason: 'stopped', ended_at: expect.any(String) })
    app.clock.advance({ days: 2 })
    await advanceDeletions(app.ctx)
    expect((await owner.get('/issues')).body.data).toHaveLength(1)
  },
)

test('an import that runs is asked to stop', async ({ app }) => {
  const { owner, id } = await app.workspace()
  const now = app.clock.now()
  const states = ['ready', 'reading', 'running', 'done']
  for (const state of states) {
    await app.ctx.db.run(sql`
      insert into imports (id, workspace_id, source, state, created_at, updated_at)
      values (${`imp_${id}_${state}`}, ${id}, 'csv', ${state}, ${now}, ${now})`)
  }
  await done(start(owner))
  const stopped = await app.ctx.db.rows(sql`select state from imports where workspace_id = ${id} and cancel order by 1`)
  expect(stopped).toEqual([{ state: 'reading' }, { state: 'running' }])
})

test('a member of another workspace is not affected', async ({ app }) => {
  const { owner } = await app.workspace()
  const { id } = await app.workspace('Other')
  await done(start(owner))
  const mine = await done(owner.post('/workspaces', { name: 'Mine' }))
  expect((await within(owner, mine.id).post('/labels', { name: 'Red' })).status).toBe(201)
  expect((await within(owner, id).get('/issues')).status).toBe(403)
})
