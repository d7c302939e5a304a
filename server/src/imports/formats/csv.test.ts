import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../../conformance/requirements.ts'
import { csvOf, recordsIn, sourceFile, unmapped } from '../../../test/source-files.ts'
import { csvLine } from '../../http/csv.ts'
import { csvRows, maxColumns } from './csv.ts'
import { describeSource, readSource } from './index.ts'

async function rowsOf(content: string | Buffer, chunk = 3) {
  const [rows, problems]: [string[][], object[]] = [[], []]
  for await (const item of csvRows(sourceFile(content, { chunk }))) {
    if (item.kind === 'row') rows.push(item.cells)
    else problems.push(item)
  }
  return { rows, problems }
}

describe('reads', () => {
  const expected = [
    ['Title', 'Text'],
    ['A', 'first\nsecond, "third"'],
    ['B', ''],
  ]
  const text = 'Title,Text\nA,"first\nsecond, ""third"""\nB,\n'
  test.each([
    ['plain CSV', text],
    ['a byte order mark', `\ufeff${text}`],
    ['line breaks of Windows', text.replaceAll('\n', '\r\n').replace('first\r\n', 'first\n')],
    ['line breaks of two kinds', text.replace('Text\n', 'Text\r\n')],
    ['no line break at the end', text.slice(0, -1)],
    ['empty lines', text.replace('B', '\n\nB')],
    ['semicolons', text.replaceAll(/,(?! )/g, ';')],
    ['tabs', text.replaceAll(/,(?! )/g, '\t')],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le')],
  ])('%s', verifies('import.csv-hostile'), async (_, content) => {
    for (const chunk of [1, 3, 1000]) expect(await rowsOf(content, chunk)).toEqual({ rows: expected, problems: [] })
  })
})

test('a quote within a cell is text', verifies('import.csv-hostile'), async () => {
  const { rows } = await rowsOf('a,b\n5" pipe,"x" y\n"z",1\n')
  expect(rows).toEqual([
    ['a', 'b'],
    ['5" pipe', '"x" y'],
    ['z', '1'],
  ])
})

test('missing cells are empty; values beyond the header are reported', verifies('import.csv-hostile'), async () => {
  const file = sourceFile('Title,Status,Priority\nA\nB,Done,High,extra,more\nC,Done,Low,,\n')
  const { issues, problems } = await recordsIn(readSource('csv', [file], unmapped))
  expect(issues.map(({ title, status, priority, row }) => [title, status, priority, row])).toEqual([
    ['A', null, null, 2],
    ['B', 'Done', 'High', 3],
    ['C', 'Done', 'Low', 4],
  ])
  expect(problems).toMatchObject([{ row: 3, value: 'extra, more' }])
})

test('bytes that are not UTF-8 and NUL are replaced and reported', verifies('import.csv-hostile'), async () => {
  const content = Buffer.concat([
    Buffer.from('Title,Status\nM'),
    Buffer.from([0xfc]),
    Buffer.from('ller,Done\nZero\0,Done\nGood ü,Done\n'),
  ])
  const { issues, problems } = await recordsIn(readSource('csv', [sourceFile(content)], unmapped))
  expect(issues.map(({ title }) => title)).toEqual(['M\ufffdller', 'Zero\ufffd', 'Good ü'])
  expect(problems).toMatchObject([
    { row: 2, value: 'M\ufffdller' },
    { row: 3, value: 'Zero\ufffd' },
  ])
})

test(
  'a quote that is never closed is reported, and the rows before it are kept',
  verifies('import.csv-hostile'),
  async () => {
    const { rows, problems } = await rowsOf('a,b\n1,2\n"3,4\n5,6\n')
    expect(rows).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ])
    expect(problems).toMatchObject([{ row: 3, message: expect.stringContaining('not closed') }])
  },
)

test('agrees with csv-parse about cells of any content', verifies('import.csv-hostile'), async () => {
  const cell = fc.string({ unit: fc.constantFrom(...'ab,;"\n\r\t =é€😀'), maxLength: 8 })
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(table, fc.integer({ min: 1, max: 30 }), async (rows, chunk) => {
      // The header decides about the delimiter.
      const text = csvOf([
        ['a', 'b', 'c', 'd', 'e'],
        ...rows.map((row) => row.map((one) => one.replace(/\r\n?/g, '\n'))),
      ])
      const options = { relax_column_count: true, record_delimiter: ['\r\n', '\n', '\r'] }
      expect((await rowsOf(text, chunk)).rows).toEqual(parse(text, options))
    }),
    { numRuns: 300 },
  )
})

test('a header has at most 5,000 columns', verifies('import.csv-hostile'), async () => {
  const header = (count: number) => `${Array(count).fill('x').join(',')}\n`
  expect((await rowsOf(header(maxColumns), 1000)).rows).toHaveLength(1)
  const beyond = await rowsOf(header(maxColumns + 1), 1000)
  expect(beyond.rows).toEqual([])
  expect(beyond.problems).toMatchObject([{ row: 1, message: expect.stringContaining('more than 5000 cells') }])
})

test('an empty file is a problem', verifies('import.csv-hostile'), async () => {
  for (const content of ['', '\n\n', '\ufeff']) {
    const { all } = await recordsIn(readSource('csv', [sourceFile(content, { name: 'no.csv' })], unmapped))
    expect(all).toMatchObject([{ kind: 'problem', value: 'no.csv' }])
    expect(await describeSource('csv', [sourceFile(content)])).toMatchObject({ columns: [] })
  }
})

/** In a process of its own, so that only the reading is measured. */
async function readInChild(body: string) {
  const formats = JSON.stringify(new URL('../../../dist/imports/formats/index.js', import.meta.url))
  const script = `
    import { readFileSync } from 'node:fs'
    const { describeSource, readSource } = await import(${formats})
    const mb = 1024 * 1024
    async function* bytes() { ${body} }
    const files = [{ name: 'big.csv', open: async () => bytes() }]
    const before = process.memoryUsage().rss
    let [issues, problems] = [0, 0]
    for await (const { kind } of readSource('csv', files, { columns: {}, dateOrder: 'day-month' })) {
      if (kind === 'issue') issues++
      if (kind === 'problem') problems++
    }
    const { columns } = await describeSource('csv', files)
    // On Linux maxRSS contains the memory of the process that started this one.
    const peak = process.platform === 'linux'
      ? Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1])
      : process.resourceUsage().maxRSS
    const grownMb = (peak * 1024 - before) / mb
    console.log(JSON.stringify({ issues, problems, columns: columns.length, grownMb }))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  for await (const chunk of child.stdout) output += chunk
  if (child.exitCode === null) await once(child, 'exit')
  return JSON.parse(output) as { issues: number; problems: number; columns: number; grownMb: number }
}

describe('takes less than 100 MB for 200 MB of', () => {
  test.each([
    [
      'issues',
      `yield Buffer.from('Title,Description,Labels\\n')
       let count = 0
       const text = ',"' + 'some ""text"", with\\nlines '.repeat(80) + '",label-'
       for (let sent = 0; sent < 200 * mb; ) {
         let rows = ''
         while (rows.length < 64 * 1024) rows += 'Issue ' + ++count + text + count + '\\n'
         sent += rows.length
         yield Buffer.from(rows)
       }`,
      { columns: 3, problems: 0, atLeast: 90_000 },
    ],
    [
      'commas',
      `yield Buffer.from('Title\\n'); for (let sent = 0; sent < 200; sent++) yield Buffer.alloc(mb, ',')`,
      { columns: 1, problems: 1, atLeast: 0 },
    ],
    [
      'text after a quote',
      `yield Buffer.from('Title\\nA\\n"'); for (let sent = 0; sent < 200; sent++) yield Buffer.alloc(mb, 'text\\n')`,
      { columns: 1, problems: 1, atLeast: 1 },
    ],
    [
      'quoted line breaks in one row',
      `yield Buffer.from('Title\\nA\\n'); for (let sent = 0; sent < 200; sent++) yield Buffer.alloc(mb, '"\\n",')`,
      { columns: 1, problems: 1, atLeast: 1 },
    ],
    [
      'columns in the header',
      `for (let sent = 0; sent < 200; sent++) yield Buffer.alloc(mb, 'a,')`,
      { columns: 0, problems: 2, atLeast: 0 },
    ],
  ])('%s', verifies('import.csv-hostile'), async (_, body, { columns, problems, atLeast }) => {
    const read = await readInChild(body)
    expect(read).toMatchObject({ columns, problems })
    expect(read.issues).toBeGreaterThanOrEqual(atLeast)
    expect(read.grownMb).toBeLessThan(100)
  })
})

test("Baton's own CSV: the quote before a formula is removed", verifies('import.formula-quote'), async () => {
  const header = [
    ...['id', 'code', 'title', 'description', 'status', 'priority', 'type', 'team', 'project', 'milestone', 'cycle'],
    ...['parent', 'reporter', 'assignee', 'delegate', 'labels', 'time_estimate', 'due_date', 'completed_at'],
    ...['created_at', 'updated_at', 'personal', 'url'],
  ]
  const row = (title: string, more: Record<string, string> = {}) => {
    const values: Record<string, string> = { id: `iss_${title}`, code: 'ENG-1', title, personal: 'false', ...more }
    return header.map((name) => values[name] ?? '')
  }
  const texts = ['=1+1', '+49', '-5', '@ada', "'quoted'"]
  const file = sourceFile(
    [header, ...texts.map((text) => row(text)), row('Mine', { personal: 'true' })]
      .map((cells) => csvLine(cells))
      .join(''),
  )
  const { issues, problems } = await recordsIn(readSource('csv', [file], unmapped))
  expect(issues.map(({ title }) => title)).toEqual(texts)
  expect(issues[0]).toMatchObject({ id: 'iss_=1+1', key: 'ENG-1' })
  expect(problems).toMatchObject([{ row: 7, field: 'personal', message: 'A private issue was skipped.' }])
})

test('a CSV of another program keeps its quotes', verifies('import.formula-quote'), async () => {
  const { issues } = await recordsIn(readSource('csv', [sourceFile("Title\n'=1+1\n")], unmapped))
  expect(issues).toMatchObject([{ title: "'=1+1" }])
})

test('a plain CSV is read by chosen columns; rows without an id get one from their content', async () => {
  const header = ['What', 'Who', 'When', 'Tag', 'Tag', 'Effort']
  const content = csvOf([
    header,
    ['A', 'ada@example.com', '13/2/2026', 'x', 'y;z', '1,5'],
    ['A', 'ada@example.com', '13/2/2026', 'x', 'y;z', '1,5'],
    ['B', '', '1/2/2026', '', '', 'much'],
  ])
  const options = { columns: { title: 0, assignee: 1, due: 2, labels: 3, hours: 5 }, dateOrder: null }
  const read = () => recordsIn(readSource('csv', [sourceFile(content)], options))
  const { issues, problems } = await read()
  expect(issues.map(({ title, due, labels, hours, assignee }) => ({ title, due, labels, hours, assignee }))).toEqual([
    { title: 'A', due: '2026-02-13', labels: ['x', 'y', 'z'], hours: 1.5, assignee: 'ada@example.com' },
    { title: 'A', due: '2026-02-13', labels: ['x', 'y', 'z'], hours: 1.5, assignee: 'ada@example.com' },
    { title: 'B', due: '2026-02-01', labels: [], hours: null, assignee: null },
  ])
  expect(new Set(issues.map(({ id }) => id)).size).toBe(3)
  expect((await read()).issues.map(({ id }) => id)).toEqual(issues.map(({ id }) => id))
  expect(problems).toMatchObject([{ row: 4, field: 'hours', value: 'much' }])
})

test('columns are proposed by name', async () => {
  const header = ['Task name', 'Notes', 'Assigned to', 'Deadline', 'Tags', 'Cost']
  expect(await describeSource('csv', [sourceFile(csvOf([header, ['a', '', '', '3/4/2026', '', '']]))])).toEqual({
    columns: header,
    dateOrderNeeded: true,
    dateOrder: null,
    proposed: { title: 0, description: 1, labels: 4, assignee: 2, due: 3 },
  })
})

test('a second file with other columns is skipped and reported', async () => {
  const files = [sourceFile('Title\nA\n'), sourceFile('Name\nB\n', { name: 'second.csv' }), sourceFile('Title\nC\n')]
  const { issues, problems } = await recordsIn(readSource('csv', files, { columns: { title: 0 }, dateOrder: null }))
  expect(issues.map(({ title }) => title)).toEqual(['A', 'C'])
  expect(problems).toMatchObject([{ value: 'second.csv' }])
})
