import { programLimits } from '@baton/protocol'
import { expect } from 'vitest'
import { connect, deliver, gitScene, pullRequest } from '../../test/git.ts'
import { test, verifies } from '../../test/harness.ts'
import { Keyring } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { openToken, resealConnections } from './connections.ts'
import { sweepGitDeliveries } from './receive.ts'

const invalid = { status: 422, body: { code: 'VALIDATION_ERROR' } }

test('secret and token are sealed, and the token is never returned', verifies('git.secret-sealed'), async ({ app }) => {
  const { owner, admin, member, team } = await gitScene(app)
  const token = 'ghp_a-token-of-the-host'
  const fields = { kind: 'github', name: 'Shop', repositories: ['acme/shop'], team_ids: [team.id], token }
  const created = await admin.post('/git-connections', fields)
  expect(created).toMatchObject({ status: 201 })
  const { secret, ...record } = created.body
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(record).toEqual({
    id: record.id,
    kind: 'github',
    name: 'Shop',
    host: 'github.com',
    repositories: ['acme/shop'],
    team_ids: [team.id],
    has_token: true,
    received_at: null,
    refused: 0,
  })
  expect(created.headers.get('cache-control')).toBe('no-store')
  const path = `/git-connections/${record.id}`
  const changed = await owner.patch(path, { name: 'Shop 2' })
  const rotated = await owner.post(`${path}/secret`)
  expect(rotated.body.secret).toMatch(/^whsec_/)
  expect(rotated.body.secret).not.toBe(secret)
  const stored = await app.everything()
  const shown = JSON.stringify([
    changed.body,
    (await owner.get(path)).body,
    (await owner.get('/git-connections')).body,
    (await owner.get('/audit-log')).body,
  ])
  for (const value of [secret, secret.slice(6), rotated.body.secret, token]) {
    expect(stored).not.toContain(value)
    expect(shown).not.toContain(value)
  }
  expect(JSON.stringify([record, rotated.body])).not.toContain(token)
  // The old secret stops working at once.
  const answer = (key: string) => deliver(app.anonymous, { ...record, secret: key }, pullRequest())
  expect((await answer(secret)).status).toBe(401)
  expect((await answer(rotated.body.secret)).status).toBe(202)
  for (const call of [
    () => member.get(path),
    () => member.post(`${path}/secret`),
    () => member.patch(path, { name: 'X' }),
  ]) {
    expect(await app.unchanged(call)).toMatchObject({ status: 403 })
  }
  expect((await owner.delete(path)).status).toBe(204)
  expect((await answer(rotated.body.secret)).status).toBe(401)
  expect(await owner.get(path)).toMatchObject({ status: 404 })
})

test(
  'sealed texts fit one connection and one purpose, and are sealed again with a new key',
  verifies('git.secret-sealed'),
  async ({ app }) => {
    const { owner } = await gitScene(app)
    const { id, secret } = await connect(owner, { token: 'a-token' })
    const read = async () =>
      (await app.ctx.db.row<{ secret: string; token: string }>(
        sql`select secret, token from git_connections where id = ${id}`,
      )) as { secret: string; token: string }
    const sealed = await read()
    expect(() => app.ctx.keys.open(sealed.token, id)).toThrow()
    expect(() => openToken(app.ctx.keys, id, sealed.secret)).toThrow()
    const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    const before = new Keyring(old)
    await app.ctx.db.run(sql`
    update git_connections set secret = ${before.seal(secret, id)}, token = ${before.seal('a-token', `${id} token`)}
    where id = ${id}`)
    // Only this one: others are sealed with the key of the test's app.
    await app.ctx.db.run(sql`delete from git_connections where id <> ${id}`)
    await resealConnections(app.ctx.db, new Keyring(fresh, [old]))
    const again = await read()
    const now = new Keyring(fresh)
    expect([now.open(again.secret, id), openToken(now, id, again.token)]).toEqual([secret, 'a-token'])
  },
)

test('the fields of a connection are checked', verifies('git.secret-sealed'), async ({ app }) => {
  const { owner, team } = await gitScene(app)
  const good = { kind: 'gitea', name: 'Shop', repositories: ['acme/shop'] }
  const elsewhere = await gitScene(app)
  const wrong: object[] = [
    { kind: 'svn' },
    { name: '' },
    { repositories: [] },
    { repositories: ['shop'] },
    { repositories: ['acme/*'] },
    { repositories: ['acme/shop/'] },
    { repositories: ['acme/team/shop'] },
    { repositories: ['acme/shop', 'acme/shop'] },
    { repositories: ['acme/shop', 'Acme/Shop'] },
    { repositories: Array.from({ length: programLimits.gitRepositories + 1 }, (_, index) => `acme/r${index}`) },
    { host: 'git.example.com/path' },
    { host: 'user@git.example.com' },
    { host: 'http://git.example.com' },
    { host: 'javascript:alert(1)' },
    { host: '' },
    { team_ids: [] },
    { team_ids: [elsewhere.team.id] },
    { team_ids: ['x'] },
    { token: '' },
    { token: 'two words' },
    { token: 'line\nbreak' },
    { token: 'x'.repeat(programLimits.gitToken + 1) },
    { secret: 'whsec_mine' },
  ]
  for (const fields of wrong) {
    const response = await app.unchanged(() => owner.post('/git-connections', { ...good, ...fields }))
    expect({ fields, status: response.status }).toEqual({ fields, status: 422 })
  }
  const many = Array.from({ length: programLimits.gitRepositories }, (_, index) => `acme/r${index}`)
  const accepted: [object, object][] = [
    [{}, { host: 'gitea.com', team_ids: null, has_token: false }],
    [{ kind: 'forgejo' }, { host: 'codeberg.org' }],
    [
      { kind: 'gitlab', repositories: ['acme/team/shop'] },
      { host: 'gitlab.com', repositories: ['acme/team/shop'] },
    ],
    [{ host: 'https://Git.Example.com:8443/' }, { host: 'git.example.com:8443' }],
    [{ host: 'http://localhost:3001' }, { host: 'http://localhost:3001' }],
    [
      { repositories: many, team_ids: [team.id], token: 'x'.repeat(programLimits.gitToken) },
      { repositories: many, has_token: true },
    ],
  ]
  for (const [fields, expected] of accepted) {
    const created = await owner.post('/git-connections', { ...good, ...fields })
    expect(created).toMatchObject({ status: 201, body: expected })
  }
})

test('a token is not sent to another host', verifies('git.secret-sealed'), async ({ app }) => {
  const { owner } = await gitScene(app)
  const { id } = await connect(owner, { token: 'a-token' })
  const path = `/git-connections/${id}`
  const moved = await app.unchanged(() => owner.patch(path, { host: 'git.example.com' }))
  expect(moved).toMatchObject({ ...invalid, body: { details: { token: expect.any(String) } } })
  expect((await owner.patch(path, { host: 'github.com', name: 'Same' })).body).toMatchObject({ has_token: true })
  const other = await owner.patch(path, { host: 'git.example.com', token: 'another' })
  expect(other.body).toMatchObject({ host: 'git.example.com', has_token: true })
  expect((await owner.patch(path, { token: null })).body).toMatchObject({ has_token: false })
})

test('a workspace has at most 50 connections', verifies('git.secret-sealed'), async ({ app }) => {
  const { owner } = await gitScene(app)
  const body = { kind: 'github', name: 'Shop', repositories: ['acme/shop'] }
  for (let count = 1; count < programLimits.gitConnections; count++) {
    expect((await owner.post('/git-connections', body)).status).toBe(201)
  }
  expect(await app.unchanged(() => owner.post('/git-connections', body))).toMatchObject(invalid)
  const { body: page } = await owner.get('/git-connections?limit=30')
  expect(page.data).toHaveLength(30)
  expect((await owner.get(`/git-connections?limit=30&cursor=${page.next_cursor}`)).body.data).toHaveLength(20)
})

test('managers see the last 200 deliveries, which are kept for 30 days', verifies('git.replay'), async ({ app }) => {
  const { owner, member, connection, send, issue, id } = await gitScene(app)
  await send({ title: issue.code })
  const path = `/git-connections/${connection.id}`
  const { body } = await owner.get(`${path}/deliveries`)
  expect(body.data).toEqual([
    {
      id: expect.stringMatching(/^gdl_/),
      event: 'pull_request',
      outcome: 'linked',
      repository: 'acme/shop',
      number: 7,
      pull_request_id: expect.stringMatching(/^pr_/),
      comment: null,
      received_at: app.clock.now().toISOString(),
    },
  ])
  expect((await owner.get(path)).body.received_at).toBe(app.clock.now().toISOString())
  expect(await member.get(`${path}/deliveries`)).toMatchObject({ status: 403 })
  await app.ctx.db.run(sql`
    insert into git_deliveries (id, workspace_id, connection_id, event, outcome, received_at)
    select 'gdl_' || lpad(n::text, 26, '0'), ${id}, ${connection.id}, 'ping', 'ignored_event', ${app.clock.now()}
    from generate_series(1, 250) n`)
  let count = 0
  for (let cursor = ''; ; ) {
    const { body: page } = await owner.get(`${path}/deliveries?limit=60${cursor && `&cursor=${cursor}`}`)
    count += page.data.length
    if (!page.next_cursor) break
    cursor = page.next_cursor
  }
  expect(count).toBe(programLimits.gitDeliveries)

  const left = async () => (await app.ctx.db.rows(sql`select 1 from git_deliveries`)).length
  const all = await left()
  await sweepGitDeliveries(
    app.ctx.db,
    new Date(app.clock.now().getTime() + (programLimits.gitDeliveryDays * 86_400 - 1) * 1000),
  )
  expect(await left()).toBe(all)
  await sweepGitDeliveries(app.ctx.db, new Date(app.clock.now().getTime() + programLimits.gitDeliveryDays * 86_400_000))
  expect(await left()).toBe(0)
})

test(
  'titles, branches and authors are kept as one line of plain text',
  verifies('git.title-as-text'),
  async ({ app }) => {
    const { sendBody, pullRequests, issue } = await gitScene(app)
    const body = pullRequest({ title: `${issue.code} <b>x</b> **y** \u202Eevil\nline\u0000` })
    body.pull_request.user.login = '<img src=x>\n'
    body.pull_request.head.ref = 'a`b`<i>'
    expect((await sendBody(body, 'pull_request')).body).toEqual({ outcome: 'linked' })
    expect((await pullRequests())[0]).toMatchObject({
      title: `${issue.code} <b>x</b> **y** evil line`,
      author: '<img src=x>',
      branch: 'a`b`<i>',
    })
    // An address that is no web page is not kept: a link to it could run a script.
    const script = pullRequest({ number: 8, title: issue.code })
    script.pull_request.html_url = 'javascript:alert(1)'
    expect((await sendBody(script, 'pull_request')).body).toEqual({ outcome: 'ignored_event' })
  },
)

test(
  'deleting a connection removes its pull requests, branches and links',
  verifies('git.secret-sealed'),
  async ({ app }) => {
    const { owner, connection, send, issue, pullRequests } = await gitScene(app)
    await send({ title: issue.code })
    await owner.delete(`/git-connections/${connection.id}`)
    expect(await pullRequests()).toEqual([])
    expect((await owner.get(`/issues/${issue.id}`)).body.status).toBe('in_progress')
    const tables = await app.ctx.db.rows(sql`
    select 1 from git_deliveries where connection_id = ${connection.id}
    union all select 1 from pull_request_issues where issue_id = ${issue.id}`)
    expect(tables).toEqual([])
  },
)
