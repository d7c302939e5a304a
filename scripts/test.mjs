// npm test: installs dependencies, checks the source tree, runs all tests, and counts.
//   --postgres     the server's tests on a temporary PostgreSQL server
//   --third 2      with --postgres: tests that can differ there and a third of the others (1, 2, 3, auto or none)
//   --browser      only the browser tests
//   --checks-only  no tests
import { parseArgs } from 'node:util'
import { browser } from './browser.mjs'
import { dependencyProblems } from './check-dependencies.mjs'
import { importProblems } from './check-imports.mjs'
import { tableProblems } from './check-tables.mjs'
import { wordProblems } from './check-words.mjs'
import { leftToNextCommit, longTests, requirementsIn } from './long-tests.mjs'
import { withPostgres } from './postgres.mjs'
import { filesOnPostgres } from './postgres-tests.mjs'
import { allRequirements, compare, forgetLeft, readLeft, saveLeft, unnamed, unverified } from './requirements.mjs'
import {
  bin,
  build,
  buildPackages,
  buildWeb,
  bundleServer,
  checkStep,
  install,
  main,
  runNumber,
  StepFailed,
  step,
} from './setup.mjs'
import { countsOf, runSuite } from './suite.mjs'

const budgetSeconds = { embedded: 2100, postgres: 1400, browser: 1300 }
const { values: flags } = parseArgs({
  options: {
    postgres: { type: 'boolean' },
    third: { type: 'string' },
    browser: { type: 'boolean' },
    'checks-only': { type: 'boolean' },
  },
})
/** In CI the browser tests are split into shares. The next share begins only within this time. */
const browserShares = 8
const latestShareMs = 1_300_000
/** In CI all long tests run only if the build and the checks took no longer. */
const slowBuildMs = 30_000
let isSlow = false
const total = { passed: 0, failed: 0, skipped: 0 }
/** Lines to repeat at the end. */
const notes = []

await main(async () => {
  await install()
  const buildStartedAt = performance.now()
  await build('Building and checking types', '.')
  await buildPackages()
  await bundleServer()
  if (flags.postgres) {
    const files = flags.third ? filesOnPostgres(flags.third) : ['server/']
    const suite = await withPostgres((url) => vitest('postgres', files, { DATABASE_URL: url }))
    await check('Requirements on PostgreSQL', () => requirementsOnPostgres(suite))
  } else if (flags.browser) {
    await check('Building the web app', buildWeb)
    await browserTests()
  } else {
    await check('Format and lint', () => step('Format and lint', bin('biome'), ['check', '--error-on-warnings']))
    await check('Imports', () => checkStep('Imports', importProblems))
    await check('Owners of tables', () => checkStep('Owners of tables', tableProblems))
    await check('Dependencies', () => checkStep('Dependencies', dependencyProblems))
    await check('Words', () => checkStep('Words', wordProblems))
    if (!flags['checks-only']) {
      isSlow = performance.now() - buildStartedAt > slowBuildMs
      forgetLeft()
      await check('Building the web app', buildWeb)
      const embedded = await embeddedTests()
      const inBrowser = await browserTests()
      await check('Requirements', () => requirements(embedded, inBrowser))
    }
  }
})

// A failure before the first test counts too.
if (process.exitCode && total.failed === 0) total.failed = 1
for (const note of notes) console.log(note)
console.log(`\n${countsOf(total)}`)
if (total.failed > 0) process.exitCode = 1

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

function vitest(name, files, env) {
  return suite(name, `Tests on the ${name} database`, bin('vitest'), ['run', ...files], env)
}

/** On a slow machine, CI leaves two thirds of the long tests to the next commits. */
async function embeddedTests() {
  const left = process.env.CI && isSlow ? leftToNextCommit() : []
  if (left.length > 0) {
    notes.push(`▲ ${left.length} of ${longTests.length} long test files were not run, because this machine is slow`)
  }
  const exclude = left.flatMap((file) => ['--exclude', file])
  const ran = await vitest('embedded', exclude, { DATABASE_URL: '' })
  return { ...ran, notRun: requirementsIn(left, allRequirements()) }
}

/** Finds or installs a browser. Without one, the tests are only listed, which counts as a failure in CI. */
async function browserTests() {
  const playwright = ['test', '--config', 'web/e2e']
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
  const env = { BATON_CHROMIUM: executable }
  if (process.env.CI) return sharesOfBrowserTests(playwright, env)
  return suite('browser', `Tests in ${executable}`, bin('playwright'), playwright, env)
}

/** Runs as many shares as there is time for, each commit beginning with another one. */
async function sharesOfBrowserTests(playwright, env) {
  const before = total.skipped
  const listing = { ...env, BATON_TESTS_LISTED: '1' }
  const listed = await suite('browser', 'All browser tests', bin('playwright'), [...playwright, '--list'], listing)
  total.skipped = before
  const cited = new Set()
  let ran = 0
  while (ran < browserShares && (ran === 0 || performance.now() < latestShareMs)) {
    const share = `${((runNumber() + ran++) % browserShares) + 1}/${browserShares}`
    const args = [...playwright, `--shard=${share}`]
    const summary = await suite('browser', `Share ${share} of the browser tests`, bin('playwright'), args, env)
    for (const id of summary.cited) cited.add(id)
  }
  if (ran < browserShares) notes.push(`▲ ${ran} of ${browserShares} shares of the browser tests were run: no time left`)
  return { cited: [...cited], left: listed.left }
}

/** Runs the tests, adds to the counts, and returns the requirements that they verified or left to another suite. */
async function suite(name, title, command, args, env) {
  const ran = { ...env, BATON_TEST_BUNDLE: '1' }
  const summary = await runSuite({ name, title, command, args, env: ran, budgetSeconds: budgetSeconds[name] })
  for (const count of ['passed', 'failed', 'skipped']) total[count] += summary[count]
  return summary
}

function requirements(embedded, inBrowser) {
  const all = allRequirements()
  const { missing, toPostgres, toBrowser, toNextCommit } = compare(all, embedded, inBrowser)
  const byCommands = unnamed()
  saveLeft(toPostgres)
  const problems = [
    ...missing.map((id) => `no passing test cites ${id}`),
    ...byCommands.missing.map((id) => `no test file cites ${id}`),
  ]
  if (problems.length > 0) throw new StepFailed(`\n  ${problems.join('\n  ')}`)
  const left = [
    ...(toPostgres.length > 0 ? [`; ${toPostgres.length} more are left to npm run test:postgres`] : []),
    ...(toNextCommit.length > 0 ? [`; ${toNextCommit.length} more are left to long tests that were not run`] : []),
    ...(toBrowser.length > 0 ? [`; ${toBrowser.length} more are left to browser tests that were not run`] : []),
    ...(byCommands.count > 0 ? [`; ${byCommands.count} more are left to commands of their own (shown_by)`] : []),
  ]
  const verified = all.length - toPostgres.length - toBrowser.length - toNextCommit.length
  console.log(`▸ Requirements: ${verified} of ${all.length} verified by passed tests${left.join('')}`)
}

/** What `npm test` left to this suite must have passed here. */
function requirementsOnPostgres(suite) {
  const left = readLeft()
  if (!left) {
    if (process.env.CI) throw new StepFailed('npm test did not say which requirements it leaves to PostgreSQL')
    return console.log('▸ Requirements left to PostgreSQL: not compared, because npm test has not run here')
  }
  const missing = unverified(allRequirements(), left, suite)
  if (missing.length > 0)
    throw new StepFailed(`\n  ${missing.map((id) => `no test that passed on PostgreSQL cites ${id}`).join('\n  ')}`)
  console.log(`▸ Requirements left to PostgreSQL: all ${left.length} verified by passed tests`)
}
