import type { Issue } from '@baton/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Directory } from './directory.ts'
import { issueGrouper } from './group-issues.ts'

const directory = { complete: true, labels: new Map(), people: new Map() } as unknown as Directory
const layout = { passes: () => true, grouping: 'status', sorting: 'priority', board: false, directory } as const

const issueNumber = (number: number, more: Partial<Issue> = {}) =>
  ({
    id: `iss_${String(number).padStart(3, '0')}`,
    status: 'todo',
    priority: 'low',
    label_ids: [],
    due_date: null,
    sort_order: 0,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    ...more,
  }) as unknown as Issue

const numbers = (groups: ReturnType<ReturnType<typeof issueGrouper>>['groups']) =>
  groups.map(({ value, rows }) => [value, ...rows.map(({ issue }) => Number(issue.id.slice(4)))])

test('sorts the issues of each group, the newest first if they are equal', () => {
  const { groups, count } = issueGrouper(layout)([
    issueNumber(1),
    issueNumber(2, { priority: 'high' }),
    issueNumber(3),
    issueNumber(4, { status: 'done' }),
    issueNumber(5, { created_at: '2025-01-01T00:00:00.000Z' }),
  ])
  expect(numbers(groups)).toEqual([
    ['todo', 2, 3, 1, 5],
    ['done', 4],
  ])
  expect(count).toBe(5)
})

test('an issue has a row in each of its labels, and counts once', () => {
  const group = issueGrouper({ ...layout, grouping: 'label' })
  const one = issueNumber(1, { label_ids: ['lbl_a', 'lbl_b'] })
  expect(group([one, issueNumber(2)])).toMatchObject({ groups: { length: 3 }, count: 2 })
  expect(group([{ ...one, label_ids: ['lbl_b'] }, issueNumber(2)])).toMatchObject({ groups: { length: 2 }, count: 2 })
})

test('a board keeps the columns of a fixed order without issues', () => {
  const group = issueGrouper({ ...layout, board: true })
  const columns = group([]).groups.map(({ value }) => value)
  expect(columns).toContain('qa')
  group([issueNumber(1)])
  expect(group([]).groups.map(({ value }) => value)).toEqual(columns)
})

test('rows of unchanged issues and groups without a change keep their identity', () => {
  const group = issueGrouper(layout)
  const issues = [issueNumber(1), issueNumber(2), issueNumber(3, { status: 'done' })]
  const before = group(issues).groups
  const after = group([{ ...issueNumber(1), title: 'Another title' }, ...issues.slice(1)]).groups
  expect(after[0]).not.toBe(before[0])
  expect(after[0]?.rows[0]).toBe(before[0]?.rows[0])
  expect(after[0]?.rows[1]).not.toBe(before[0]?.rows[1])
  expect(after[1]).toBe(before[1])
})

/** A list of issues in any order, with any fields that are filtered, grouped or sorted by. */
const issueLists = fc.uniqueArray(
  fc
    .record({
      number: fc.nat(20),
      status: fc.constantFrom<Issue['status']>('todo', 'qa', 'done'),
      priority: fc.constantFrom<Issue['priority']>('low', 'high'),
      label_ids: fc.subarray(['lbl_a', 'lbl_b']),
      due_date: fc.constantFrom(null, '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'),
      sort_order: fc.nat(3),
      updated_at: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'),
    })
    .map(({ number, ...fields }) => issueNumber(number, fields)),
  { selector: ({ id }) => id },
)

test('gives the same result after any changes as for the same issues at first', () => {
  fc.assert(
    fc.property(
      fc.array(issueLists, { maxLength: 5 }),
      fc.constantFrom('none', 'status', 'priority', 'label'),
      fc.constantFrom('priority', 'newest', 'updated', 'due', 'manual'),
      fc.boolean(),
      (lists, grouping, sorting, board) => {
        const options = { passes: ({ sort_order }: Issue) => sort_order > 0, grouping, sorting, board, directory }
        const group = issueGrouper(options)
        for (const [index, list] of lists.entries()) {
          // Some issues stay the same object.
          const issues = list.map((issue, at) => (at % 2 === 0 ? issue : (lists[index - 1]?.[at] ?? issue)))
          const unique = [...new Map(issues.map((issue) => [issue.id, issue])).values()]
          expect(group(unique)).toEqual(issueGrouper(options)(unique))
        }
      },
    ),
  )
})
