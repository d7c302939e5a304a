import { describe, expect } from 'vitest'
import { exportOf, restoreOf } from '../../test/archives.ts'
import { test, verifies } from '../../test/harness.ts'
import {
  csv,
  importAll,
  issuesOf,
  linearCsv,
  linearRow,
  preview,
  problemsOf,
  start,
  upload,
} from '../../test/imports.ts'
import { sql } from '../db/sql.ts'
import { person } from './formats/people.ts'
import { Survey } from './survey.ts'

const github = (issue: object) =>
  JSON.stringify([{ number: 1, title: 'One', url: 'https://git.example/a/b/issues/1', ...issue }])
const linear = (...lines: object[]) => lines.map((line) => JSON.stringify(line)).join('\n')
const team = { kind: 'teams', data: { id: 't', key: 'ENG', name: 'Eng' } }
const issue = { id: 'i', identifier: 'ENG-1', title: 'One', team: { id: 't' } }

describe('data of another program is imported, and can be exported and restored', () => {
  const half = '\ud800'
  test.for([
    [
      'halves of surrogate pairs',
      'github',
      github({
        title: half,
        body: half,
        labels: [half],
        user: { login: half },
        state: half,
        type: { name: half },
        milestone: { title: half },
        comments: [{ id: half, body: half, author: { login: half } }],
      }),
    ],
    [
      'values of another type',
      'github',
      github({
        labels: [
          { name: 'a', color: 123456 },
          { name: 'b', color: {} },
        ],
        parent: 7,
        milestone: { title: 'M', number: {} },
        type: 'Bug',
        issueType: null,
        assignees: 'x',
        comments: 3,
      }),
    ],
    [
      'names that every object has',
      'linear',
      linear(team, {
        kind: 'issues',
        data: { ...issue, state: { name: 'Odd', type: 'constructor' }, priorityLabel: '__proto__' },
      }),
    ],
    [
      'empty ids and names',
      'linear',
      linear(
        { kind: 'teams', data: { id: 't' } },
        { kind: 'issues', data: { id: '' } },
        {
          kind: 'issues',
          data: { ...issue, labelIds: [''] },
        },
      ),
    ],
    ['a code that is cut within a character', 'linear', linearCsv([linearRow({ ID: `${'x'.repeat(99)}😀` })])],
    ['a number that leaves no room for others', 'linear', linearCsv([linearRow({ ID: 'ENG-999999999' })])],
    [
      'an address with spaces',
      'linear',
      csv(['ID', 'Title', 'Team', 'URL'], ['WEB-1', 'One', 'Web', 'https://x.example/ a']),
    ],
    [
      'times outside the calendar of the API',
      'linear',
      linearCsv([
        linearRow({
          Created: '0001-01-01',
          'Due Date': '9999-12-31',
          'Cycle Number': '1',
          'Cycle Start': '0001-01-01',
        }),
      ]),
    ],
  ] as const)(
    '%s',
    verifies('import.csv-hostile', 'export.restore-round-trip'),
    async ([, source, content], { app }) => {
      const { owner } = await app.workspace()
      const { counts } = await importAll(app, owner, source, content)
      expect(counts.issues.created).toBe(1)
      const [imported] = await issuesOf(owner)
      // The next number too.
      expect((await owner.post('/issues', { title: 'Two', team_id: imported.team_id })).status).toBe(201)
      const restored = await restoreOf(app, await app.person(), await exportOf(app, owner))
      expect(restored).toMatchObject({ state: 'done', problems: [] })
    },
  )
})

test('a text that looks like an address for long is read at once', verifies('import.csv-hostile'), () => {
  expect(person(`a@${'.'.repeat(1_000_000)}@`)?.email).toBeNull()
  expect(person(`${'a'.repeat(242)}@example.com`)?.email).toHaveLength(254)
  expect(person(`${'a'.repeat(243)}@example.com`)?.email).toBeNull()
})

describe('a source that does not fit into memory', { timeout: 240_000 }, () => {
  test('has too many problems: all are counted', verifies('import.csv-hostile'), async ({ app }) => {
    const { owner } = await app.workspace()
    const id = await upload(owner, 'linear', `ID,Title,Team\nA-1,One,Web\n${',\n'.repeat(20_000)}`)
    expect(await preview(app, owner, id)).toMatchObject({ state: 'ready', problem_count: 20_000 })
    const stored = sql`select count(*)::int as count from import_problems where import_id = ${id}`
    expect(await app.ctx.db.row(stored)).toEqual({ count: 1000 })
    expect(await start(app, owner, id)).toMatchObject({ state: 'done', problem_count: 20_000 })
  })

  const labels = (count: number) => Array.from({ length: count }, (_, number) => `l${number}`).join(',')

  test('has too many names: it fails', verifies('import.csv-hostile'), async ({ app }) => {
    const { owner } = await app.workspace()
    const rows = (prefix: string) => linearCsv([linearRow({ Labels: labels(300_000).replaceAll('l', prefix) })])
    const [header, ...first] = rows('a').split('\n')
    const id = await upload(
      owner,
      'linear',
      [header, ...first, ...['b', 'c', 'd'].flatMap((one) => rows(one).split('\n').slice(1))].join('\n'),
    )
    expect(await preview(app, owner, id)).toMatchObject({ state: 'failed', problem_count: 1 })
    expect(await problemsOf(owner, id)).toMatchObject([
      { message: expect.stringContaining('more names and relations') },
    ])
  })

  test('texts around the names are not kept', verifies('import.csv-hostile'), async () => {
    const records = async function* () {
      for (let number = 0; number < 200; number++) {
        const cell = `${' '.repeat(4_000_000)}a label of more than 13 characters ${number}`
        yield { ...emptyIssue, id: `${number}`, row: number, labels: [cell.slice(4_000_000)] }
      }
    }
    const before = process.memoryUsage().heapUsed
    const survey = await Survey.of(records())
    expect([survey.tooLarge, survey.usedLabels.size]).toEqual([false, 200])
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(300_000_000)
  })
})

const emptyIssue = {
  kind: 'issue' as const,
  key: null,
  team: null,
  title: 'One',
  description: '',
  status: null,
  priority: null,
  type: null,
  project: null,
  milestone: null,
  cycle: null,
  parent: null,
  blocks: [],
  blockedBy: [],
  duplicateOf: null,
  related: [],
  creator: null,
  assignee: null,
  hours: null,
  points: null,
  due: null,
  createdAt: null,
  updatedAt: null,
  completedAt: null,
  archived: false,
  url: null,
}
