import { branchName, programLimits } from '@baton/protocol'
import { expect } from 'vitest'
import { gitScene, mergeRequest, pullRequest, push } from '../../test/git.ts'
import { test, verifies } from '../../test/harness.ts'
import { makeIssue } from '../../test/issues.ts'
import { sql } from '../db/sql.ts'

const linked = { status: 202, body: { outcome: 'linked' } }
const noCode = { status: 202, body: { outcome: 'no_code' } }

test(
  'a code in the branch or the title links the issue as closing',
  verifies('git.link-by-branch-and-title'),
  async ({ app }) => {
    const { send, pullRequests, issue, member } = await gitScene(app)
    expect(await send({ branch: `ada/${issue.code.toLowerCase()}-oil` })).toMatchObject(linked)
    expect(await send({ number: 8, title: `${issue.code}: oil` })).toMatchObject(linked)
    expect(await send({ number: 9, title: 'Paint', branch: 'paint' })).toMatchObject(noCode)
    const expected = { issues: [{ id: issue.id, closes: true }] }
    for (const list of [
      await pullRequests(`?issue_id=${issue.id}`),
      await pullRequests(`?issue_id=${issue.code}`, member),
    ]) {
      expect(list).toMatchObject([
        { number: 8, title: `${issue.code}: oil`, ...expected },
        { number: 7, branch: `ada/${issue.code.toLowerCase()}-oil`, ...expected },
      ])
    }
    expect((await pullRequests()).map(({ number }) => number)).toEqual([9, 8, 7])
    const related = (await member.get(`/issues/${issue.code}/related`)).body
    expect(related).toMatchObject({ pull_requests: [{ number: 8 }, { number: 7 }], branches: [], duplicate_of: null })
  },
)

test(
  'words in the body decide, and a later body replaces the links',
  verifies('git.link-by-words'),
  async ({ app }) => {
    const scene = await gitScene(app)
    const { send, pullRequests, issue, later } = scene
    const [second, third] = [await makeIssue(scene), await makeIssue(scene)]
    const issues = async () => (await pullRequests())[0]?.issues
    const body = `Fixes ${issue.code}\n\nPart of ${second.code}\n\n${third.code}, prefixes ${third.code}`
    expect(await send({ body })).toMatchObject(linked)
    expect(await issues()).toEqual([
      { id: issue.id, closes: true },
      { id: second.id, closes: false },
    ])
    await send({ action: 'edited', body: `Refs ${issue.code}`, updated: later() })
    expect(await issues()).toEqual([{ id: issue.id, closes: false }])
    expect(await send({ action: 'edited', body: third.code, updated: later() })).toMatchObject(noCode)
    expect(await issues()).toEqual([])
  },
)

test('former codes link, and codes of other teams do not', verifies('git.link-old-code'), async ({ app }) => {
  const scene = await gitScene(app)
  const { owner, team, other, issue, send, pullRequests, connection } = scene
  await owner.put(`/issues/${issue.id}`, { team_id: other.id })
  const design = await makeIssue(scene, { team_id: other.id })
  expect(await send({ title: issue.code })).toMatchObject(linked)
  expect(await pullRequests(`?issue_id=${issue.id}`)).toHaveLength(1)

  await owner.patch(`/git-connections/${connection.id}`, { team_ids: [team.id] })
  const here = await makeIssue(scene)
  await send({ number: 8, title: `${here.code} ${design.code} ${issue.code}` })
  expect((await pullRequests())[0]).toMatchObject({ number: 8, issues: [{ id: here.id, closes: true }] })
  expect(await send({ number: 9, title: design.code })).toMatchObject(noCode)
  // An issue of no team belongs to none of the connection's teams.
  const teamless = await makeIssue(scene, { team_id: null })
  expect(await send({ number: 10, title: teamless.code })).toMatchObject(noCode)
})

test('a personal issue is never linked', verifies('git.link-personal-never'), async ({ app }) => {
  const scene = await gitScene(app)
  const { owner, send, pullRequests, issue, status } = scene
  const personal = await makeIssue(scene, { team_id: null, personal: true })
  expect(await send({ title: personal.code, branch: personal.code })).toMatchObject(noCode)
  expect((await pullRequests())[0]?.issues).toEqual([])
  expect(await pullRequests(`?issue_id=${personal.id}`)).toEqual([])
  const [pr] = await pullRequests()
  const byHand = await app.unchanged(() => owner.put(`/issues/${personal.id}/pull-requests/${pr?.id}`))
  expect(byHand).toMatchObject({ status: 422, body: { details: { issue_id: expect.any(String) } } })
  expect(await scene.sendBody(push(personal.code), 'push')).toMatchObject(noCode)

  // A linked issue that becomes personal disappears, and is not moved.
  await send({ number: 8, title: issue.code })
  await owner.put(`/issues/${issue.id}`, { personal: true, status: 'todo' })
  expect((await pullRequests())[0]).toMatchObject({ number: 8, issues: [] })
  expect(await pullRequests(`?issue_id=${issue.id}`)).toEqual([])
  await send({ number: 8, title: issue.code, merged: true, action: 'closed', updated: scene.later() })
  expect(await status()).toBe('todo')
})

test('a pull request has at most 20 issues', verifies('git.link-by-branch-and-title'), async ({ app }) => {
  const scene = await gitScene(app)
  const { owner, send, pullRequests } = scene
  const codes: string[] = []
  for (let count = 0; count <= programLimits.gitLinks; count++) codes.push((await makeIssue(scene)).code)
  await send({ title: `UTF-8 SHA-256 ${codes.join(' ')}` })
  const [pr] = await pullRequests()
  expect(pr?.issues).toHaveLength(programLimits.gitLinks)
  const last = codes.at(-1)
  const link = () => owner.put(`/issues/${last}/pull-requests/${pr?.id}`)
  expect(await app.unchanged(link)).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
  await owner.delete(`/issues/${codes[0]}/pull-requests/${pr?.id}`)
  expect((await link()).body.issues).toHaveLength(programLimits.gitLinks)
})

test('members link and unlink, and texts do not undo it', verifies('git.link-by-words'), async ({ app }) => {
  const scene = await gitScene(app)
  const { member, send, pullRequests, issue, status, later } = scene
  await send({ body: `Part of ${issue.code}` })
  const [pr] = await pullRequests()
  const path = `/issues/${issue.code}/pull-requests/${pr?.id}`
  expect((await member.delete(path)).status).toBe(204)
  expect(await app.unchanged(() => member.delete(path))).toMatchObject({ status: 404 })
  await send({ action: 'edited', title: issue.code, updated: later() })
  expect(await pullRequests(`?issue_id=${issue.id}`)).toEqual([])
  expect(await status()).toBe('todo')

  expect((await member.put(path, { closes: false })).body.issues).toEqual([{ id: issue.id, closes: false }])
  expect((await member.put(path)).body.issues).toEqual([{ id: issue.id, closes: true }])
  await send({ action: 'edited', title: 'No code', updated: later() })
  expect(await pullRequests(`?issue_id=${issue.id}`)).toHaveLength(1)
  await send({ action: 'closed', merged: true, updated: later() })
  expect(await status()).toBe('done')
})

test(
  'a pull request of another workspace can be neither linked nor seen',
  verifies('git.repository-list'),
  async ({ app }) => {
    const [here, there] = [await gitScene(app), await gitScene(app)]
    await there.send({ title: there.issue.code })
    const [theirs] = await there.pullRequests()
    const link = await app.unchanged(() => here.owner.put(`/issues/${here.issue.id}/pull-requests/${theirs?.id}`))
    expect(link).toMatchObject({ status: 404 })
    expect(await here.pullRequests()).toEqual([])
    // A code of the other workspace names nothing here.
    const teamOnlyThere = await there.owner.post('/teams', { name: 'Ops', key: 'OPS' })
    const issue = await makeIssue(there, { team_id: teamOnlyThere.body.id })
    expect(await here.send({ title: issue.code })).toMatchObject(noCode)
  },
)

test('a repository that is not listed has no effect', verifies('git.repository-list'), async ({ app }) => {
  const { owner, connection, send, sendBody, pullRequests, issue, status } = await gitScene(app)
  const title = issue.code
  for (const repository of ['acme/other', 'acme/shop2', 'evil/acme/shop', 'shop']) {
    expect(await send({ title, repository, from: repository })).toMatchObject({
      status: 202,
      body: { outcome: 'ignored_repository' },
    })
  }
  const other = {
    ...push(issue.code),
    repository: { full_name: 'acme/other', html_url: 'https://github.com/acme/other' },
  }
  expect(await sendBody(other, 'push')).toMatchObject({ body: { outcome: 'ignored_repository' } })
  expect(await pullRequests()).toEqual([])
  expect(await status()).toBe('todo')
  // Names are compared without case, as the hosts do; once listed, the same bytes count.
  await owner.patch(`/git-connections/${connection.id}`, { repositories: ['acme/shop', 'ACME/Other'] })
  expect(await send({ title, repository: 'acme/other', from: 'acme/other' })).toMatchObject(linked)
})

test('a body counts only under its own event', verifies('git.event-shape'), async ({ app }) => {
  const { sendBody, send, pullRequests, issue, status, owner, connection } = await gitScene(app)
  await send({ title: issue.code })
  const [before] = await pullRequests()
  await owner.put(`/issues/${issue.id}`, { status: 'backlog' })
  const review = {
    ...pullRequest({ title: issue.code, updated: '2026-03-02T08:30:00Z' }),
    action: 'submitted',
    review: { state: 'approved', user: { login: 'grace' }, author_association: 'MEMBER' },
  }
  const { number: _, ...reviewBody } = review
  const bodies: [string, object][] = [
    ['pull_request_review', reviewBody],
    ['pull_request', pullRequest({ number: 8, title: issue.code, merged: true })],
    ['push', push(issue.code)],
    [
      'status',
      {
        id: 1,
        sha: 'a'.repeat(40),
        state: 'failure',
        context: 'ci',
        updated_at: '2026-03-02T08:00:00Z',
        repository: push('x').repository,
      },
    ],
    [
      'check_run',
      {
        action: 'created',
        check_run: {
          id: 1,
          name: 'ci',
          head_sha: 'a'.repeat(40),
          status: 'queued',
          started_at: '2026-03-02T08:00:00Z',
        },
        repository: push('x').repository,
      },
    ],
  ]
  const events = ['ping', 'issues', '', 'Merge Request Hook', ...bodies.map(([event]) => event)]
  for (const [own, body] of bodies) {
    for (const event of events.filter((one) => one !== own)) {
      expect({ own, event, answer: (await sendBody(body, event)).body }).toEqual({
        own,
        event,
        answer: { outcome: 'ignored_event' },
      })
    }
  }
  expect(await pullRequests()).toEqual([before])
  expect(await status()).toBe('backlog')
  expect((await owner.get(`/git-connections/${connection.id}/deliveries`)).body.data).toHaveLength(41)
  // The wrong header did not use up the right one.
  expect((await sendBody(reviewBody, 'pull_request_review')).body).toEqual({ outcome: 'updated' })
  expect((await pullRequests())[0]?.review).toBe('approved')
})

test('GitLab: the kind in the body decides', verifies('git.event-shape'), async ({ app }) => {
  const { sendBody, pullRequests, issue } = await gitScene(app, { kind: 'gitlab' })
  const body = mergeRequest({ title: issue.code })
  for (const event of ['Push Hook', 'Pipeline Hook', 'Note Hook', '']) {
    expect((await sendBody(body, event)).body).toEqual({ outcome: 'ignored_event' })
  }
  expect((await sendBody({ ...body, object_kind: 'push' }, 'Merge Request Hook')).body.outcome).toBe('ignored_event')
  expect(await pullRequests()).toEqual([])
  expect((await sendBody(body, 'Merge Request Hook')).body).toEqual({ outcome: 'linked' })
})

test('a repeated body is a duplicate and an older one stale', verifies('git.replay'), async ({ app }) => {
  const { send, sendBody, pullRequests, issue, owner, status, later } = await gitScene(app)
  const title = issue.code
  const [first, second, third] = [later(), later(), later()]
  await send({ title, updated: second })
  await owner.put(`/issues/${issue.id}`, { status: 'backlog' })
  const before = await pullRequests()
  const expectNothing = async (work: () => ReturnType<typeof send>, outcome: string) => {
    expect(await work()).toMatchObject({ status: 202, body: { outcome } })
    expect(await pullRequests()).toEqual(before)
    expect(await status()).toBe('backlog')
  }
  await expectNothing(() => send({ title, updated: second }), 'duplicate')
  await expectNothing(() => send({ title: `${title} older`, updated: first }), 'stale')
  await expectNothing(() => send({ title, merged: true, action: 'closed', updated: first }), 'stale')
  const receivedBefore = (days: number, seconds: number) =>
    app.ctx.db.run(sql`
      update git_deliveries
      set received_at = ${new Date(app.clock.now().getTime() - (days * 86_400 + seconds) * 1000)}`)
  await receivedBefore(programLimits.gitDeliveryDays, -1)
  await expectNothing(() => send({ title, updated: second }), 'duplicate')
  // When the hash is forgotten, the same data still changes nothing.
  await receivedBefore(programLimits.gitDeliveryDays, 0)
  await expectNothing(() => send({ title, updated: second }), 'updated')

  const check = (at: string, state: string, id = 5) =>
    sendBody(
      { id, sha: 'a'.repeat(40), state, context: 'ci', updated_at: at, repository: push('x').repository },
      'status',
    )
  expect((await check(second, 'success')).body).toEqual({ outcome: 'updated' })
  expect((await check(first, 'failure')).body).toEqual({ outcome: 'stale' })
  expect((await check(third, 'failure', 4)).body).toEqual({ outcome: 'stale' })
  expect((await pullRequests())[0]?.checks).toBe('passed')
})

test('data from the future does not make later data stale', verifies('git.replay'), async ({ app }) => {
  const { send, sendBody, pullRequests, issue, owner } = await gitScene(app)
  const at = (ms: number) => new Date(app.clock.now().getTime() + ms).toISOString()
  const day = 86_400_000
  const title = issue.code
  const ignored = { status: 202, body: { outcome: 'ignored_event' } }
  const check = (id: number, updated_at: string) =>
    sendBody(
      { id, sha: 'a'.repeat(40), state: 'failure', context: 'ci', updated_at, repository: push('x').repository },
      'status',
    )
  expect(await send({ title, updated: at(day + 1000) })).toMatchObject(ignored)
  expect(await sendBody(push(issue.code, { at: (app.clock.now().getTime() + day) / 1000 + 1 }), 'push')).toMatchObject(
    ignored,
  )
  expect(await pullRequests()).toEqual([])
  expect((await owner.get(`/pull-requests?issue_id=${issue.id}`)).body.branches).toEqual([])
  expect(await send({ title: `${title} now`, updated: at(0) })).toMatchObject(linked)
  expect(await check(1, at(day + 1000))).toMatchObject(ignored)
  expect(await check(1, at(0))).toMatchObject({ body: { outcome: 'updated' } })
  // A clock that is ahead, or a wrong time zone.
  expect(await send({ number: 8, title, updated: at(day) })).toMatchObject(linked)
})

test(
  'a push is repeated without effect, also after its branch was deleted',
  verifies('git.replay'),
  async ({ app }) => {
    const { sendBody, issue, owner } = await gitScene(app)
    const branches = async () => (await owner.get(`/pull-requests?issue_id=${issue.id}`)).body.branches
    const at = Math.floor(app.clock.now().getTime() / 1000)
    expect((await sendBody(push(issue.code, { at }), 'push')).body).toEqual({ outcome: 'linked' })
    expect((await sendBody(push(issue.code, { at: at - 60 }), 'push')).body).toEqual({ outcome: 'stale' })
    expect((await sendBody(push(issue.code, { deleted: true, at }), 'push')).body).toEqual({ outcome: 'updated' })
    expect((await sendBody(push(issue.code, { at }), 'push')).body).toEqual({ outcome: 'duplicate' })
    expect(await branches()).toEqual([])
  },
)

test(
  'a branch is shown until its pull request exists or it is deleted',
  verifies('git.branch-shown', 'git.branch-name'),
  async ({ app }) => {
    const scene = await gitScene(app)
    const { sendBody, send, issue, member, owner, connection } = scene
    const branch = branchName('Ada Lovelace', { code: issue.code, title: 'A bug' })
    const shown = async () => (await member.get(`/pull-requests?issue_id=${issue.id}`)).body
    expect((await sendBody(push('main'), 'push')).body).toEqual({ outcome: 'no_code' })
    expect((await sendBody({ ...push('x'), ref: `refs/tags/${issue.code}` }, 'push')).body).toEqual({
      outcome: 'ignored_event',
    })
    expect((await sendBody(push(branch), 'push')).body).toEqual({ outcome: 'linked' })
    expect(await shown()).toEqual({
      data: [],
      next_cursor: null,
      branches: [
        {
          connection_id: connection.id,
          repository: 'acme/shop',
          name: branch,
          url: `https://github.com/acme/shop/tree/${branch}`,
          pushed_at: '2026-03-02T08:00:00.000Z',
        },
      ],
    })
    expect((await member.get('/pull-requests')).body.branches).toEqual([])
    await send({ branch })
    expect(await shown()).toMatchObject({ data: [{ branch, issues: [{ id: issue.id, closes: true }] }], branches: [] })

    const second = await makeIssue(scene)
    await sendBody(push(second.code), 'push')
    const ofSecond = async () => (await owner.get(`/pull-requests?issue_id=${second.id}`)).body.branches
    expect(await ofSecond()).toHaveLength(1)
    expect((await sendBody(push(second.code, { deleted: true }), 'push')).body).toEqual({ outcome: 'updated' })
    expect(await ofSecond()).toEqual([])
  },
)
