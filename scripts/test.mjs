// npm test: installs dependencies, checks the source tree, runs all tests, and compares them with the requirements.
//   FILE …         only test files whose path contains one of these, with what they need built
//   --changed      only tests of what changed since the last commit; --changed main: since another one
//   --kind unit    only one kind of tests: unit, service, process or browser
//   --postgres     service and process tests on PostgreSQL
//   --embedded     service tests on the embedded database
//   --times        prints the slowest files and what they spend their time on
//   --checks-only  no tests
import { parseArgs } from 'node:util'
import { browser } from './browser.mjs'
import { dependencyProblems } from './check-dependencies.mjs'
import { importProblems } from './check-imports.mjs'
import { tableProblems } from './check-tables.mjs'
import { wordProblems } from './check-words.mjs'
import { installedPostgres, withPostgres } from './postgres.mjs'
import { compare, requirementsOf, saveShown, unnamed } from './requirements.mjs'
import {
  bin,
  build,
  buildPackages,
  buildWeb,
  bundleServer,
  checkStep,
  install,
  main,
  run,
  StepFailed,
  step,
} from './setup.mjs'
import { countsOf, runSuite } from './suite.mjs'

const { values: flags, positionals: files } = parseArgs({
  options: {
    kind: { type: 'string' },
    changed: { type: 'boolean' },
    postgres: { type: 'boolean' },
    embedded: { type: 'boolean' },
    times: { type: 'boolean' },
    'checks-only': { type: 'boolean' },
  },
  allowPositionals: true,
})
const kinds = ['unit', 'service', 'process']
/** Far above what they take: a run that hangs must end. */
const budgetSeconds = 3600
const total = { passed: 0, failed: 0, skipped: 0 }
/** Lines to repeat at the end. */
const notes = []

/** The URL of a temporary PostgreSQL server for the tests. */
let postgres

await main(async () => {
  if (flags.kind && ![...kinds, 'browser'].includes(flags.kind))
    throw new StepFailed(`--kind must be unit, service, process or browser, not ${flags.kind}`)
  await install()
  if (flags['checks-only']) return checks()
  if (flags.kind === 'unit') return void (await vitest({ kinds: ['unit'], args: files }))
  // A missing program is installed in CI.
  if (flags.embedded || !(flags.postgres || process.env.CI || installedPostgres())) return tests()
  await withPostgres((url) => {
    postgres = url
    return tests()
  })
})

async function tests() {
  if (flags.changed) return changed()
  if (files.length > 0) return someFiles()
  if (flags.kind === 'browser') {
    await builds()
    return void (await browserTests())
  }
  if (flags.kind || flags.postgres || flags.embedded) {
    await builds()
    const suite = await vitest({
      kinds: flags.kind ? [flags.kind] : flags.embedded ? ['service'] : ['service', 'process'],
    })
    return saveShown(flags.postgres ? 'postgres' : flags.embedded ? 'embedded' : flags.kind, suite.cited)
  }
  await checks()
  await check('Building the web app', buildWeb)
  const suites = [await vitest(), await browserTests()]
  await check('Requirements', () => requirements(suites))
}

// A failure before the first test counts too.
if (process.exitCode && total.failed === 0) total.failed = 1
for (const note of notes) console.log(note)
console.log(`\n${countsOf(total)}`)
if (total.failed > 0) process.exitCode = 1

async function builds() {
  await build('Building and checking types', '.')
  await buildPackages()
  await bundleServer()
  await buildWeb()
}

async function checks() {
  await build('Building and checking types', '.')
  await buildPackages()
  await bundleServer()
  await check('Format and lint', () => step('Format and lint', bin('biome'), ['check', '--error-on-warnings']))
  await check('Imports', () => checkStep('Imports', importProblems))
  await check('Owners of tables', () => checkStep('Owners of tables', tableProblems))
  await check('Dependencies', () => checkStep('Dependencies', dependencyProblems))
  await check('Words', () => checkStep('Words', wordProblems))
}

/** A failed check counts as one failure; the rest still runs. */
async function check(title, work) {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    total.failed++
    console.error(`✗ ${title}: ${error.message}`)
  }
}

/** The named files, in both runners. */
async function someFiles() {
  await builds()
  const inBrowser = files.filter((file) => /\.spec\.ts$|^web\/e2e/.test(file))
  const others = files.filter((file) => !inBrowser.includes(file))
  if (others.length > 0) {
    const { cited } = await vitest({ ...(flags.kind ? { kinds: [flags.kind] } : {}), args: others })
    saveShown(`files ${flags.postgres ? 'on postgres' : ''}`, cited)
  }
  if (inBrowser.length > 0) await browserTests(inBrowser)
}

/** Tests that import what changed, and browser tests that changed themselves. */
async function changed() {
  const since = files[0] ?? 'HEAD'
  await builds()
  await vitest({ args: ['--changed', since, '--passWithNoTests'] })
  const { output } = await run('git', ['diff', '--name-only', since])
  const specs = output.split('\n').filter((file) => file.endsWith('.spec.ts'))
  if (specs.length > 0) await browserTests(specs)
}

/** On PostgreSQL where it is installed, but for scripts/embedded-tests.mjs, and on the embedded database elsewhere. */
async function vitest({ kinds: chosen, args = [] } = {}) {
  const hasEmbedded = postgres && !flags.postgres
  const projects = chosen?.flatMap((kind) => (hasEmbedded && kind !== 'unit' ? [kind, `embedded-${kind}`] : [kind]))
  const only = projects?.flatMap((name) => ['--project', name]) ?? []
  const database = postgres ? (flags.postgres ? 'PostgreSQL alone' : 'PostgreSQL') : 'the embedded database'
  const title = chosen?.[0] === 'unit' ? 'Unit tests' : `Tests on ${database}`
  return suite('tests', title, bin('vitest'), ['run', ...only, ...args], {
    DATABASE_URL: flags.postgres ? postgres : '',
    ...(hasEmbedded ? { BATON_TEST_POSTGRES: postgres } : {}),
    ...(flags.times ? { BATON_TEST_TIMES: '1' } : {}),
  })
}

/** Finds or installs a browser. Without one, the tests are only listed, which counts as a failure in CI. */
async function browserTests(specs = []) {
  const playwright = ['test', '--config', 'web/e2e', ...specs]
  let executable
  await check('Bundle size', () => step('Bundle size', process.execPath, ['scripts/check-bundle.mjs']))
  try {
    executable = await browser()
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    if (process.env.CI) total.failed++
    const before = total.skipped
    const listed = await suite('browser', 'Tests in a browser', bin('playwright'), [...playwright, '--list'], {})
    const skipped = total.skipped - before
    notes.push(`${process.env.CI ? '✗' : '▲'} ${skipped} BROWSER TESTS WERE SKIPPED: ${error.message}`)
    return listed
  }
  return suite('browser', `Tests in ${executable}`, bin('playwright'), playwright, {
    BATON_CHROMIUM: executable,
    ...(specs.length === 0 ? { BATON_TEST_ALL: '1' } : {}),
    ...(postgres ? { BATON_TEST_POSTGRES: postgres } : {}),
  })
}

/** Runs the tests, adds to the counts, and returns the requirements that they verified or left to another suite. */
async function suite(name, title, command, args, env) {
  const summary = await runSuite({ name, title, command, args, env: { ...env, BATON_TEST_BUNDLE: '1' }, budgetSeconds })
  for (const count of ['passed', 'failed', 'skipped']) total[count] += summary[count]
  return summary
}

function requirements(suites) {
  const all = requirementsOf()
  const { missing, left, shown } = compare(all, suites)
  saveShown('test', shown)
  const byCommands = unnamed()
  const problems = [
    ...missing.map((id) => `no passing test cites ${id}`),
    ...byCommands.missing.map((id) => `no test file cites ${id}`),
  ]
  if (problems.length > 0) throw new StepFailed(`\n  ${problems.join('\n  ')}`)
  console.log(`▸ Requirements: ${shown.length} of ${all.length + byCommands.ids.length} verified by passed tests`)
  if (left.length > 0) notes.push(`▲ Left to tests that were skipped here: ${left.join(', ')}`)
  notes.push(`▲ Left to commands of their own (shown_by): ${byCommands.ids.join(', ')}`)
}
