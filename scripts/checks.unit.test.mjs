import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { metEverywhere } from '../bench/targets.mjs'
import { verifies } from '../conformance/requirements.ts'
import { downloadedBrowsers, findBrowser } from './browser.mjs'
import { problemsOfTree } from './check-imports.mjs'
import { problemsOfTables, writesOf } from './check-tables.mjs'
import { packageProblems, problemsOfText, wordProblems } from './check-words.mjs'
import { summaryOf } from './ci-summary.mjs'
import { compare, missingOf, unnamed } from './requirements.mjs'
import { root } from './setup.mjs'

describe('imports', () => {
  let base
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'baton-imports-'))
  })
  afterEach(() => rmSync(base, { recursive: true }))

  /** The problems of a tree with these files, which have the given lines. */
  function problems(files, description = {}) {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(base, 'src', path)), { recursive: true })
      writeFileSync(join(base, 'src', path), text)
    }
    return problemsOfTree(base, { folder: 'src', ...description })
  }
  const order = [['ids'], ['http'], ['app']]

  test('accepts imports of lower rooms, and within a room', () => {
    const files = {
      'ids.ts': '',
      'http/route.ts': "import { id } from '../ids.ts'\nimport './errors.ts'",
      'http/errors.ts': '',
      'app.tsx': "const route = await import('./http/route.ts')",
    }
    expect(problems(files, { order })).toEqual([])
  })

  test('refuses an import of a higher room, also of types', () => {
    const files = { 'ids.ts': "import type { Route } from './http/route.ts'", 'http/route.ts': '' }
    expect(problems(files, { order })).toEqual(['src/ids.ts imports http, which is not below ids'])
  })

  test('refuses a room that is missing in the order', () => {
    expect(problems({ 'lost/a.ts': '' }, { order })).toEqual([
      'src/lost/a.ts is in lost, which is missing in the order of scripts/check-imports.mjs',
    ])
  })

  test('prints every file of an import circle, also of type imports', () => {
    const files = {
      'a.ts': "export { b } from './sub/b.ts'",
      'sub/b.ts': "import type { C } from './c.ts'",
      'sub/c.ts': "import {\n  a,\n} from '../a.ts'",
      'd.ts': "import { a } from './a.ts'",
    }
    expect(problems(files)).toEqual(['src has a circle of imports: a.ts → sub/b.ts → sub/c.ts → a.ts'])
  })

  test('accepts a file that two others import', () => {
    const files = { 'a.ts': "import './b.ts'\nimport './c.ts'", 'b.ts': "import './c.ts'", 'c.ts': '' }
    expect(problems(files)).toEqual([])
  })

  test('finds every group of files with a circle, and ignores tests', () => {
    const files = {
      'a.ts': "import './b.ts'",
      'b.ts': "import './a.ts'",
      'c.ts': "import './d.ts'",
      'd.ts': "import './c.ts'",
      'e.test.ts': "import './e.ts'",
      'e.ts': "import './e.test.ts'",
    }
    expect(problems(files)).toEqual([
      'src has a circle of imports: a.ts → b.ts → a.ts',
      'src has a circle of imports: c.ts → d.ts → c.ts',
    ])
  })

  test('refuses importers that a room does not list, including its own files', () => {
    const files = {
      'main.ts': "import './commands/a.ts'",
      'commands/a.ts': "import './b.ts'",
      'commands/b.ts': '',
      'files.ts': "import './commands/b.ts'",
    }
    expect(problems(files, { importers: { commands: ['main'] } })).toEqual([
      'src/commands/a.ts imports commands/b.ts, which only main may import',
      'src/files.ts imports commands/b.ts, which only main may import',
    ])
  })

  test('refuses process.env outside the rooms that may read it', () => {
    const files = { 'config.ts': 'process.env', 'log.ts': 'process.env' }
    expect(problems(files, { environmentIn: ['config'] })).toEqual(['src/log.ts reads process.env; only config may'])
  })
})

describe('tables', () => {
  const tables = (text) => writesOf(text).map(({ table }) => table)
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source file
  const withParameter = 'sql`update ${table} t set a = 1`'

  test.each([
    ['insert into issues (id) values (1)', 'issues'],
    ['delete from only teams t using gone', 'teams'],
    ['merge into users u using x on true', 'users'],
    ['truncate table words', 'words'],
    ['update issues set a = 1', 'issues'],
    ['UPDATE issues e\n  SET a = 1', 'issues'],
    ['update issues as e set a = 1', 'issues'],
    ['insertRows(sql`issues`, columns, rows)', 'issues'],
    ['{ table: sql`labels` }', 'labels'],
    [withParameter, null],
  ])('finds the write in %s', (text, table) => expect(tables(text)).toEqual([table]))

  test.each([
    'select 1 from issues for update of issues',
    'select 1 from issues for no key update skip locked',
    'on conflict (id) do update set a = 1',
    'select 1 from issues',
    '// Cannot update its issues',
  ])('finds no write in %s', (text) => expect(tables(text)).toEqual([]))

  const check = (path, text, changes = {}) =>
    problemsOfTables({
      sources: [{ path, text }],
      migrations: ['create table issues (id text);\ncreate unlogged table if not exists windows (id text);'],
      ownedTables: { issues: ['issues'], http: ['windows'] },
      roomsWithTableParameter: ['db'],
      ...changes,
    })

  test('accepts writes of the owner', () => {
    expect(check('issues/update.ts', 'delete from issues')).toEqual([])
  })

  test('refuses writes of another room, with file and line', () => {
    expect(check('projects/delete.ts', '\ndelete from issues')).toEqual([
      'server/src/projects/delete.ts:2 writes issues, which issues owns',
    ])
  })

  test('refuses a table name in a parameter outside the rooms that may have it', () => {
    expect(check('db/sql.ts', withParameter)).toEqual([])
    expect(check('projects/a.ts', withParameter)).toEqual([
      'server/src/projects/a.ts:1 writes a table whose name is a parameter',
    ])
  })

  test('refuses a table without an owner, and an owner without a table', () => {
    expect(check('a.ts', '', { ownedTables: { issues: ['issues', 'gone'] } })).toEqual([
      'table windows has no owner in scripts/check-tables.mjs',
      'table gone has an owner in scripts/check-tables.mjs but does not exist',
    ])
  })
})

describe('words', () => {
  test('refuses forbidden words in any case, with file and line', () => {
    expect(problemsOfText('a.ts', 'fine\n// Nobody knows, by and by')).toEqual([
      'a.ts:2 has "Nobody"; name the user, member or caller',
      'a.ts:2 has "by and by"; name the user, member or caller',
    ])
  })

  test('accepts them inside other words', () => {
    expect(problemsOfText('a.ts', 'const nobodyElse = 1')).toEqual([])
  })

  test('have no reader run a package of others', verifies('package.no-bare-npx-baton'), () => {
    expect(wordProblems()).toEqual([])
    const hint = 'write npx {root_url}/packages/cli.tgz'
    expect(packageProblems('docs/guides/a.md', 'fine\nRun `npx baton login`, then npx -y @baton/cli')).toEqual([
      `docs/guides/a.md:2 has "npx baton"; ${hint}`,
      `docs/guides/a.md:2 has "npx -y @baton/"; ${hint}`,
    ])
    expect(packageProblems('docs/guides/cli.md', 'npx baton login')).toHaveLength(1)
    expect(packageProblems('docs/guides/cli.md', 'Inside a project that `init` created\nnpx baton login')).toEqual([])
    expect(packageProblems('cli/templates/agent/README.md', 'npx baton dev')).toEqual([])
    expect(packageProblems('cli/templates/agent/README.md', 'npx @baton/cli dev')).toHaveLength(1)
    expect(packageProblems('a.md', 'npx http://localhost:3000/packages/cli.tgz login; npx batonics')).toEqual([])
  })
})

describe('the browser', () => {
  let home
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'baton-browser-'))
  })
  afterEach(() => rmSync(home, { recursive: true }))
  const program = (...path) => {
    const file = join(home, ...path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '', { mode: 0o755 })
    return file
  }

  test('of BATON_CHROMIUM is used alone', () => {
    const chosen = program('chosen')
    expect(findBrowser({ BATON_CHROMIUM: chosen })).toBe(chosen)
    expect(findBrowser({ BATON_CHROMIUM: join(home, 'missing'), PATH: home })).toBeNull()
  })

  test('can be one that Playwright downloaded, newest first', () => {
    const downloads = { PLAYWRIGHT_BROWSERS_PATH: home }
    expect(downloadedBrowsers(downloads)).toEqual([])
    const older = program('chromium-999', 'chrome-linux', 'chrome')
    const newest = program('chromium_headless_shell-1254', 'chrome-linux', 'headless_shell')
    program('firefox-2000', 'chrome')
    expect(downloadedBrowsers(downloads)).toEqual([newest, older])
    expect(downloadedBrowsers({ PLAYWRIGHT_BROWSERS_PATH: join(home, 'missing') })).toEqual([])
  })
})

describe('the last lines of a CI run', () => {
  const part = (title, code, ...output) => ({ title, code, output, seconds: 7 })
  const fine = part('npm test', 0, '▸ Tests', '  embedded: 5 passed, 0 failed in 3 s', '5 passed, 0 failed, 2 skipped')
  const rowsOf = ({ lines }) => lines.map((line) => line.replaceAll(/ {2,}/g, ' '))

  test('have a row for each part, which without counts counts as one, and the sum', () => {
    expect(rowsOf(summaryOf([fine, part('Query plans', 0, '3 lists')]))).toEqual([
      'part passed failed retried seconds',
      'npm test 5 0 0 7',
      'Query plans 1 0 0 7',
      'all 6 0 0 14',
      '6 passed, 0 failed',
    ])
  })

  test('repeat failed and retried tests', () => {
    const remarks = ['✗ a.test.ts › b: expected 1', '≈ c.test.ts › d: timed out']
    const { failed, lines } = summaryOf([part('npm test', 1, ...remarks, '4 passed, 1 failed')])
    expect(failed).toBe(1)
    expect(lines.slice(0, 2)).toEqual(remarks)
    expect(lines.at(-1)).toBe('4 passed, 1 failed')
  })

  test.each([
    ['Query plans', []],
    ['npm test', ['5 passed, 0 failed']],
  ])('count a part that fails without a failed test: %s', (title, output) => {
    const { failed, lines } = summaryOf([fine, part(title, 1, ...output)])
    expect(failed).toBe(1)
    expect(lines[0]).toBe(`✗ ${title} failed; see above`)
    expect(lines.at(-1)).toBe(`${output.length === 0 ? 5 : 10} passed, 1 failed`)
  })

  test('fail when more than one test passed only when retried', () => {
    const retried = (count) => part('npm test', 0, ...Array(count).fill('≈ a: b'), '5 passed, 0 failed')
    expect(summaryOf([retried(1)]).failed).toBe(0)
    expect(summaryOf([retried(1), retried(1)])).toMatchObject({ failed: 1 })
    expect(summaryOf([retried(2)]).lines).toContain('✗ 2 tests passed only when retried; at most 1 may')
  })

  test('fail when no part has shown a requirement', () => {
    const { failed, lines } = summaryOf([fine], ['a', 'b'])
    expect(failed).toBe(1)
    expect(lines[0]).toBe('✗ 2 requirements were shown by no part: a, b')
  })
})

describe('requirements', () => {
  const suite = (cited, left = []) => ({ cited, left })

  test('are verified by a passed test of any suite, or left by one that was skipped', () => {
    const suites = [suite(['a'], ['a', 'c', 'b']), suite(['b'], ['d', 'unknown'])]
    expect(compare(['a', 'b', 'c', 'd', 'e'], suites)).toEqual({
      shown: ['a', 'b'],
      left: ['c', 'd'],
      missing: ['e'],
    })
  })

  test('that a command of its own shows are named by a test file, and cited by a test that passed there', () => {
    const command = 'npm run test:image'
    const all = [
      ['a', 'spec 1: text'],
      ['b', { text: 'spec 2: text', shown_by: command }],
      ['c', { text: 'spec 3: text', shown_by: command }],
      ['d', { text: 'spec 4: text', shown_by: 'npm run test:other' }],
    ]
    expect(unnamed(all, ["verifies('b')", "verifies('d')"])).toEqual({ ids: ['b', 'c', 'd'], missing: ['c'] })
    expect(missingOf(command, new Set(['b']), all)).toEqual(['c'])
    expect(missingOf(command, new Set(['b', 'c']), all)).toEqual([])
  })

  test('that a measurement shows have all targets measured and met', () => {
    const rows = [
      { name: 'a', target: 1, embeddedTarget: 2 },
      { name: 'b', target: 3 },
    ]
    const databases = ['postgres', 'embedded']
    const result = (name, database, met = true) => ({ name, database, met })
    const all = [result('a', 'postgres'), result('a', 'embedded'), result('b', 'postgres')]
    expect(metEverywhere(rows, all, databases)).toBe(true)
    for (const [index, { name, database }] of all.entries()) {
      expect(metEverywhere(rows, all.toSpliced(index, 1), databases)).toBe(false)
      expect(metEverywhere(rows, all.with(index, result(name, database, false)), databases)).toBe(false)
    }
    expect(metEverywhere([{ name: 'c' }], [result('c', 'postgres', undefined)], databases)).toBe(false)
  })
})

test('a step prints one whole line into a file, whatever is printed meanwhile', () => {
  const script = `const { step } = await import(${JSON.stringify(join(root, 'scripts', 'setup.mjs'))})
    const working = step('Working', process.execPath, ['-e', ''])
    console.log('{"msg":"other"}')
    await working
    await step('Failing', process.execPath, ['-e', 'process.exit(1)']).catch(() => {})`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(stdout).toMatch(/^\{"msg":"other"\}\n▸ Working … [\d.]+ s\n▸ Failing … failed after [\d.]+ s\n$/)
})
