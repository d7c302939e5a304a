// Test files outside `npm test`, each run by a command of its own. Requirements that only such a command shows name it as
// `shown_by` in conformance/requirements.json.
import { missingOf, saveShown } from './requirements.mjs'
import { bin, StepFailed } from './setup.mjs'
import { countsOf, runSuite } from './suite.mjs'

const tenMinutes = 600

/**
 * Runs test files of release/ as `command`, such as `npm run test:image`. Fails if a test fails, or if a requirement that
 * this command shows is not cited by a test that passed. `others` are suites that the command
 * also ran. `partial`: it was asked to run only some of its tests.
 */
export async function ownCommand(
  command,
  files,
  { env = {}, others = [], budgetSeconds = tenMinutes, partial = false } = {},
) {
  const name = command.replace(/^npm run (test:)?/, '').replaceAll(/[^a-z]+/g, '-')
  const suite = await runSuite({
    name,
    title: command,
    command: bin('vitest'),
    args: ['run', '--config', 'release/vitest.config.ts', ...files],
    env: { DATABASE_URL: '', ...env },
    budgetSeconds,
  })
  settle(command, [suite, ...others], partial)
}

/** Compares what the suites of a command showed with what it has to show, and prints the counts of all. */
export function settle(command, suites, partial = false) {
  const cited = new Set(suites.flatMap((suite) => suite.cited))
  saveShown(command, cited)
  const missing = partial ? [] : missingOf(command, cited)
  for (const id of missing) console.log(`✗ no test that passed cites ${id}`)
  const sum = (count) => suites.reduce((total, suite) => total + suite[count], 0)
  const total = { passed: sum('passed'), failed: sum('failed') + missing.length, skipped: sum('skipped') }
  console.log(`\n${countsOf(total)}`)
  if (total.failed > 0) throw new StepFailed(`${command} failed`)
}
