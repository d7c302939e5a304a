import { describe, expect, test } from 'vitest'
import { verifies } from '../../../../conformance/requirements.ts'
import { recordsIn, sourceFile, unmapped } from '../../../test/source-files.ts'
import { describeSource, readSource } from './index.ts'

const api = 'https://api.github.com/repos/acme/shop'
const web = 'https://github.com/acme/shop'
const user = (login: string) => ({ login, id: 1, type: 'User', url: `https://api.github.com/users/${login}` })

/** As GET /repos/{owner}/{repo}/issues lists it, without the fields that are not read. */
const restIssue = (number: number, more: object = {}) => ({
  url: `${api}/issues/${number}`,
  repository_url: api,
  html_url: `${web}/issues/${number}`,
  id: 1000 + number,
  node_id: `I_${number}`,
  number,
  title: `Issue ${number}`,
  user: user('ada'),
  labels: [{ id: 1, name: 'bug', color: 'D73A4A', default: true, description: '' }],
  state: 'open',
  locked: false,
  assignee: null,
  assignees: [],
  milestone: null,
  comments: 2,
  created_at: '2024-01-02T03:04:05Z',
  updated_at: '2024-01-03T03:04:05Z',
  closed_at: null,
  body: 'Text',
  state_reason: null,
  ...more,
})

const restComment = (id: number, issue: number, where = 'issues') => ({
  url: `${api}/issues/comments/${id}`,
  html_url: `${web}/${where}/${issue}#issuecomment-${id}`,
  issue_url: `${api}/issues/${issue}`,
  id,
  user: user('grace'),
  created_at: '2024-01-02T04:00:00Z',
  updated_at: '2024-01-02T05:00:00Z',
  body: `Comment ${id}\r\nline`,
})

const closed = restIssue(2, {
  state: 'closed',
  state_reason: 'not_planned',
  closed_at: '2024-02-01T00:00:00Z',
  assignees: [user('grace'), user('ada')],
  assignee: user('grace'),
  milestone: { number: 3, title: 'v1', due_on: '2024-03-01T08:00:00Z', url: `${api}/milestones/3` },
  type: { name: 'Bug' },
  parent_issue_url: `${api}/issues/1`,
  body: `See ![x](https://github.com/user-attachments/assets/6c1b-a) and ${web}/files/12/log.txt`,
})
const pullRequest = restIssue(3, { html_url: `${web}/pull/3`, pull_request: { url: `${api}/pulls/3` } })

test("reads issues and comments of GitHub's REST API", verifies('import.github-json'), async () => {
  const file = sourceFile(
    JSON.stringify([restIssue(1), closed, pullRequest, restComment(7, 2), restComment(8, 3, 'pull')]),
    {
      name: 'issues.json',
      chunk: 11,
    },
  )
  const read = await recordsIn(readSource('github', [file], unmapped))
  expect(read.issues).toEqual([
    expect.objectContaining({
      id: 'acme/shop#1',
      key: null,
      team: 'acme/shop',
      title: 'Issue 1',
      description: 'Text',
      status: 'open',
      labels: ['bug'],
      creator: 'ada',
      assignee: null,
      createdAt: '2024-01-02T03:04:05.000Z',
      updatedAt: '2024-01-03T03:04:05.000Z',
      completedAt: null,
      url: `${web}/issues/1`,
      row: 1,
    }),
    expect.objectContaining({
      id: 'acme/shop#2',
      status: 'not planned',
      type: 'Bug',
      assignee: 'grace',
      assignees: ['grace', 'ada'],
      milestone: 'acme/shop/3',
      parent: 'acme/shop#1',
      completedAt: '2024-02-01T00:00:00.000Z',
    }),
  ])
  expect(read.labels).toEqual([{ kind: 'label', id: 'bug', name: 'bug', color: '#d73a4a' }])
  expect(read.milestones).toEqual([
    { kind: 'milestone', id: 'acme/shop/3', name: 'v1', project: null, due: '2024-03-01' },
  ])
  expect(read.users.map(({ id }) => id)).toEqual(['ada', 'grace'])
  expect(read.comments).toEqual([
    {
      kind: 'comment',
      id: 'acme/shop#2/7',
      issue: 'acme/shop#2',
      author: 'grace',
      text: 'Comment 7\nline',
      createdAt: '2024-01-02T04:00:00.000Z',
      updatedAt: '2024-01-02T05:00:00.000Z',
      row: 4,
    },
  ])
  expect(read.attachments.map(({ issue, name, url, textUrl }) => [issue, name, url, textUrl === url])).toEqual([
    ['acme/shop#2', '6c1b-a', 'https://github.com/user-attachments/assets/6c1b-a', true],
    ['acme/shop#2', 'log.txt', `${web}/files/12/log.txt`, true],
  ])
  expect(read.problems).toEqual([
    expect.objectContaining({ row: 2, field: 'assignees', value: 'ada' }),
    {
      kind: 'problem',
      row: null,
      field: null,
      value: '2',
      message: '2 pull requests were skipped',
      skipped: 2,
    },
  ])
  expect(await describeSource('github', [file])).toEqual({ columns: [], dateOrderNeeded: false, dateOrder: null })
})

test('reads what gh issue list --json writes', verifies('import.github-json'), async () => {
  const author = { id: 'MDQ6', is_bot: false, login: 'ada', name: 'Ada Lovelace' }
  const issue = {
    assignees: [{ id: 'MDQ7', login: 'grace', name: '' }],
    author,
    body: 'Text',
    closed: true,
    closedAt: '2024-02-01T00:00:00Z',
    comments: [
      {
        id: 'IC_kw1',
        author: { login: 'grace' },
        authorAssociation: 'MEMBER',
        body: 'First',
        createdAt: '2024-01-02T04:00:00Z',
        includesCreatedEdit: false,
        url: `${web}/issues/5#issuecomment-71`,
      },
    ],
    createdAt: '2024-01-02T03:04:05Z',
    id: 'I_kw5',
    labels: [{ id: 'LA_1', name: 'bug', description: 'Broken', color: 'd73a4a' }],
    milestone: { number: 3, title: 'v1', description: '', dueOn: '2024-03-01T00:00:00Z' },
    number: 5,
    state: 'CLOSED',
    stateReason: 'COMPLETED',
    title: 'From gh',
    updatedAt: '2024-01-03T03:04:05Z',
    url: `${web}/issues/5`,
  }
  const pull = { ...issue, number: 6, url: `${web}/pull/6`, isPullRequest: true }
  const read = await recordsIn(readSource('github', [sourceFile(JSON.stringify([issue, pull], null, 2))], unmapped))
  expect(read.issues).toMatchObject([
    {
      id: 'acme/shop#5',
      team: 'acme/shop',
      status: 'closed',
      labels: ['bug'],
      assignee: 'grace',
      creator: 'ada',
      milestone: 'acme/shop/3',
      createdAt: '2024-01-02T03:04:05.000Z',
      updatedAt: '2024-01-03T03:04:05.000Z',
      completedAt: '2024-02-01T00:00:00.000Z',
      url: `${web}/issues/5`,
    },
  ])
  expect(read.users).toEqual([
    { kind: 'user', id: 'ada', name: 'Ada Lovelace', email: null },
    { kind: 'user', id: 'grace', name: 'grace', email: null },
  ])
  // The same id as in the REST API: a second import from there creates nothing.
  expect(read.comments).toMatchObject([{ id: 'acme/shop#5/71', author: 'grace', text: 'First' }])
  expect(read.problems).toMatchObject([{ message: '1 pull request was skipped', skipped: 1 }])
})

describe('finds the issues in', () => {
  const [a, b] = [JSON.stringify(restIssue(1, { body: 'a "}]{[" \\' })), JSON.stringify(restIssue(2))]
  test.each([
    ['one array', [`[${a},${b}]`]],
    ['pages that were joined', [`[${a}][${b}]`]],
    ['pages in an array', [`[[${a}], [${b}], []]`]],
    ['lines', [`${a}\n${b}\n`]],
    ['lines of the fetcher', [`{"kind":"issues","data":${a}}\n{"kind":"issues","data":${b}}`]],
    ['a search', [`{"total_count":2,"items":[${a},${b}]}`]],
    ['two files', [`[${a}]`, `[${b}]`]],
    ['a byte order mark', [`\ufeff[${a},${b}]`]],
  ])('%s', verifies('import.github-json'), async (_, contents) => {
    for (const chunk of [1, 50, 100_000]) {
      const files = contents.map((content) => sourceFile(content, { chunk }))
      const { issues, problems } = await recordsIn(readSource('github', files, unmapped))
      expect(issues.map(({ id }) => id)).toEqual(['acme/shop#1', 'acme/shop#2'])
      expect(issues[0]?.description).toBe('a "}]{[" \\')
      expect(problems).toEqual([])
    }
  })
})

describe('reports and skips', () => {
  const good = JSON.stringify(restIssue(9))
  const large = (bytes: number) => JSON.stringify(restIssue(1, { body: 'x'.repeat(bytes - 1000) })).padEnd(bytes)
  const deep = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
  test.each([
    ['an object that is no issue', `[{"a":1},${good}]`, /no issue/],
    ['broken JSON', `[{"a":tru},${good}]`, /not JSON/],
    ['an object of more than 4 MB', `[${large(5 * 1024 * 1024)},${good}]`, /4 MB/],
    ['an object of more than 100 levels', `[${deep(100_000)},${good}]`, /100 levels/],
    ['a file that ends early', `[${good},{"title":"x`, /not complete/],
    ['a file without objects', `[] `, /no JSON objects/],
  ])('%s', async (_, content, message) => {
    const { issues, problems } = await recordsIn(
      readSource('github', [sourceFile(content, { chunk: 64 * 1024 })], unmapped),
    )
    expect(issues.map(({ id }) => id)).toEqual(content.includes(good) ? ['acme/shop#9'] : [])
    expect(problems).toMatchObject([{ message: expect.stringMatching(message) }])
  })

  test('nothing of an object of almost 4 MB', async () => {
    const { issues, problems } = await recordsIn(
      readSource('github', [sourceFile(large(4 * 1024 * 1024 - 1), { chunk: 64 * 1024 })], unmapped),
    )
    expect([issues.length, problems.length]).toEqual([1, 0])
  })
})

test('NUL in a text is replaced', async () => {
  const file = sourceFile(JSON.stringify([restIssue(1, { title: 'a\0b' })]))
  expect((await recordsIn(readSource('github', [file], unmapped))).issues[0]?.title).toBe('a\ufffdb')
})

test('an issue that names no repository is skipped', verifies('import.github-json'), async () => {
  const gh = { number: 5, title: 'Door', state: 'OPEN', createdAt: '2024-01-02T03:04:05Z' }
  const items = [gh, { ...gh, number: 6, url: `${web}/issues/6` }]
  const read = await recordsIn(readSource('github', [sourceFile(JSON.stringify(items))], unmapped))
  expect(read.issues.map(({ id }) => id)).toEqual(['acme/shop#6'])
  expect(read.problems).toMatchObject([{ field: 'url', value: '#5', message: expect.stringContaining('add url') }])
})
