import { expect, test } from 'vitest'
import { verifies } from '../../../../conformance/requirements.ts'
import { csvOf, recordsIn, rowFor, sourceFile, unmapped } from '../../../test/source-files.ts'
import { describeSource, readSource } from './index.ts'

/** Columns of an export with all fields; Jira repeats those with several values. */
const header = [
  ...['Summary', 'Issue key', 'Issue id', 'Issue Type', 'Status', 'Project key', 'Project name', 'Project type'],
  ...[
    'Project lead',
    'Project lead id',
    'Priority',
    'Resolution',
    'Assignee',
    'Assignee Id',
    'Reporter',
    'Reporter Id',
  ],
  ...[
    'Creator',
    'Creator Id',
    'Created',
    'Updated',
    'Last Viewed',
    'Resolved',
    'Due date',
    'Votes',
    'Labels',
    'Labels',
  ],
  ...['Labels', 'Description', 'Environment', 'Watchers', 'Original estimate', 'Remaining Estimate', 'Time Spent'],
  ...['Inward issue link (Blocks)', 'Inward issue link (Blocks)', 'Outward issue link (Blocks)'],
  ...['Outward issue link (Blocks)', 'Outward issue link (Duplicate)', 'Inward issue link (Relates)', 'Attachment'],
  ...['Attachment', 'Custom field (Story Points)', 'Sprint', 'Sprint', 'Comment', 'Comment', 'Comment', 'Parent'],
  ...['Parent key', 'Parent summary'],
]

const site = 'https://acme.atlassian.net/rest/api/3/attachment/content'
const issue = rowFor(header, {
  Summary: 'Add Apple Pay',
  'Issue key': 'PAY-2',
  'Issue id': '10002',
  'Issue Type': 'Story',
  Status: 'In Review',
  'Project key': 'PAY',
  'Project name': 'Payments',
  Priority: 'Highest',
  Resolution: "Won't Do",
  Assignee: 'Dana Ortiz',
  'Assignee Id': '5b10ac',
  Reporter: 'sam@example.com',
  Created: '13/Mar/24 8:00 AM',
  Updated: '14/Mar/24 12:05 PM',
  Resolved: '15/Mar/24 12:00 AM',
  'Due date': '31/Mar/24 12:00 AM',
  Labels: ['frontend', 'wallet', 'q2'],
  Description: 'h2. Why\r\n\r\n* one\r\n* two',
  'Original estimate': '5400',
  'Inward issue link (Blocks)': ['PAY-5', 'PAY-6'],
  'Outward issue link (Blocks)': ['PAY-7', 'PAY-8'],
  'Outward issue link (Duplicate)': 'PAY-9',
  'Inward issue link (Relates)': 'PAY-10',
  Attachment: [`13/Mar/24 8:01 AM;5b10ac;screen.png;${site}/1`, `13/Mar/24 8:02 AM;5b10ac;a;b.txt;${site}/2`],
  'Custom field (Story Points)': '5.0',
  Sprint: ['PAY Sprint 1', 'PAY Sprint 2'],
  Comment: [
    '13/Mar/24 9:00 AM;5b10ac;First; with; semicolons\r\nand *lines*',
    '13/Mar/24 9:05 AM;712020:aa-bb;Second',
    'no semicolons at all',
  ],
  Parent: '10001',
  'Parent key': 'PAY-1',
})

test('imports all values of repeated columns', verifies('import.jira-repeated-columns'), async () => {
  const read = await recordsIn(readSource('jira', [sourceFile(csvOf([header, issue]), { chunk: 5 })], unmapped))
  expect(read.issues).toEqual([
    {
      kind: 'issue',
      id: 'PAY/10002',
      key: 'PAY-2',
      team: 'Payments',
      title: 'Add Apple Pay',
      description: '## Why\n\n- one\n- two',
      status: 'In Review',
      resolution: "Won't Do",
      priority: 'Highest',
      type: 'Story',
      labels: ['frontend', 'wallet', 'q2'],
      project: null,
      milestone: null,
      cycle: 'Payments/PAY Sprint 2',
      parent: 'PAY-1',
      blocks: ['PAY-7', 'PAY-8'],
      blockedBy: ['PAY-5', 'PAY-6'],
      duplicateOf: 'PAY-9',
      related: ['PAY-10'],
      creator: 'sam@example.com',
      assignee: '5b10ac',
      hours: 1.5,
      points: 5,
      due: '2024-03-31',
      createdAt: '2024-03-13T08:00:00.000Z',
      updatedAt: '2024-03-14T12:05:00.000Z',
      completedAt: '2024-03-15T00:00:00.000Z',
      archived: false,
      url: null,
      row: 2,
    },
  ])
  expect(read.labels.map(({ name }) => name)).toEqual(['frontend', 'wallet', 'q2'])
  expect(read.cycles.map(({ id, name }) => [id, name])).toEqual([
    ['Payments/PAY Sprint 1', 'PAY Sprint 1'],
    ['Payments/PAY Sprint 2', 'PAY Sprint 2'],
  ])
  expect(read.attachments.map(({ name, url }) => [name, url])).toEqual([
    ['screen.png', `${site}/1`],
    ['a;b.txt', `${site}/2`],
  ])
  expect(read.comments).toHaveLength(3)
  expect(read.problems).toEqual([
    {
      kind: 'problem',
      row: 2,
      field: 'Sprint',
      value: 'PAY Sprint 1',
      message: 'An issue has one cycle; the last sprint is used.',
    },
  ])
  expect(read.users).toEqual([
    { kind: 'user', id: 'sam@example.com', name: 'sam@example.com', email: 'sam@example.com' },
    { kind: 'user', id: '5b10ac', name: 'Dana Ortiz', email: null },
    { kind: 'user', id: '712020:aa-bb', name: '712020:aa-bb', email: null },
  ])
})

test('splits a comment at its first two semicolons', verifies('import.jira-comment-cell'), async () => {
  const read = await recordsIn(readSource('jira', [sourceFile(csvOf([header, issue]))], unmapped))
  expect(read.comments.map(({ author, text, createdAt }) => ({ author, text, createdAt }))).toEqual([
    { author: '5b10ac', text: 'First; with; semicolons  \nand **lines**', createdAt: '2024-03-13T09:00:00.000Z' },
    { author: '712020:aa-bb', text: 'Second', createdAt: '2024-03-13T09:05:00.000Z' },
    { author: null, text: 'no semicolons at all', createdAt: null },
  ])
  const ids = read.comments.map(({ id }) => id)
  expect(new Set(ids).size).toBe(3)
  const again = await recordsIn(readSource('jira', [sourceFile(csvOf([header, issue]))], unmapped))
  expect(again.comments.map(({ id }) => id)).toEqual(ids)
})

test('two equal comments stay two comments', verifies('import.jira-repeated-columns'), async () => {
  const cells = rowFor(header, {
    Summary: 'A',
    'Issue key': 'P-1',
    Comment: ['1/Mar/24 9:00 AM;x;+1', '1/Mar/24 9:00 AM;x;+1'],
  })
  const { comments } = await recordsIn(readSource('jira', [sourceFile(csvOf([header, cells]))], unmapped))
  expect(new Set(comments.map(({ id }) => id)).size).toBe(2)
})

const dated = (...dates: [created: string, comment?: string][]) =>
  sourceFile(
    csvOf([
      header,
      ...dates.map(([created, comment = ''], index) =>
        rowFor(header, { Summary: 'A', 'Issue key': `P-${index}`, Created: created, Comment: comment }),
      ),
    ]),
  )

const createdIn = async (file: ReturnType<typeof dated>, dateOrder: 'day-month' | 'month-day' | null = null) => {
  const read = await recordsIn(readSource('jira', [file], { columns: {}, dateOrder }))
  return { created: read.issues.map(({ createdAt }) => createdAt?.slice(0, 10)), problems: read.problems }
}

test('takes the order of day and month that fits all rows', verifies('import.jira-dates'), async () => {
  const monthFirst = dated(['3/4/2025 16:14'], ['6/21/2025 17:13'])
  expect(await describeSource('jira', [monthFirst])).toMatchObject({ dateOrderNeeded: false, dateOrder: 'month-day' })
  expect((await createdIn(monthFirst)).created).toEqual(['2025-03-04', '2025-06-21'])
  const dayFirst = dated(['03/04/2025 4:14 PM'], ['21/06/2025 5:13 PM'])
  expect(await describeSource('jira', [dayFirst])).toMatchObject({ dateOrderNeeded: false, dateOrder: 'day-month' })
  expect((await createdIn(dayFirst)).created).toEqual(['2025-04-03', '2025-06-21'])
})

test('a comment in the last row can decide about the order', verifies('import.jira-dates'), async () => {
  const file = dated(['3/4/2025'], ['5/6/2025', '12/31/2025 10:00;ada;Happy new year'])
  expect(await describeSource('jira', [file])).toMatchObject({ dateOrderNeeded: false, dateOrder: 'month-day' })
  expect((await createdIn(file)).created).toEqual(['2025-03-04', '2025-05-06'])
})

test('requires a choice if the order is ambiguous', verifies('import.jira-dates'), async () => {
  const open = dated(['3/4/2025'], ['12/11/2025'])
  expect(await describeSource('jira', [open])).toMatchObject({ dateOrderNeeded: true, dateOrder: null })
  const unread = await createdIn(open)
  expect(unread.created).toEqual([undefined, undefined])
  expect(unread.problems).toMatchObject([{ field: 'Created', value: '3/4/2025' }, { value: '12/11/2025' }])
  expect((await createdIn(open, 'day-month')).created).toEqual(['2025-04-03', '2025-11-12'])
  expect((await createdIn(open, 'month-day')).created).toEqual(['2025-03-04', '2025-12-11'])
  const contradictory = dated(['13/4/2025'], ['4/13/2025'])
  expect(await describeSource('jira', [contradictory])).toMatchObject({ dateOrderNeeded: true })
  const chosen = await createdIn(contradictory, 'day-month')
  expect(chosen.created).toEqual(['2025-04-13', undefined])
  expect(chosen.problems).toMatchObject([
    { row: 3, value: '4/13/2025', message: expect.stringContaining('2026-12-24') },
  ])
})

test('month names and equal numbers need no choice', verifies('import.jira-dates'), async () => {
  const file = dated(['4/Mar/25 3:00 PM'], ['5/5/2025'], ['4/Mär/25 3:00 PM'], ['2025-03-04 08:00'])
  expect(await describeSource('jira', [file])).toMatchObject({ dateOrderNeeded: false })
  expect((await createdIn(file)).created).toEqual(['2025-03-04', '2025-05-05', '2025-03-04', '2025-03-04'])
})

test('reads the months of other languages', verifies('import.jira-dates'), async () => {
  const texts = [
    '02/Mrz/26 9:00 AM',
    '02/Mär/26',
    '02/Dez/26',
    '02/févr./26',
    '02/fevr/26',
    '02/août/26',
    '02/ene/26',
    '02/dic/26',
  ]
  const { created, problems } = await createdIn(dated(...texts.map((text) => [text] as [string])))
  expect(problems).toEqual([])
  expect(created.map((date) => date?.slice(5, 7))).toEqual(['03', '03', '12', '02', '02', '08', '01', '12'])
})

test('a parent is found by key, or by its number in the same project', async () => {
  const rows = [
    { Summary: 'A', 'Issue key': 'P-1', 'Issue id': '10001', 'Parent key': 'Q-7', Parent: '10077' },
    { Summary: 'B', 'Issue key': 'P-2', 'Issue id': '10002', Parent: '10001' },
  ]
  const file = sourceFile(csvOf([header, ...rows.map((row) => rowFor(header, row))]))
  const read = await recordsIn(readSource('jira', [file], unmapped))
  expect(read.issues.map(({ id, parent }) => [id, parent])).toEqual([
    ['P/10001', 'Q-7'],
    ['P/10002', 'P/10001'],
  ])
})

test('mentions and comments have the names that other rows give', verifies('import.jira-comment-cell'), async () => {
  const rows = [
    {
      Summary: 'A',
      'Issue key': 'P-1',
      Description: 'Ask [~accountid:c3]',
      Comment: '1/Mar/24 9:00 AM;d4;See [~accountid:a1]',
    },
    { Summary: 'B', 'Issue key': 'P-2', Reporter: 'Rea', 'Reporter Id': 'r2', Creator: 'Cleo', 'Creator Id': 'c3' },
    { Summary: 'C', 'Issue key': 'P-3', Assignee: 'Ada', 'Assignee Id': 'a1', Creator: 'Dan', 'Creator Id': 'd4' },
  ]
  const file = sourceFile(csvOf([header, ...rows.map((row) => rowFor(header, row))]))
  const read = await recordsIn(readSource('jira', [file], unmapped))
  expect(read.issues[0]?.description).toBe('Ask @Cleo')
  expect(read.comments[0]).toMatchObject({ text: 'See @Ada', author: 'd4' })
  const named = new Map(read.users.map(({ id, name }) => [id, name]))
  expect(named.get('d4')).toBe('Dan')
})

test('columns that are not imported are reported once', verifies('import.unmapped-value'), async () => {
  const columns = [...header, 'Components', 'Components', 'Fix versions']
  const rows = [
    { Summary: 'A', 'Issue key': 'P-1', Components: ['Backend', 'Door'], 'Fix versions': '2.0' },
    { Summary: 'B', 'Issue key': 'P-2', Components: ['Backend', ''] },
    { Summary: 'C', 'Issue key': 'P-3' },
  ]
  const file = sourceFile(csvOf([columns, ...rows.map((row) => rowFor(columns, row))]))
  const read = await recordsIn(readSource('jira', [file], unmapped))
  expect(read.issues).toHaveLength(3)
  expect(read.problems).toEqual([
    {
      kind: 'problem',
      row: null,
      field: 'Components',
      value: 'Backend, Door',
      message: 'of 2 issues are not imported',
    },
    { kind: 'problem', row: null, field: 'Fix versions', value: '2.0', message: 'of 1 issue are not imported' },
  ])
})
