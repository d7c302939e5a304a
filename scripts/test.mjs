// npm test: installs dependencies, checks the source tree, runs all tests, and counts.
//   --postgres     the server's tests on a temporary PostgreSQL server
//   --differing    with --postgres: only tests that can differ there
//   --browser      only the browser tests
//   --checks-only  no tests
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { browser } from './browser.mjs'
import { importProblems } from './check-imports.mjs'
import { tableProblems } from './check-tables.mjs'
import { wordProblems } from './check-words.mjs'
import { withPostgres } from './postgres.mjs'
import { bin, build, buildPackages, buildWeb, checkStep, install, main, root, run, StepFailed, step } from './setup.mjs'

const budgetSeconds = { embedded: 1200, postgres: 540, browser: 720 }
/** Code that relies on locks, notifications or several processes, where PostgreSQL can differ from the embedded database. */
const roomsThatDiffer = ['src/db/', 'src/relay/', 'src/live/', 'src/delivery/', 'src/http/rate-', 'test/']
const flags = new Set(process.argv.slice(2))
const total = { passed: 0, failed: 0, skipped: 0 }

await main(async () => {
  await install()
  await build('Building and checking types', '.')
  await buildPackages()
  if (flags.has('--postgres')) {
    await withPostgres((url) =>
      vitest('postgres', flags.has('--differing') ? testsThatDiffer() : ['server/'], {
        DATABASE_URL: url,
      }),
    )
  } else if (flags.has('--browser')) {
    await browserTests()
  } else {
    await check('Format and lint', () => step('Format and lint', bin('biome'), ['check', '--error-on-warnings']))
    await check('Imports', () => checkStep('Imports', importProblems))
    await check('Owners of tables', () => checkStep('Owners of tables', tableProblems))
    await check('Words', () => checkStep('Words', wordProblems))
    if (!flags.has('--checks-only')) {
      const suites = [await vitest('embedded', [], { DATABASE_URL: '' }), await browserTests()]
      await check('Requirements', () => requirements(suites))
    }
  }
})

// A failure before the first test counts too.
if (process.exitCode && total.failed === 0) total.failed = 1
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`)
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

/** Those rooms, and every file with a test that runs only on PostgreSQL. */
function testsThatDiffer() {
  const only = readdirSync(join(root, 'server', 'src'), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) => /verifiesOnPostgres|onPostgres/.test(readFileSync(join(root, 'server', 'src', name), 'utf8')))
  return [...roomsThatDiffer, ...only.map((name) => join('src', name))].map((name) => join('server', name))
}

function vitest(name, files, env) {
  return suite(name, `Tests on the ${name} database`, bin('vitest'), ['run', ...files], env)
}

/** Finds or installs a browser. Without one, the tests are only listed, which counts as a failure in CI. */
async function browserTests() {
  const playwright = ['test', '--config', 'web/e2e']
  let executable
  await check('Building the web app', buildWeb)
  await check('Bundle size', () => step('Bundle size', process.execPath, ['scripts/check-bundle.mjs']))
  try {
    executable = await browser()
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    if (process.env.CI) total.failed++
    const before = total.skipped
    const listed = await suite('browser', 'Tests in a browser', bin('playwright'), [...playwright, '--list'], {})
    console.error(`\n✗✗✗ ${total.skipped - before} BROWSER TESTS WERE SKIPPED: ${error.message}\n`)
    return listed
  }
  return suite('browser', `Tests in ${executable}`, bin('playwright'), playwright, { BATON_CHROMIUM: executable })
}

/** Runs the tests and returns the requirements that they verified, and those left to another suite. */
async function suite(name, title, command, args, env) {
  const results = join(root, 'node_modules', '.cache', `tests-${name}.json`)
  rmSync(results, { force: true })
  const started = Date.now()
  console.log(`▸ ${title}`)
  const { code } = await run(command, args, {
    env: { ...env, BATON_TEST_RESULTS: results },
    show: true,
    timeoutMs: budgetSeconds[name] * 1000,
  })
  const summary = existsSync(results)
    ? JSON.parse(readFileSync(results, 'utf8'))
    : { passed: 0, failed: 0, skipped: 0, remarks: [], cited: [], left: [] }
  if (code !== 0 && summary.failed === 0) {
    summary.failed = 1
    summary.remarks.push(`✗ ${title}: ended with exit code ${code} without a failed test; see the output above`)
  }
  for (const count of ['passed', 'failed', 'skipped']) total[count] += summary[count]
  const seconds = Math.round((Date.now() - started) / 1000)
  const skipped = summary.skipped > 0 ? `, ${summary.skipped} skipped` : ''
  console.log(
    `  ${name}: ${summary.passed} passed, ${summary.failed} failed${skipped} in ${seconds} s (budget ${budgetSeconds[name]} s)`,
  )
  // ✗ failed, ≈ passed only when retried.
  for (const remark of summary.remarks) console.log(remark)
  return summary
}

/** Every requirement must be cited by a passed test, or by one that only another suite can run. */
async function requirements(suites) {
  const all = Object.keys(JSON.parse(readFileSync(join(root, 'conformance', 'requirements.json'), 'utf8')))
  const shown = new Set(suites.flatMap(({ cited }) => cited))
  const left = new Set(suites.flatMap((one) => one.left).filter((id) => !shown.has(id)))
  const problems = all.filter((id) => !shown.has(id) && !left.has(id)).map((id) => `no passing test cites ${id}`)
  if (problems.length > 0) throw new StepFailed(`\n  ${problems.join('\n  ')}`)
  const others = left.size > 0 ? `; ${left.size} more need PostgreSQL or a browser and were not run` : ''
  console.log(`▸ Requirements: ${all.length - left.size} of ${all.length} verified by passed tests${others}`)
}
