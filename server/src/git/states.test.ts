import { expect } from 'vitest'
import {
  gitScene,
  mergeRequest,
  type PullRequestFields,
  pullRequest,
  repositoryFields,
  signed,
} from '../../test/git.ts'
import { test, verifies } from '../../test/harness.ts'

const sha = 'a'.repeat(40)

test('GitHub: state, draft, fork, review and checks', verifies('git.states'), async ({ app }) => {
  const { send, sendBody, pullRequests, later, issue } = await gitScene(app)
  const title = issue.code
  const shown = async () => {
    const { state, review, checks, fork } = (await pullRequests())[0] as never as Record<string, unknown>
    return { state, review, checks, fork }
  }
  const reviewed = (state: string, login: string, more: object = {}, action = 'submitted') => {
    const { number: _, ...body } = pullRequest({ title, updated: later() })
    const review = { state, user: { login }, author_association: 'MEMBER', ...more }
    return sendBody({ ...body, action, review }, 'pull_request_review')
  }
  await send({ title, draft: true, updated: later() })
  expect(await shown()).toEqual({ state: 'draft', review: null, checks: null, fork: false })
  await send({ title, action: 'ready_for_review', updated: later() })
  expect(await shown()).toMatchObject({ state: 'open' })
  await send({ title, action: 'review_requested', reviewers: ['grace'], updated: later() })
  expect(await shown()).toMatchObject({ review: 'requested' })
  await reviewed('approved', 'mallory', { author_association: 'NONE' })
  expect(await shown()).toMatchObject({ review: null })
  await reviewed('commented', 'grace')
  await reviewed('approved', 'grace')
  expect(await shown()).toMatchObject({ review: 'approved' })
  await reviewed('changes_requested', 'linus')
  expect(await shown()).toMatchObject({ review: 'changes_requested' })
  // A reviewer who is asked again has no verdict.
  const again = pullRequest({ title, action: 'review_requested', reviewers: ['linus'], updated: later() })
  await sendBody({ ...again, requested_reviewer: { login: 'linus' } }, 'pull_request')
  expect(await shown()).toMatchObject({ review: 'approved' })
  await reviewed('dismissed', 'grace', {}, 'dismissed')
  expect(await shown()).toMatchObject({ review: null })

  const check = (name: string, id: number, fields: object, head = sha) => ({
    action: 'completed',
    check_run: { id, name, head_sha: head, started_at: later(), completed_at: later(), app: { slug: 'ci' }, ...fields },
    repository: repositoryFields(),
  })
  await sendBody(check('build', 1, { status: 'in_progress', completed_at: null }), 'check_run')
  expect(await shown()).toMatchObject({ checks: 'pending' })
  await sendBody(check('build', 1, { status: 'completed', conclusion: 'failure' }), 'check_run')
  expect(await shown()).toMatchObject({ checks: 'failed' })
  await sendBody(check('build', 2, { status: 'completed', conclusion: 'success' }), 'check_run')
  expect(await shown()).toMatchObject({ checks: 'passed' })
  const suite = { id: 9, head_sha: sha, status: 'completed', conclusion: 'timed_out', updated_at: later() }
  await sendBody({ action: 'completed', check_suite: suite, repository: repositoryFields() }, 'check_suite')
  expect(await shown()).toMatchObject({ checks: 'failed' })
  // Of another commit.
  expect((await sendBody(check('x', 3, { status: 'queued' }, 'b'.repeat(40)), 'check_run')).body.outcome).toBe(
    'no_code',
  )
  await send({ title, action: 'synchronize', sha: 'c'.repeat(40), updated: later() })
  expect(await shown()).toMatchObject({ checks: null })

  await send({ title, action: 'closed', state: 'closed', updated: later() })
  expect(await shown()).toMatchObject({ state: 'closed' })
  await send({ title, action: 'reopened', updated: later() })
  expect(await shown()).toMatchObject({ state: 'open' })
  const merged = later()
  await send({ title, action: 'closed', merged: true, updated: merged })
  // Data of the same second that arrives after the merge.
  await send({ title: `${title} late`, action: 'edited', updated: merged })
  expect(await shown()).toMatchObject({ state: 'merged', fork: false })
  await send({ number: 8, title, from: 'mallory/shop' })
  expect(await shown()).toMatchObject({ fork: true })
  await send({ number: 9, title, from: null })
  expect(await shown()).toMatchObject({ fork: true })
  expect((await pullRequests('?state=merged')).map(({ number }) => number)).toEqual([7])
  expect((await pullRequests('?state=open')).map(({ number }) => number)).toEqual([9, 8])
})

test('GitLab: state, draft, fork, review and checks', verifies('git.states'), async ({ app }) => {
  const { sendBody, pullRequests, issue, later } = await gitScene(app, { kind: 'gitlab' })
  const send = (attributes: object, more: object = {}) =>
    sendBody(mergeRequest({ title: issue.code, updated_at: later(), ...attributes }, more), 'Merge Request Hook')
  const shown = async () => (await pullRequests())[0]
  const reviewer = (username: string, state: string) => ({ reviewers: [{ username, state }] })
  await send({ draft: true })
  expect(await shown()).toMatchObject({
    state: 'draft',
    review: null,
    checks: null,
    fork: false,
    author: 'ada',
    number: 7,
  })
  await send({ action: 'update' }, reviewer('grace', 'unreviewed'))
  expect(await shown()).toMatchObject({ state: 'open', review: 'requested', author: 'ada' })
  await send({ action: 'update' }, reviewer('grace', 'requested_changes'))
  expect(await shown()).toMatchObject({ review: 'changes_requested' })
  await send({ action: 'approval' }, { ...reviewer('grace', 'unreviewed'), user: { username: 'linus' } })
  expect(await shown()).toMatchObject({ review: 'requested' })
  await send({ action: 'approved' }, { ...reviewer('grace', 'unreviewed'), user: { username: 'linus' } })
  expect(await shown()).toMatchObject({ review: 'approved', author: 'ada' })
  await send({ action: 'unapproved', system: true }, { user: { username: 'ada' } })
  expect(await shown()).toMatchObject({ review: null })

  const pipeline = (id: number, status: string, fields: object = {}) =>
    sendBody(
      {
        object_kind: 'pipeline',
        object_attributes: { id, sha, status, created_at: '2026-03-02 08:00:00 UTC', finished_at: null, ...fields },
        project: { path_with_namespace: 'acme/shop' },
      },
      'Pipeline Hook',
    )
  await pipeline(1, 'running')
  expect(await shown()).toMatchObject({ checks: 'pending' })
  await pipeline(1, 'failed', { finished_at: '2026-03-02 08:05:00 UTC' })
  expect(await shown()).toMatchObject({ checks: 'failed' })
  expect((await pipeline(1, 'pending')).body.outcome).toBe('stale')
  await pipeline(2, 'success', { finished_at: '2026-03-02 08:04:00 UTC' })
  expect(await shown()).toMatchObject({ checks: 'passed' })
  expect((await pipeline(1, 'canceled', { finished_at: '2026-03-02 09:00:00 UTC' })).body.outcome).toBe('stale')

  await send({ state: 'closed', action: 'close' })
  expect(await shown()).toMatchObject({ state: 'closed' })
  await send({ state: 'opened', action: 'reopen' })
  await send({ state: 'merged', action: 'merge' })
  expect(await shown()).toMatchObject({ state: 'merged' })
  await send({ iid: 8, source_project_id: 2 })
  expect(await shown()).toMatchObject({ number: 8, fork: true })
})

test.for(['gitea', 'forgejo'] as const)(
  '%s: state, draft, review and checks',
  verifies('git.states'),
  async (kind, { app }) => {
    const { send, sendBody, pullRequests, issue, later, owner } = await gitScene(app, { kind })
    const title = issue.code
    const shown = async () => (await pullRequests())[0]
    await send({ title, draft: true, updated: later() })
    expect(await shown()).toMatchObject({ state: 'draft', author: 'ada' })
    const asked = pullRequest({ title, action: 'review_requested', reviewers: ['grace'], updated: later() })
    await sendBody({ ...asked, requested_reviewer: { login: 'grace' }, review: null }, 'pull_request')
    expect(await shown()).toMatchObject({ state: 'open', review: 'requested' })
    const reviewed = (event: string, type: string) => {
      const body = pullRequest({ title, action: 'reviewed', updated: later() })
      return sendBody({ ...body, sender: { login: 'grace' }, review: { type, content: '' } }, event)
    }
    await reviewed('pull_request_rejected', 'pull_request_review_rejected')
    expect(await shown()).toMatchObject({ review: 'changes_requested' })
    expect((await reviewed('pull_request_approved', 'pull_request_review_rejected')).body.outcome).toBe('ignored_event')
    await reviewed('pull_request_approved', 'pull_request_review_approved')
    expect(await shown()).toMatchObject({ review: 'approved' })
    const status = (id: number, state: string) =>
      sendBody({ id, sha, state, context: 'ci', updated_at: later(), repository: repositoryFields() }, 'status')
    await status(1, 'pending')
    expect(await shown()).toMatchObject({ checks: 'pending' })
    await status(2, 'success')
    expect(await shown()).toMatchObject({ checks: 'passed' })
    await send({ title, action: 'closed', merged: true, updated: later() })
    expect(await shown()).toMatchObject({ state: 'merged' })

    const second = await owner.post('/issues', { title: 'Another' })
    const ref = second.body.code.toLowerCase()
    const pushed = { ref: `refs/heads/${ref}`, before: '0'.repeat(40), after: sha, repository: repositoryFields() }
    await sendBody(pushed, 'push')
    const branches = async () => (await owner.get(`/pull-requests?issue_id=${second.body.id}`)).body.branches
    expect(await branches()).toMatchObject([{ name: ref, url: `https://github.com/acme/shop/src/branch/${ref}` }])
    const named = { ref, ref_type: 'branch', repository: repositoryFields(), sender: { login: 'ada' } }
    expect((await sendBody({ ...named, sha }, 'delete')).body.outcome).toBe('ignored_event')
    expect((await sendBody({ ...named, pusher_type: 'user' }, 'delete')).body.outcome).toBe('updated')
    expect(await branches()).toEqual([])
  },
)

test('Gitea: a deleted branch keeps its name and its links', verifies('git.states'), async ({ app }) => {
  const { sendBody, pullRequests, issue, later } = await gitScene(app, { kind: 'gitea' })
  const branch = issue.code.toLowerCase()
  const body = (fields: PullRequestFields, label: string) => {
    const sent = pullRequest({ ...fields, updated: later() })
    return { ...sent, pull_request: { ...sent.pull_request, head: { ...sent.pull_request.head, label } } }
  }
  await sendBody(body({ branch }, branch), 'pull_request')
  const merged = { action: 'label_updated', merged: true, branch: 'refs/pull/7/head' }
  expect((await sendBody(body(merged, branch), 'pull_request')).body.outcome).toBe('updated')
  const [shown] = await pullRequests()
  expect(shown).toMatchObject({ branch, state: 'merged', fork: false, issues: [{ id: issue.id, closes: true }] })
})

test('Gitea: a pull request without a branch counts as a fork', verifies('git.automation-fork'), async ({ app }) => {
  const { sendBody, pullRequests, issue, status, later } = await gitScene(app, { kind: 'gitea' })
  const sent = pullRequest({ number: 9, title: issue.code, branch: 'refs/pull/9/head', updated: later() })
  const { head } = sent.pull_request
  await sendBody({ ...sent, pull_request: { ...sent.pull_request, head: { ...head, label: '' } } }, 'pull_request')
  expect(await pullRequests()).toMatchObject([{ number: 9, fork: true }])
  expect(await status()).toBe('todo')
})

test('odd values are ignored or read as text', verifies('git.event-shape'), async ({ app }) => {
  const { send, sendBody, pullRequests, issue, later, connection } = await gitScene(app)
  await send({ title: issue.code, updated: later() })
  const run = { id: 1, name: 'build\u0000', head_sha: sha, status: 'queued', started_at: later() }
  const check = {
    action: 'created',
    check_run: { ...run, app: { slug: 'c\u0000i\ud800' } },
    repository: repositoryFields(),
  }
  expect(await sendBody(check, 'check_run')).toMatchObject({ status: 202, body: { outcome: 'updated' } })
  expect((await pullRequests())[0]?.checks).toBe('pending')

  const letters = Array.from({ length: 2100 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000))).join(
    '',
  )
  const long = pullRequest({ number: 8, title: issue.code })
  long.pull_request.html_url = `https://github.com/${letters}`
  expect(await sendBody(long, 'pull_request')).toMatchObject({ status: 202, body: { outcome: 'ignored_event' } })

  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const many = `[${'{},'.repeat(100_000)}{}]`
  const { pull_request: fields, ...body } = pullRequest({ number: 9, updated: later() })
  for (const odd of ['null', 'true', '-1', '1e300', '1e999', '""', '"\\u0000"', '{}', '{"__proto__":1}', deep, many]) {
    for (const key of Object.keys(fields)) {
      const raw = JSON.stringify({ ...body, pull_request: { ...fields, [key]: '@' } }).replace('"@"', odd)
      const headers = signed('github', connection.secret, raw) as Record<string, string>
      const { status } = await app.anonymous.postRoot(`/hooks/git/${connection.id}`, undefined, { raw, headers })
      expect({ odd: odd.slice(0, 20), key, status }).toEqual({ odd: odd.slice(0, 20), key, status: 202 })
    }
  }
})

test('GitLab: an unknown status of a pipeline is pending', verifies('git.states'), async ({ app }) => {
  const { sendBody, pullRequests, issue } = await gitScene(app, { kind: 'gitlab' })
  await sendBody(mergeRequest({ title: issue.code }), 'Merge Request Hook')
  for (const [id, status] of ['constructor', 'toString', '__proto__', 'new_state'].entries()) {
    const pipeline = { id, sha, status, created_at: '2026-03-02 08:00:00 UTC', finished_at: null }
    const project = { path_with_namespace: 'acme/shop' }
    await sendBody({ object_kind: 'pipeline', object_attributes: pipeline, project }, 'Pipeline Hook')
    expect((await pullRequests())[0]).toMatchObject({ checks: 'pending' })
  }
})
