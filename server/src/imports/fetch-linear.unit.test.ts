import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { fetching } from '../../test/fetching.ts'
import { LinearApi, linearWorkspace } from '../../test/linear-api.ts'
import { recordsIn, sourceFile, unmapped } from '../../test/source-files.ts'
import { FetchFailed, fetchSource } from './fetch.ts'
import { readSource } from './formats/index.ts'

const key = 'lin_api_secret'

async function scene() {
  const api = await LinearApi.start(linearWorkspace())
  onTestFinished(() => api.stop())
  const tools = fetching()
  const fetch = (signal = tools.signal) => fetchSource(tools, { kind: 'linear', url: api.url }, key, tools.sink, signal)
  const read = () => recordsIn(readSource('linear', [sourceFile(tools.stored(), { name: 'linear.jsonl' })], unmapped))
  return { api, ...tools, fetch, read }
}

test('all pages of all lists arrive', verifies('import.linear-api'), async () => {
  const { api, fetch, read } = await scene()
  await fetch()
  const records = await read()
  expect(records.issues.map(({ key }) => key)).toEqual(['ENG-1', 'ENG-2', 'ENG-3', 'ENG-4', 'ENG-5'])
  expect(records.issues[0]).toEqual({
    kind: 'issue',
    id: 'issue-1',
    key: 'ENG-1',
    team: 'Engineering',
    title: 'Issue 1',
    description: 'See ![shot.png](https://uploads.linear.app/a/b/c)',
    status: 'In Progress',
    statusType: 'started',
    priority: 'High',
    type: null,
    labels: ['label-1', 'label-2'],
    project: 'project-1',
    milestone: 'milestone-1',
    cycle: 'cycle-1',
    parent: null,
    blocks: ['issue-2'],
    blockedBy: [],
    duplicateOf: null,
    related: ['issue-4'],
    creator: 'user-1',
    assignee: 'user-2',
    hours: null,
    points: 1,
    due: '2026-02-03',
    createdAt: '2026-01-02T03:04:05.000Z',
    updatedAt: '2026-01-03T03:04:05.000Z',
    completedAt: null,
    archived: false,
    url: 'https://linear.app/acme/issue/ENG-1',
    row: expect.any(Number),
  })
  expect(records.issues[1]).toMatchObject({
    parent: 'issue-1',
    status: 'Canceled',
    completedAt: '2026-01-04T00:00:00.000Z',
  })
  expect(records.issues[2]).toMatchObject({ duplicateOf: 'issue-1' })
  expect(records.issues[4]).toMatchObject({ archived: true })
  expect(records.comments.map(({ id, issue, author, text }) => [id, issue, author, text])).toEqual([
    ['comment-1', 'issue-1', 'user-3', 'Comment 1'],
    ['comment-2', 'issue-1', 'user-3', 'Comment 2'],
    ['comment-3', 'issue-1', 'user-3', 'Comment 3'],
  ])
  expect(records.labels.map(({ id }) => id)).toEqual(['label-1', 'label-2', 'label-3'])
  expect(records.projects).toMatchObject([{ description: 'Long **text**' }, { description: 'Short' }, {}])
  expect(records.milestones[2]).toMatchObject({ id: 'milestone-3', project: 'project-1', due: '2026-05-01' })
  expect(records.cycles.map(({ name, team }) => [name, team])).toEqual([
    ['First', 'Engineering'],
    ['Cycle 2', 'Engineering'],
    ['Cycle 3', 'Engineering'],
  ])
  expect(records.users).toHaveLength(3)
  expect(records.users[0]).toEqual({ kind: 'user', id: 'user-1', name: 'User 1', email: 'user1@example.com' })
  expect(records.attachments).toMatchObject([
    {
      issue: 'issue-1',
      name: 'shot.png',
      url: 'https://uploads.linear.app/a/b/c?signature=eyJh.b-c',
      textUrl: 'https://uploads.linear.app/a/b/c',
    },
    { id: 'attachment-1', issue: 'issue-2', url: 'https://example.com/1', isLink: true },
    { id: 'attachment-2' },
    { id: 'attachment-3' },
  ])
  expect(records.problems).toEqual([])
  expect(api.requests.filter(({ list }) => list === 'issues').map(({ after }) => after)).toEqual([
    null,
    'issue-2',
    'issue-4',
  ])
  expect(new Set(api.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([key]))
})

test('waits as long as a 429 says', verifies('import.linear-api'), async () => {
  const { api, clock, fetch, read, waitsFor } = await scene()
  api.answersFirst.push({ status: 429, headers: { 'retry-after': '7' } })
  const done = fetch()
  await waitsFor(7000)
  clock.advance({ milliseconds: 6999 })
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  expect(api.requests).toHaveLength(1)
  clock.advance({ milliseconds: 1 })
  await done
  expect((await read()).issues).toHaveLength(5)
})

test("waits for Linear's own form of a rate limit", verifies('import.linear-api'), async () => {
  const { api, clock, fetch, read, waitsFor } = await scene()
  const reset = String(clock.now().getTime() + 120_000)
  const body = { errors: [{ message: 'Rate limit exceeded', extensions: { code: 'RATELIMITED' } }] }
  api.answersFirst.push({ status: 400, headers: { 'x-ratelimit-requests-reset': reset }, body })
  const done = fetch()
  await waitsFor(120_000)
  clock.advance({ seconds: 120 })
  await done
  expect((await read()).issues).toHaveLength(5)
})

test('a failing service is tried 5 times', verifies('import.linear-api'), async () => {
  const { api, clock, fetch, waitsFor } = await scene()
  for (let attempt = 1; attempt <= 5; attempt++) api.answersFirst.push({ status: 502 })
  const done = fetch().catch((error: Error) => error)
  for (const seconds of [1, 4, 16, 64]) {
    await waitsFor(seconds * 1000)
    clock.advance({ seconds })
  }
  expect(await done).toEqual(new FetchFailed('Linear answers 502. Try again later.'))
  expect(api.requests).toHaveLength(5)
})

test.each([
  [401, {}, 'Linear answered 401. Check the key and what it may read.'],
  [200, { errors: [{ message: key }] }, 'Linear did not answer the list of teams. Check the key and what it may read.'],
  [429, {}, 'Linear allows no more requests for now. Try again later.'],
])(
  'a refusal with %i ends with a reason that does not show the key',
  verifies('import.key-only-to-source'),
  async (status, body, reason) => {
    const { api, fetch, stored } = await scene()
    api.answersFirst.push({ status, body, headers: { 'retry-after': '3601' } })
    expect(await fetch().catch((error: Error) => error)).toEqual(new FetchFailed(reason))
    expect(stored()).toHaveLength(0)
  },
)

test('a key that is no header value is refused before a request', verifies('import.key-only-to-source'), async () => {
  const { api, sink, signal, clock, outbound } = await scene()
  for (const wrong of ['', 'a\r\nx-other: b', 'a b', 'schlüssel']) {
    const done = fetchSource({ clock, outbound }, { kind: 'linear', url: api.url }, wrong, sink, signal)
    await expect(done).rejects.toThrow(new FetchFailed('The key has characters that no key has. Copy it again.'))
  }
  expect(api.requests).toEqual([])
})

test('stops when it is canceled, also while it waits', verifies('import.linear-api'), async () => {
  const { api, fetch, waitsFor } = await scene()
  api.answersFirst.push({ status: 429, headers: { 'retry-after': '7' } })
  const abort = new AbortController()
  const done = fetch(abort.signal)
  await waitsFor(7000)
  abort.abort(new Error('canceled'))
  await expect(done).rejects.toThrow('canceled')
  expect(api.requests).toHaveLength(1)
})
