import { expect, test } from 'vitest'
import { verifies } from '../../../../conformance/requirements.ts'
import { csvOf, recordsIn, rowFor, sourceFile, unmapped } from '../../../test/source-files.ts'
import { describeSource, readSource } from './index.ts'

/** As Linear exports it. */
const header = [
  ...['ID', 'Team', 'Title', 'Description', 'Status', 'Estimate', 'Priority', 'Project ID', 'Project', 'Creator'],
  ...['Assignee', 'Labels', 'Cycle Number', 'Cycle Name', 'Cycle Start', 'Cycle End', 'Created', 'Updated', 'Started'],
  ...['Triaged', 'Completed', 'Canceled', 'Archived', 'Due Date', 'Parent issue', 'Initiatives'],
  ...['Project Milestone ID', 'Project Milestone', 'SLA Status', 'UUID', 'Time in status (minutes)', 'Related to'],
  ...['Blocked by', 'Duplicate of'],
]

const row = (values: Record<string, string>) => rowFor(header, values)

const rows = [
  row({
    ID: 'ENG-12',
    Team: 'Engineering',
    Title: 'Door "sticks", again',
    Description: 'First line\nsecond — “line”',
    Status: 'In Progress',
    Estimate: '3',
    Priority: 'High',
    'Project ID': '6f0f',
    Project: 'House',
    Creator: 'Ada@example.com',
    Assignee: 'Grace Hopper',
    Labels: 'Bug, Front door',
    'Cycle Number': '4',
    'Cycle Start': 'Mon May 04 2026 00:00:00 GMT+0000 (GMT+00:00)',
    'Cycle End': 'Mon May 18 2026 00:00:00 GMT+0000 (GMT+00:00)',
    Created: 'Wed May 13 2026 11:21:41 GMT+0000 (GMT+00:00)',
    Updated: 'Wed Jul 01 2026 13:51:28 GMT+0200 (Central European Summer Time)',
    'Due Date': 'Thu Jun 25 2026 23:00:00 GMT+0000 (GMT+00:00)',
    'Parent issue': 'ENG-3',
    'Project Milestone ID': 'm-1',
    'Project Milestone': 'Launch',
    UUID: 'uuid-12',
    'Related to': 'ENG-4, ENG-5',
    'Blocked by': 'ENG-6',
  }),
  row({
    ID: 'ENG-13',
    Team: 'Engineering',
    Title: 'Same',
    Status: 'Duplicate',
    Priority: 'No priority',
    Created: '2026-05-14T08:53:33.120Z',
    Canceled: '2026-05-15T08:00:00Z',
    Archived: '2026-06-15T08:00:00Z',
    'Due Date': '2026-07-02',
    UUID: 'uuid-13',
    'Duplicate of': 'ENG-12',
  }),
]

test('reads every column of a Linear export', verifies('import.linear-csv'), async () => {
  const file = sourceFile(csvOf([header, ...rows]), { chunk: 7 })
  const read = await recordsIn(readSource('linear', [file], unmapped))
  expect(read.issues).toEqual([
    {
      kind: 'issue',
      id: 'uuid-12',
      key: 'ENG-12',
      team: 'Engineering',
      title: 'Door "sticks", again',
      description: 'First line\nsecond — “line”',
      status: 'In Progress',
      priority: 'High',
      type: null,
      labels: ['Bug', 'Front door'],
      project: '6f0f',
      milestone: 'm-1',
      cycle: 'Engineering/4',
      parent: 'ENG-3',
      blocks: [],
      blockedBy: ['ENG-6'],
      duplicateOf: null,
      related: ['ENG-4', 'ENG-5'],
      creator: 'ada@example.com',
      assignee: 'Grace Hopper',
      hours: null,
      points: 3,
      due: '2026-06-26',
      createdAt: '2026-05-13T11:21:41.000Z',
      updatedAt: '2026-07-01T11:51:28.000Z',
      completedAt: null,
      archived: false,
      url: null,
      row: 2,
    },
    expect.objectContaining({
      id: 'uuid-13',
      status: 'Duplicate',
      duplicateOf: 'ENG-12',
      due: '2026-07-02',
      createdAt: '2026-05-14T08:53:33.120Z',
      completedAt: '2026-05-15T08:00:00.000Z',
      archived: true,
      row: 3,
    }),
  ])
  expect(read.users).toEqual([
    { kind: 'user', id: 'ada@example.com', name: 'Ada@example.com', email: 'Ada@example.com' },
    { kind: 'user', id: 'Grace Hopper', name: 'Grace Hopper', email: null },
  ])
  expect(read.labels.map(({ name }) => name)).toEqual(['Bug', 'Front door'])
  expect(read.projects).toEqual([{ kind: 'project', id: '6f0f', name: 'House', description: '' }])
  expect(read.milestones).toEqual([{ kind: 'milestone', id: 'm-1', name: 'Launch', project: '6f0f', due: null }])
  expect(read.cycles).toEqual([
    {
      kind: 'cycle',
      id: 'Engineering/4',
      name: 'Cycle 4',
      team: 'Engineering',
      starts: '2026-05-04',
      ends: '2026-05-18',
    },
  ])
  expect(read.problems).toEqual([])
  expect(await describeSource('linear', [file])).toEqual({ columns: header, dateOrderNeeded: false, dateOrder: null })
})

test('reads older exports without ids, relations and the last column', verifies('import.linear-csv'), async () => {
  const old = header.slice(0, 29)
  const cells = rowFor(old, {
    ID: 'IN-10',
    Team: 'App',
    Title: 'License',
    Status: 'Done',
    Created: '2024-05-14T08:53:33Z',
  })
  const read = await recordsIn(readSource('linear', [sourceFile(csvOf([[...old, 'Roadmaps'], cells]))], unmapped))
  expect(read.issues).toMatchObject([{ id: 'IN-10', key: 'IN-10', status: 'Done', related: [], blockedBy: [] }])
  expect(read.problems).toEqual([])
})

test('removes the quote before a formula, and no other', verifies('import.formula-quote'), async () => {
  const texts = ["'=1+1", "'+49 30", "'-5 degrees", "'@ada", "'quoted'", "''=x", '=1+1', "it's"]
  const body = texts.map((text, index) => row({ ID: `ENG-${index}`, Title: text, Description: `${text}\nmore` }))
  const read = await recordsIn(readSource('linear', [sourceFile(csvOf([header, ...body]))], unmapped))
  const expected = ['=1+1', '+49 30', '-5 degrees', '@ada', "'quoted'", "''=x", '=1+1', "it's"]
  expect(read.issues.map(({ title }) => title)).toEqual(expected)
  expect(read.issues.map(({ description }) => description)).toEqual(expected.map((text) => `${text}\nmore`))
})

test('skips and reports a row without title or id; a date that cannot be read is reported', async () => {
  const body = [row({ ID: 'ENG-1' }), row({ Title: 'No id' }), row({ ID: 'ENG-2', Title: 'Kept', Created: 'soon' })]
  const read = await recordsIn(readSource('linear', [sourceFile(csvOf([header, ...body]))], unmapped))
  expect(read.issues).toMatchObject([{ key: 'ENG-2', createdAt: null }])
  expect(read.problems).toMatchObject([
    { row: 2, field: 'Title', value: 'ENG-1' },
    { row: 3, field: 'ID', value: 'No id' },
    { row: 4, field: 'Created', value: 'soon' },
  ])
})
