import { expect } from 'vitest'
import { connect, deliver, gitScene, pullRequest, push } from '../../test/git.ts'
import { test, verifies } from '../../test/harness.ts'
import { makeIssue } from '../../test/issues.ts'
import { sql } from '../db/sql.ts'

test(
  'an opened pull request moves its issue, with the system as actor',
  verifies('git.automation-opened'),
  async ({ app, receiver }) => {
    const { owner, send, issue, status, id } = await gitScene(app)
    await owner.post('/webhooks', { label: 'Chat', url: receiver.url, all_teams: true, resource_types: ['Issue'] })
    await send({ title: issue.code })
    expect(await status()).toBe('in_progress')
    const system = { id: '', type: 'system', name: '' }
    const { body: history } = await owner.get(`/issues/${issue.id}/history`)
    expect(history.data).toMatchObject([{ actor: system, changes: { status: { from: 'todo', to: 'in_progress' } } }])
    await app.deliver()
    expect(receiver.take().map(({ body }) => body)).toMatchObject([
      {
        type: 'Issue',
        action: 'update',
        actor: system,
        updated_from: { status: 'todo' },
        data: { id: issue.id, status: 'in_progress' },
        workspace_id: id,
      },
    ])
    // A person's change keeps its own actor.
    await owner.put(`/issues/${issue.id}`, { status: 'qa' })
    const { body: later } = await owner.get(`/issues/${issue.id}/history`)
    expect(later.data[0].actor).toEqual({ id: owner.user.id, name: owner.user.display_name })
  },
)

test('an issue only moves forward, and never out of done', verifies('git.automation-forwards'), async ({ app }) => {
  const scene = await gitScene(app)
  const { owner, team, send, later, status } = scene
  await owner.put(`/teams/${team.id}/git-automation`, { opened: 'todo', review_requested: 'qa', closed: 'backlog' })
  const cases: [from: string, to: string][] = [
    ['backlog', 'qa'],
    ['todo', 'qa'],
    ['in_progress', 'qa'],
    ['qa', 'qa'],
    ['release', 'release'],
    ['done', 'done'],
  ]
  let number = 100
  for (const [from, to] of cases) {
    const issue = await makeIssue(scene, { status: from })
    number += 1
    await send({ number, title: issue.code, updated: later() })
    expect({ from, now: await status(issue) }).toEqual({ from, now: from === 'backlog' ? 'todo' : from })
    await send({ number, title: issue.code, action: 'review_requested', reviewers: ['grace'], updated: later() })
    expect({ from, now: await status(issue) }).toEqual({ from, now: to })
    await send({ number, title: issue.code, action: 'closed', state: 'closed', updated: later() })
    expect({ from, now: await status(issue) }).toEqual({ from, now: to })
  }
  const done = await makeIssue(scene, { status: 'done' })
  const { body: before } = await owner.get(`/issues/${done.id}`)
  await send({ number: 200, title: done.code, updated: later() })
  await send({ number: 200, title: done.code, action: 'closed', merged: true, updated: later() })
  expect((await owner.get(`/issues/${done.id}`)).body).toEqual(before)
})

test(
  'a merge waits for the last open pull request that closes the issue',
  verifies('git.automation-last-merge'),
  async ({ app }) => {
    const scene = await gitScene(app)
    const { send, later, issue, status } = scene
    const title = issue.code
    for (const number of [1, 2, 3]) await send({ number, title, draft: number === 3, updated: later() })
    // Links without closing: does not count.
    await send({ number: 4, body: `Part of ${title}`, updated: later() })
    await send({ number: 1, title, action: 'closed', merged: true, updated: later() })
    await send({ number: 2, title, action: 'closed', merged: true, updated: later() })
    expect(await status()).toBe('in_progress')
    await send({ number: 3, title, action: 'closed', merged: true, updated: later() })
    expect(await status()).toBe('done')

    // The last one is closed without a merge, after another was merged.
    const second = await makeIssue(scene, { status: 'todo' })
    for (const number of [5, 6]) await send({ number, title: second.code, updated: later() })
    await send({ number: 5, title: second.code, action: 'closed', merged: true, updated: later() })
    expect(await status(second)).toBe('in_progress')
    await send({ number: 6, title: second.code, action: 'closed', state: 'closed', updated: later() })
    expect(await status(second)).toBe('done')

    // Closed alone is not merged.
    const third = await makeIssue(scene, { status: 'todo' })
    await send({ number: 7, title: third.code, updated: later() })
    await send({ number: 7, title: third.code, action: 'closed', state: 'closed', updated: later() })
    expect(await status(third)).toBe('in_progress')
  },
)

test(
  'an open pull request of another connection counts too',
  verifies('git.automation-last-merge'),
  async ({ app }) => {
    const { owner, send, later, issue, status } = await gitScene(app)
    const other = await connect(owner, { repositories: ['acme/site'] })
    const title = issue.code
    const there = (fields: object) =>
      deliver(app.anonymous, other, pullRequest({ repository: 'acme/site', from: 'acme/site', title, ...fields }))
    await there({ updated: later() })
    await send({ title, updated: later() })
    await send({ title, action: 'closed', merged: true, updated: later() })
    expect(await status()).toBe('in_progress')
    await there({ action: 'closed', merged: true, updated: later() })
    expect(await status()).toBe('done')
  },
)

test('a fork has no effect until it is merged', verifies('git.automation-fork'), async ({ app }) => {
  const { owner, team, send, sendBody, later, issue, status, pullRequests } = await gitScene(app)
  await owner.put(`/teams/${team.id}/git-automation`, { review_requested: 'qa', approved: 'release', closed: 'qa' })
  const fork = { title: issue.code, from: 'mallory/shop' }
  await send({ ...fork, updated: later() })
  expect((await pullRequests(`?issue_id=${issue.id}`))[0]).toMatchObject({ fork: true })
  await send({ ...fork, action: 'review_requested', reviewers: ['grace'], updated: later() })
  const { number: _, ...review } = pullRequest({ ...fork, action: 'submitted', updated: later() })
  await sendBody({ ...review, review: { state: 'approved', user: { login: 'grace' } } }, 'pull_request_review')
  await send({ ...fork, action: 'closed', state: 'closed', updated: later() })
  await send({ ...fork, action: 'reopened', updated: later() })
  expect(await status()).toBe('todo')
  await send({ ...fork, action: 'closed', merged: true, updated: later() })
  expect(await status()).toBe('done')
})

test('an open pull request of a fork does not keep an issue open', verifies('git.automation-fork'), async ({ app }) => {
  const { send, later, issue, status } = await gitScene(app)
  const title = issue.code
  const fork = { number: 8, title, from: 'mallory/shop' }
  await send({ title, updated: later() })
  await send({ ...fork, updated: later() })
  await send({ title, action: 'closed', merged: true, updated: later() })
  expect(await status()).toBe('done')
})

test('each team has its own rules', verifies('git.automation-per-team'), async ({ app }) => {
  const scene = await gitScene(app)
  const { owner, admin, member, team, other, send, sendBody, later, issue, status } = scene
  const path = `/teams/${team.id}/git-automation`
  const defaults = {
    branch: null,
    opened: 'in_progress',
    review_requested: null,
    approved: null,
    merged: 'done',
    closed: null,
  }
  expect((await member.get(path)).body).toEqual(defaults)
  expect(await app.unchanged(() => member.put(path, { opened: 'qa' }))).toMatchObject({ status: 403 })
  for (const wrong of [{ opened: 'nonsense' }, { opened: '' }, { other: 'qa' }, { opened: ['qa'] }]) {
    expect(await app.unchanged(() => admin.put(path, wrong))).toMatchObject({ status: 422 })
  }
  const changed = await admin.put(path, { branch: 'in_progress', opened: null, approved: 'release', merged: 'release' })
  expect(changed.body).toEqual({
    ...defaults,
    branch: 'in_progress',
    opened: null,
    approved: 'release',
    merged: 'release',
  })
  expect((await member.get(path)).body).toEqual(changed.body)
  expect((await member.get(`/teams/${other.id}/git-automation`)).body).toEqual(defaults)
  const elsewhere = await gitScene(app)
  expect(await elsewhere.owner.get(path)).toMatchObject({ status: 404 })
  expect(await app.unchanged(() => elsewhere.owner.put(path, {}))).toMatchObject({ status: 404 })

  const design = await makeIssue(scene, { team_id: other.id, status: 'todo' })
  const title = `${issue.code} ${design.code}`
  await send({ title, updated: later() })
  expect([await status(), await status(design)]).toEqual(['todo', 'in_progress'])
  await send({ title, action: 'closed', merged: true, updated: later() })
  expect([await status(), await status(design)]).toEqual(['release', 'done'])

  const pushed = await makeIssue(scene, { status: 'backlog' })
  await sendBody(push(pushed.code), 'push')
  expect(await status(pushed)).toBe('in_progress')
  // A second push of the same branch is not a new branch.
  await owner.put(`/issues/${pushed.id}`, { status: 'todo' })
  await sendBody(push(pushed.code, { at: 1772438460 }), 'push')
  expect(await status(pushed)).toBe('todo')

  const { body: log } = await owner.get('/audit-log?action=team.git_automation_changed')
  expect(log.data).toMatchObject([{ subject_id: team.id, actor: { id: admin.user.id } }])
  await owner.delete(`/teams/${other.id}?delete_issues=true`)
  expect(await app.ctx.db.rows(sql`select 1 from git_automation where team_id = ${other.id}`)).toEqual([])
})

test('a deleted team leaves the connections', verifies('git.automation-per-team'), async ({ app }) => {
  const { owner, team, other } = await gitScene(app)
  const both = await connect(owner, { team_ids: [team.id, other.id] })
  await owner.delete(`/teams/${other.id}?delete_issues=true`)
  expect((await owner.get(`/git-connections/${both.id}`)).body.team_ids).toEqual([team.id])
})
