import { expect, vi } from 'vitest'
import { connect, deliver, gitScene, pullRequest } from '../../test/git.ts'
import { type TestApp, test, verifiesOnPostgres } from '../../test/harness.ts'
import { makeIssue } from '../../test/issues.ts'
import type { Receiver } from '../../test/receiver.ts'
import { postDueComments } from './comments.ts'

test('of two pull requests merged at once, through two connections, the second closes the issue', {
  ...verifiesOnPostgres('git.automation-last-merge'),
  timeout: 60_000,
}, async ({ app }) => {
  const scene = await gitScene(app)
  const other = await connect(scene.owner, { repositories: ['acme/site'] })
  for (let number = 1; number <= 15; number++) {
    const issue = await makeIssue(scene, { status: 'todo' })
    const there = (fields: object) =>
      deliver(
        app.anonymous,
        other,
        pullRequest({ repository: 'acme/site', from: 'acme/site', number, title: issue.code, ...fields }),
      )
    await Promise.all([scene.send({ number, title: issue.code }), there({})])
    expect(await scene.status(issue)).toBe('in_progress')
    const merged = { action: 'closed', merged: true, updated: '2026-03-02T08:30:00Z' }
    await Promise.all([scene.send({ number, title: issue.code, ...merged }), there(merged)])
    expect(await scene.status(issue)).toBe('done')
  }
})

test('two connections that name the same issues do not conflict', {
  ...verifiesOnPostgres('git.automation-last-merge'),
  timeout: 60_000,
}, async ({ app }) => {
  const scene = await gitScene(app)
  const other = await connect(scene.owner, { repositories: ['acme/site'] })
  const conflicts = conflictsOf(app)
  for (let number = 1; number <= 10; number++) {
    const [a, b] = [await makeIssue(scene, { status: 'todo' }), await makeIssue(scene, { status: 'todo' })]
    const there = { repository: 'acme/site', from: 'acme/site', number, title: `${b.code} ${a.code}` }
    const answers = await Promise.all([
      scene.send({ number, title: `${a.code} ${b.code}` }),
      deliver(app.anonymous, other, pullRequest(there)),
    ])
    expect(answers.map(({ body }) => body.outcome)).toEqual(['linked', 'linked'])
  }
  expect(conflicts()).toBe(0)
})

/** Counts the attempts of transactions that were repeated. */
function conflictsOf({ ctx: { db } }: TestApp) {
  let [begun, attempted] = [0, 0]
  const begin = db.tx.bind(db)
  vi.spyOn(db, 'tx').mockImplementation((work) => {
    begun++
    return begin((tx) => {
      attempted++
      return work(tx)
    })
  })
  return () => attempted - begun
}

test('a body that is sent several times at once counts once', verifiesOnPostgres('git.replay'), async ({ app }) => {
  const { send, issue, owner } = await gitScene(app)
  const answers = await Promise.all(Array.from({ length: 10 }, () => send({ title: issue.code })))
  expect(answers.map(({ body }) => body.outcome).sort()).toEqual([...Array(9).fill('duplicate'), 'linked'])
  expect((await owner.get(`/issues/${issue.id}/history`)).body.data).toHaveLength(1)
})

const hostOf = (receiver: Receiver) => new URL(receiver.url).origin

test(
  'several workers post one comment',
  verifiesOnPostgres('git.comment-once'),
  async ({ app, receiver, startApp }) => {
    const { send, issue } = await gitScene(app, { host: hostOf(receiver), token: 'a-token' })
    const second = await startApp({}, app)
    receiver.answer = 201
    for (let number = 1; number <= 10; number++) await send({ number, title: issue.code })
    await Promise.all([app, second, app, second].map(({ ctx }) => postDueComments(ctx)))
    expect(
      receiver
        .take()
        .map(({ path }) => path)
        .sort(),
    ).toEqual(Array.from({ length: 10 }, (_, index) => `/api/v3/repos/acme/shop/issues/${index + 1}/comments`).sort())
  },
)
