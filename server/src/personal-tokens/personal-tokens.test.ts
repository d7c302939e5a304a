import { accountLimits } from '@baton/protocol'
import { BatonClient } from '@baton/sdk'
import { expect, vi } from 'vitest'
import type { Client } from '../../test/client.ts'
import { type TestApp, type TestPerson, test, verifies, verifiesOnPostgres, within } from '../../test/harness.ts'
import { connectMcp } from '../../test/mcp.ts'
import { acceptInvitation } from '../../test/members.ts'
import { sql } from '../db/sql.ts'
import { responsesSettled } from '../login/after-response.ts'
import { isWellFormed } from '../login/personal-tokens.ts'

const day = 86_400_000

const create = async (person: TestPerson, fields: object = {}) => {
  const response = await person.post('/personal-tokens', { name: 'Script', scopes: ['read', 'write'], ...fields })
  expect(response.status).toBe(201)
  return response.body
}

/** A client with a personal token, in the workspace of its owner unless the test says otherwise. */
const using = (app: TestApp, token: string, workspaceId?: string) =>
  app.anonymous.with({ authorization: `Bearer ${token}`, ...(workspaceId && { 'x-workspace-id': workspaceId }) })

const ahead = (app: TestApp, ms: number) => new Date(app.clock.now().getTime() + ms).toISOString()

const unauthorized = { status: 401, body: { code: 'UNAUTHORIZED' } }

test('the token is shown once and only its hash is stored', verifies('token.shown-once'), async ({ app }) => {
  const { member, owner } = await app.workspace()
  const response = await member.post('/personal-tokens', { name: 'Script', scopes: ['read'] })
  expect(response.status).toBe(201)
  expect(response.headers.get('cache-control')).toBe('no-store')
  const { token, personal_token } = response.body
  expect(token).toMatch(/^svc_pat_[A-Za-z0-9_-]{49}$/)
  expect(personal_token).toEqual({
    id: expect.stringMatching(/^pat_/),
    name: 'Script',
    scopes: ['read'],
    team_ids: null,
    expires_at: ahead(app, 90 * day),
    last_used_at: null,
    created_at: app.clock.now().toISOString(),
  })
  expect((await member.get('/personal-tokens')).body.data).toEqual([personal_token])
  const ofAll = await owner.get('/workspaces/me/personal-tokens')
  const user = { id: member.user.id, name: member.user.display_name }
  expect(ofAll.body.data).toEqual([{ ...personal_token, user }])
  expect(JSON.stringify([await owner.get('/audit-log'), await app.everything()])).not.toContain(token.slice(8, 51))
  const [entry] = (await owner.get('/audit-log?action=token.created')).body.data
  expect(entry).toMatchObject({ subject_id: personal_token.id, actor: user, details: { name: 'Script' } })
})

test('needs a recent login', async ({ app }) => {
  const { member } = await app.workspace()
  app.clock.advance({ minutes: 15, milliseconds: 1 })
  const refused = await app.unchanged(() => member.post('/personal-tokens', { name: 'Script', scopes: ['read'] }))
  expect(refused).toMatchObject({ status: 403, body: { code: 'REAUTH_REQUIRED', details: { methods: ['password'] } } })
})

test('a token with a changed character is refused without a query', verifies('token.checksum'), async ({ app }) => {
  const { member } = await app.workspace()
  const { token } = await create(member)
  await responsesSettled(app.ctx)
  const queries = (['row', 'rows', 'run', 'tx'] as const).map((method) => vi.spyOn(app.ctx.db, method))
  // Hints of earlier changes reach other processes with a delay.
  const isHint = ([asked]: unknown[]) => String((asked as { text?: string }).text).includes('pg_notify')
  const asked = () => queries.flatMap(({ mock }) => mock.calls as unknown[][]).filter((call) => !isHint(call)).length
  try {
    for (const [index, character] of [...token].entries()) {
      const wrong = `${token.slice(0, index)}${character === 'x' ? 'y' : 'x'}${token.slice(index + 1)}`
      expect(await using(app, wrong).get('/issues')).toMatchObject(unauthorized)
    }
    for (const wrong of [token.slice(0, -1), `${token}0`, `svc_pat_${'x'.repeat(49)}`]) {
      expect(isWellFormed(wrong)).toBe(false)
      expect(await using(app, wrong).get('/issues')).toMatchObject(unauthorized)
    }
    expect(asked()).toBe(0)
    expect((await using(app, token).get('/issues')).status).toBe(200)
    await responsesSettled(app.ctx)
    // Once the use is noted, a call costs as many statements as one with a login: one to find the caller.
    const costOf = async (caller: Client) => {
      const before = asked()
      await caller.get('/issues')
      return asked() - before
    }
    expect(await costOf(using(app, token))).toBe(await costOf(member))
  } finally {
    for (const query of queries) query.mockRestore()
  }
})

test('knows a token with a published checksum', () => {
  // Computed with another implementation of CRC-32.
  expect(isWellFormed(`svc_pat_${'A'.repeat(43)}1naxLs`)).toBe(true)
  expect(isWellFormed(`svc_pat_${'A'.repeat(42)}B1naxLs`)).toBe(false)
})

test('acts as the person, with the current role', verifies('token.acts-as-person'), async ({ app }) => {
  const { id, owner, admin } = await app.workspace()
  const { token } = await create(admin)
  const script = using(app, token, id)
  const { body: issue } = await script.post('/issues', { title: 'From a script' })
  expect(issue.reporter_id).toBe(admin.user.id)
  const { body: mine } = await script.post('/issues', { title: 'Mine', personal: true })
  expect((await script.get(`/issues/${mine.id}`)).status).toBe(200)
  const { body: history } = await owner.get(`/issues/${issue.id}/history`)
  expect(JSON.stringify(history)).not.toContain('application')
  expect((await script.get('/auth/me')).body).toMatchObject({
    user: { id: admin.user.id },
    workspaces: [{ id, role: 'admin' }],
  })
  // Managers may delete the comments of others.
  const comment = async () =>
    (await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })).body
  expect((await script.delete(`/comments/${(await comment()).id}`)).status).toBe(204)
  await owner.patch(`/workspaces/me/members/${admin.user.id}`, { role: 'member' })
  const kept = await comment()
  const refused = await app.unchanged(() => script.delete(`/comments/${kept.id}`))
  expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  expect((await script.get('/auth/me')).body.workspaces).toMatchObject([{ id, role: 'member' }])
})

test('routes that are not open to tokens need a login', async ({ app }) => {
  const { id, owner } = await app.workspace()
  const script = using(app, (await create(owner)).token, id)
  for (const call of [
    () => script.get('/inbox'),
    () => script.post('/teams', { name: 'Design', key: 'DES' }),
    () => script.post('/personal-tokens', { name: 'Another', scopes: ['read'] }),
    () => script.get('/workspaces/me/personal-tokens'),
  ]) {
    expect(await app.unchanged(call)).toMatchObject({ status: 403, body: { code: 'SESSION_ONLY_ROUTE' } })
  }
})

test('needs the scope of the route', verifies('token.scope-enforced'), async ({ app }) => {
  const { id, member } = await app.workspace()
  const reader = using(app, (await create(member, { scopes: ['read'] })).token, id)
  const creator = using(app, (await create(member, { scopes: ['issues:create'] })).token, id)
  const refusal = (required: string) => ({ status: 403, body: { code: 'INSUFFICIENT_SCOPE', details: { required } } })
  expect(await app.unchanged(() => reader.post('/issues', { title: 'No' }))).toMatchObject(refusal('issues:create'))
  expect(await creator.get('/issues')).toMatchObject(refusal('read'))
  const { body: issue } = await creator.post('/issues', { title: 'Yes' })
  expect((await reader.get(`/issues/${issue.id}`)).body.title).toBe('Yes')
  const change = await app.unchanged(() => creator.put(`/issues/${issue.id}`, { title: 'Changed' }))
  expect(change).toMatchObject(refusal('write'))
})

test('works in one workspace only', verifies('token.workspace-pinned'), async ({ app }) => {
  const { id, member } = await app.workspace()
  const { body: other } = await member.post('/workspaces', { name: 'Other' })
  const { token } = await create(member)
  const elsewhere = using(app, token, other.id)
  const denied = { status: 403, body: { code: 'WORKSPACE_ACCESS_DENIED' } }
  expect(await elsewhere.get('/issues')).toMatchObject(denied)
  expect(await app.unchanged(() => elsewhere.post('/issues', { title: 'No' }))).toMatchObject(denied)
  expect(await elsewhere.get('/auth/me')).toMatchObject(denied)
  // The header may be left out.
  expect((await using(app, token).get('/issues')).status).toBe(200)
  expect((await using(app, token, id).get('/issues')).status).toBe(200)
  expect((await within(member, other.id).get('/personal-tokens')).body.data).toEqual([])
})

test('with teams it accesses only their items, on REST and MCP', verifies('token.teams'), async ({ app }) => {
  const { id, owner, member } = await app.workspace()
  const [team, other] = await Promise.all(
    ['ENG', 'DES'].map(async (key) => (await owner.post('/teams', { name: key, key })).body),
  )
  const issue = async (fields: object) => (await member.post('/issues', { title: 'A bug', ...fields })).body
  const project = async (fields: object) => (await member.post('/projects', { title: 'Plan', ...fields })).body
  const inside = [await issue({ team_id: team.id }), await project({ team_ids: [team.id, other.id] })]
  const outside = [
    await issue({ team_id: other.id }),
    await issue({}),
    await issue({ personal: true }),
    await project({ team_ids: [other.id] }),
    await project({}),
    await project({ personal: true }),
  ]
  const { token } = await create(member, { team_ids: [team.id] })
  const script = using(app, token, id)
  const pathOf = (item: { id: string }) => `/${item.id.startsWith('iss_') ? 'issues' : 'projects'}/${item.id}`
  const denied = { status: 403, body: { code: 'TEAM_ACCESS_DENIED' } }
  for (const item of inside) {
    expect((await script.get(pathOf(item))).status).toBe(200)
    expect((await script.put(pathOf(item), { title: 'Changed' })).status).toBe(200)
  }
  for (const item of outside) {
    expect(await script.get(pathOf(item))).toMatchObject(denied)
    expect(await app.unchanged(() => script.put(pathOf(item), { title: 'No' }))).toMatchObject(denied)
    expect(await app.unchanged(() => script.delete(pathOf(item)))).toMatchObject(denied)
    const target = { target_type: item.id.startsWith('iss_') ? 'issue' : 'project', target_id: item.id }
    expect(await app.unchanged(() => script.post('/comments', { ...target, text: 'No' }))).toMatchObject(denied)
    expect(await script.get(`/comments?${new URLSearchParams(target)}`)).toMatchObject(denied)
  }
  const listed = await Promise.all(['/issues', '/projects', '/teams'].map((path) => script.get(path)))
  expect(listed.flatMap(({ body }) => body.data.map((item: { id: string }) => item.id))).toEqual([
    ...inside.map((item) => item.id),
    team.id,
  ])
  for (const body of [{ title: 'No' }, { title: 'No', team_id: other.id }, { title: 'No', personal: true }]) {
    expect(await app.unchanged(() => script.post('/issues', body))).toMatchObject(denied)
  }
  expect((await script.post('/issues', { title: 'Yes', team_id: team.id })).status).toBe(201)
  // Neither may it move an item out of its teams, nor change what belongs to all teams.
  for (const change of [{ team_id: other.id }, { team_id: null }, { personal: true }]) {
    expect(await app.unchanged(() => script.put(pathOf(inside[0]), change))).toMatchObject(denied)
  }
  expect(await app.unchanged(() => script.post('/projects', { title: 'No', personal: true }))).toMatchObject(denied)
  expect(await app.unchanged(() => script.post('/initiatives', { name: 'No' }))).toMatchObject(denied)

  const mcp = await connectMcp(app, token)
  const call = (issue_id: string) => mcp.callTool({ name: 'get_issue', arguments: { issue_id } })
  expect(JSON.stringify(await call(inside[0].id))).toContain('Changed')
  for (const { id: issueId } of outside.slice(0, 3)) {
    const result = await call(issueId)
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result)).toContain('TEAM_ACCESS_DENIED')
  }
  // The login of the same person is not limited.
  expect((await member.get(pathOf(outside[2]))).status).toBe(200)
})

test('teams must be of the workspace, 1 to 100', async ({ app }) => {
  const { owner } = await app.workspace()
  const { owner: stranger } = await app.workspace()
  const { body: theirs } = await stranger.post('/teams', { name: 'Theirs', key: 'THE' })
  const { body: own } = await owner.post('/teams', { name: 'Own', key: 'OWN' })
  const many = Array.from({ length: 101 }, (_, index) => `team_${index}`)
  for (const team_ids of [[], [theirs.id], [own.id, own.id], [own.id, 'team_x'], many]) {
    const refused = await app.unchanged(() =>
      owner.post('/personal-tokens', { name: 'Script', scopes: ['read'], team_ids }),
    )
    expect(refused).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
  }
  expect((await create(owner, { team_ids: [own.id] })).personal_token.team_ids).toEqual([own.id])
})

test('a token of deleted teams accesses nothing', async ({ app }) => {
  const { id, owner } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Old', key: 'OLD' })
  await owner.post('/issues', { title: 'Elsewhere' })
  const { token } = await create(owner, { team_ids: [team.id] })
  await owner.delete(`/teams/${team.id}`)
  expect((await using(app, token, id).get('/issues')).body.data).toEqual([])
})

test('scopes are those of persons, each once', async ({ app }) => {
  const { owner } = await app.workspace()
  for (const scopes of [[], ['app:assignable'], ['read', 'read'], ['admin'], undefined]) {
    const refused = await app.unchanged(() => owner.post('/personal-tokens', { name: 'Script', scopes }))
    expect(refused).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
  }
})

test('expires at its time, at most 365 days ahead', verifies('token.expiry'), async ({ startApp }) => {
  const app = await startApp()
  const { id, member } = await app.workspace()
  for (const expires_at of [ahead(app, 365 * day + 1), ahead(app, -1), ahead(app, 0), ahead(app, day - 1), null]) {
    const body = { name: 'Script', scopes: ['read'], expires_at }
    expect((await app.unchanged(() => member.post('/personal-tokens', body))).status).toBe(422)
  }
  expect((await create(member, { expires_at: ahead(app, 365 * day) })).personal_token.expires_at).toBe(
    ahead(app, 365 * day),
  )
  const { token } = await create(member, { expires_at: ahead(app, day) })
  const script = using(app, token, id)
  app.clock.advance({ milliseconds: day - 1 })
  expect((await script.get('/issues')).status).toBe(200)
  app.clock.advance({ milliseconds: 1 })
  expect(await script.get('/issues')).toMatchObject(unauthorized)
})

test('revoking ends a token at once; members revoke their own, managers all', {
  ...verifies('token.revoked-at-once'),
}, async ({ app }) => {
  const { id, owner, admin, member, join } = await app.workspace()
  const other = await join('member')
  const [first, second] = [await create(member), await create(member)]
  const missing = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } }
  for (const by of [other, admin, owner]) {
    const refused = await app.unchanged(() => by.delete(`/personal-tokens/${first.personal_token.id}`))
    expect(refused).toMatchObject(missing)
  }
  const path = `/workspaces/me/personal-tokens/${second.personal_token.id}`
  expect((await app.unchanged(() => member.delete(path))).body.code).toBe('FORBIDDEN')
  const { owner: stranger } = await app.workspace()
  expect(await app.unchanged(() => stranger.delete(path))).toMatchObject(missing)

  expect((await using(app, first.token, id).get('/issues')).status).toBe(200)
  expect((await member.delete(`/personal-tokens/${first.personal_token.id}`)).status).toBe(204)
  expect(await using(app, first.token, id).get('/issues')).toMatchObject(unauthorized)
  expect((await admin.delete(path)).status).toBe(204)
  expect(await using(app, second.token, id).get('/issues')).toMatchObject(unauthorized)
  expect(await app.unchanged(() => admin.delete(path))).toMatchObject(missing)
  const { data } = (await owner.get('/audit-log?action=token.revoked')).body
  expect(data).toMatchObject([
    { actor: { id: admin.user.id }, subject_id: second.personal_token.id, details: { user_id: member.user.id } },
    { actor: { id: member.user.id }, subject_id: first.personal_token.id },
  ])
})

test('ends with the membership, and stays ended', verifies('token.ends-with-membership'), async ({ app }) => {
  const { id, owner, member, join } = await app.workspace()
  const leaver = await join('member')
  const tokens = [await create(member), await create(leaver)].map(({ token }) => token)
  await owner.delete(`/workspaces/me/members/${member.user.id}`)
  await leaver.delete(`/workspaces/me/members/${leaver.user.id}`)
  for (const token of tokens) expect(await using(app, token, id).get('/issues')).toMatchObject(unauthorized)
  for (const person of [member, leaver]) await acceptInvitation(owner, person)
  expect((await member.get('/issues')).status).toBe(200)
  for (const token of tokens) expect(await using(app, token, id).get('/issues')).toMatchObject(unauthorized)
  expect((await member.get('/personal-tokens')).body.data).toEqual([])
})

test('ends when the password changes', async ({ app }) => {
  const { id, member } = await app.workspace()
  const { token } = await create(member)
  const body = { current_password: member.password, new_password: 'another horse' }
  expect((await member.post('/auth/password', body)).status).toBe(204)
  expect(await using(app, token, id).get('/issues')).toMatchObject(unauthorized)
})

test('the last use is stored to the minute', verifies('token.last-used'), async ({ startApp }) => {
  const app = await startApp()
  const { id, member } = await app.workspace()
  const { token } = await create(member)
  const lastUsed = async () => (await member.get('/personal-tokens')).body.data[0].last_used_at
  const use = () => using(app, token, id).get('/issues')
  expect(await lastUsed()).toBeNull()
  await use()
  const first = app.clock.now().toISOString()
  expect(await lastUsed()).toBe(first)
  app.clock.advance({ seconds: 59 })
  await use()
  expect(await lastUsed()).toBe(first)
  app.clock.advance({ seconds: 1 })
  await use()
  expect(await lastUsed()).toBe(app.clock.now().toISOString())
})

test('a person has at most 50 tokens in a workspace', verifies('token.limit'), async ({ startApp }) => {
  const app = await startApp()
  const { member, owner } = await app.workspace()
  const soon = ahead(app, day)
  for (let count = 1; count < accountLimits.personalTokensPerPerson; count++) await create(member)
  await create(member, { expires_at: soon })
  const refused = await app.unchanged(() => member.post('/personal-tokens', { name: 'x', scopes: ['read'] }))
  expect(refused).toMatchObject({ status: 409, body: { code: 'TOKEN_LIMIT_REACHED' } })
  await create(owner)
  const { data, next_cursor } = (await member.get('/personal-tokens?limit=20')).body
  const rest = (await member.get(`/personal-tokens?limit=100&cursor=${next_cursor}`)).body
  expect(new Set([...data, ...rest.data].map(({ id }: { id: string }) => id)).size).toBe(50)
  // An expired token does not count.
  app.clock.advance({ days: 1 })
  await app.ctx.db.run(sql`update logins set proved_at = ${app.clock.now()}`)
  await create(member)
})

test('concurrent creates stay within the limit', verifiesOnPostgres('token.limit'), async ({ app }) => {
  const { member } = await app.workspace()
  for (let count = 0; count < accountLimits.personalTokensPerPerson - 3; count++) await create(member)
  const made = await Promise.all(
    Array.from({ length: 8 }, () => member.post('/personal-tokens', { name: 'x', scopes: ['read'] })),
  )
  expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
})

test('a token has a rate limit and its headers', verifies('token.rate'), async ({ startApp }) => {
  const app = await startApp({ BATON_API_RATE: '3' })
  const { id, member } = await app.workspace()
  const script = using(app, (await create(member)).token, id)
  const other = using(app, (await create(member)).token, id)
  for (const remaining of ['2', '1', '0']) {
    const { status, headers } = await script.get('/issues')
    expect(status).toBe(200)
    expect(headers.get('ratelimit-limit')).toBe('3')
    expect(headers.get('ratelimit-remaining')).toBe(remaining)
    expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThan(0)
  }
  const refused = await app.unchanged(() => script.post('/issues', { title: 'No' }))
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  // Each token has its own limit, and a login has none.
  expect((await other.get('/issues')).status).toBe(200)
  expect((await member.get('/issues')).headers.get('ratelimit-limit')).toBeNull()
  app.clock.advance({ minutes: 1 })
  expect((await script.get('/issues')).status).toBe(200)
})

test(
  'the owner gets one mail seven days before a token expires',
  verifies('token.expiry-mail'),
  async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { member } = await app.workspace()
    await create(member, { name: 'Release script', expires_at: ahead(app, 30 * day) })
    await create(member, { name: 'Short', expires_at: ahead(app, 7 * day) })
    await app.sendNotifications()
    const about = () => smtp.mails.filter(({ parsed }) => parsed.subject?.includes('expires'))
    app.clock.advance({ milliseconds: 23 * day - 1 })
    await app.sendNotifications()
    expect(about()).toEqual([])
    app.clock.advance({ milliseconds: 1 })
    await app.sendNotifications()
    app.clock.advance({ days: 1 })
    await app.sendNotifications()
    expect(about()).toHaveLength(1)
    const [mail] = about()
    expect(mail?.to).toEqual([member.user.email])
    expect(mail?.parsed.subject).toBe('Your personal token Release script expires on 2026-04-01')
    expect(mail?.parsed.headers.has('list-unsubscribe')).toBe(false)
  },
)

test('a revoked token is not announced', async ({ startApp, smtp }) => {
  const app = await startApp(smtp.env)
  const { member } = await app.workspace()
  const { personal_token } = await create(member, { expires_at: ahead(app, 30 * day) })
  app.clock.advance({ days: 23 })
  const { remindOfExpiry } = await import('./mails.ts')
  await remindOfExpiry(app.ctx)
  await member.delete(`/personal-tokens/${personal_token.id}`)
  await app.sendMails()
  expect(smtp.mails.filter(({ parsed }) => parsed.subject?.includes('expires'))).toEqual([])
})

test('the SDK works with a personal token', async ({ app }) => {
  const { id, member } = await app.workspace()
  const { token } = await create(member)
  const client = new BatonClient({ baseUrl: app.rootUrl, token, workspaceId: id })
  const issue = await client.createIssue({ title: 'From the SDK' })
  expect(issue.reporter_id).toBe(member.user.id)
})
