import { expect } from 'vitest'
import { sessionScene } from '../../test/agent-sessions.ts'
import { connect, deliver, type PullRequestFields, pullRequest } from '../../test/git.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { asApp } from '../../test/oauth.ts'

async function scene(app: TestApp, fields: object = {}) {
  const base = await sessionScene(app)
  const connection = await connect(base.owner, fields)
  const send = (more: PullRequestFields) => deliver(app.anonymous, connection, pullRequest(more))
  const numbers = async (sessionId: string, by = base.member as Parameters<typeof base.comment>[3]) => {
    const { body } = await (by ?? base.member).get(`/pull-requests?session_id=${sessionId}`)
    return body.data.map(({ number }: { number: number }) => number)
  }
  return { ...base, connection, send, numbers }
}

test(
  'a pull request belongs to the sessions that its branch, body or their links name',
  verifies('git.session'),
  async ({ app }) => {
    const { delegated, send, numbers, robot } = await scene(app)
    const [session, other] = [await delegated(), await delegated()]
    expect((await send({ number: 1, branch: `agent/${session.id}` })).body).toEqual({ outcome: 'linked' })
    expect((await send({ number: 2, body: `Session: ${session.id}` })).body).toEqual({ outcome: 'linked' })
    await send({ number: 3 })
    await send({ number: 4, title: session.id })
    // The link may come after the pull request.
    const url = 'https://github.com/acme/shop/pull/3'
    await session.change({ added_external_urls: [{ label: 'PR', url: `${url}/` }] })
    const before = await session.get()
    expect(await numbers(session.id)).toEqual([3, 2, 1])
    expect(await numbers(other.id)).toEqual([])
    await send({ number: 3, action: 'edited', updated: '2026-03-02T08:30:00Z' })
    expect(await session.get()).toEqual(before)
    expect(before.external_urls).toEqual([{ label: 'PR', url: `${url}/` }])
    await session.change({ external_urls: [] })
    expect(await numbers(session.id, robot)).toEqual([2, 1])
    await send({ number: 2, body: 'Nothing', action: 'edited', updated: '2026-03-02T08:30:00Z' })
    expect(await numbers(session.id)).toEqual([1])
  },
)

test(
  'a session on an item outside the teams of the connection is not linked',
  verifies('git.session'),
  async ({ app }) => {
    const { mentioned, newIssue, newProject, team, otherTeam, owner, connection, send, numbers } = await scene(app)
    const onIssue = await mentioned(await newIssue())
    const onProject = await mentioned(await newProject())
    await owner.patch(`/git-connections/${connection.id}`, { team_ids: [otherTeam.id] })
    const body = `${onIssue.id} ${onProject.id} sess_0123456789abcdefghjkmnpqrs`
    expect((await send({ body })).body).toEqual({ outcome: 'no_code' })
    await owner.patch(`/git-connections/${connection.id}`, { team_ids: [team.id] })
    expect((await send({ body, updated: '2026-03-02T08:30:00Z' })).body).toEqual({ outcome: 'linked' })
    expect([await numbers(onIssue.id), await numbers(onProject.id)]).toEqual([[7], [7]])
  },
)

test('an app sees the pull requests of its teams and sessions alone', verifies('git.session'), async ({ app }) => {
  const { delegated, robot, owner, otherTeam, newIssue, send } = await scene(app)
  const session = await delegated()
  const hidden = (await owner.post('/issues', { title: 'Hidden', team_id: otherTeam.id })).body
  const covered = await newIssue()
  await send({ number: 1, title: hidden.code })
  await send({ number: 2, title: `${hidden.code} ${covered.code}` })
  await send({ number: 3, branch: session.id })
  await send({ number: 4 })
  // An app cannot make a pull request visible by naming its address.
  await session.change({ external_urls: [{ label: 'PR', url: 'https://github.com/acme/shop/pull/1' }] })
  const { body } = await robot.get('/pull-requests')
  expect(body.data).toMatchObject([
    { number: 3, issues: [] },
    { number: 2, issues: [{ id: covered.id, closes: true }] },
  ])
  expect((await robot.get(`/pull-requests?session_id=${session.id}`)).body.data).toMatchObject([{ number: 3 }])
  expect(await robot.get(`/pull-requests?issue_id=${hidden.id}`)).toMatchObject({
    status: 403,
    body: { code: 'TEAM_ACCESS_DENIED' },
  })
  const elsewhere = await scene(app)
  expect(await elsewhere.robot.get(`/pull-requests?session_id=${session.id}`)).toMatchObject({ status: 404 })
  expect(await elsewhere.owner.get(`/pull-requests?session_id=${session.id}`)).toMatchObject({ status: 404 })
  const reader = await app.installed(owner, { scopes: ['write'] })
  expect(await reader.get('/pull-requests')).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } })
})

test('a personal token for selected teams sees their pull requests alone', verifies('git.session'), async ({ app }) => {
  const { owner, team, otherTeam, newIssue, send, delegated, id } = await scene(app)
  const session = await delegated()
  const hidden = (await owner.post('/issues', { title: 'Hidden', team_id: otherTeam.id })).body
  const covered = await newIssue()
  await send({ number: 1, title: hidden.code })
  await send({ number: 2, title: `${hidden.code} ${covered.code}` })
  await send({ number: 3, branch: session.id })
  await send({ number: 4 })
  const tokenFor = async (team_ids: string[] | null) =>
    (await owner.post('/personal-tokens', { name: 'Script', scopes: ['read'], team_ids })).body.token
  const list = async (team_ids: string[] | null) =>
    (await asApp(app, id, await tokenFor(team_ids)).get('/pull-requests')).body.data
  expect(await list([team.id])).toMatchObject([{ number: 2, issues: [{ id: covered.id, closes: true }] }])
  expect(await list(null)).toHaveLength(4)
})
