import { describe, expect } from 'vitest'
import { exportOf, restoreOf } from '../../test/archives.ts'
import { test, verifies } from '../../test/harness.ts'
import { csv, importAll, issuesOf, linearCsv, linearRow } from '../../test/imports.ts'
import { person } from './formats/people.ts'

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
