import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

export interface TestResult {
  name: string
  /** Passed only when retried. */
  flaky: boolean
  /** The first error, if any. */
  message: string | undefined
  state: 'passed' | 'failed' | 'skipped'
  verifies: readonly string[]
  /** Skipped because another suite runs it. */
  elsewhere?: boolean
}

/**
 * Writes the results of a run: counts, remarks on failed and flaky tests, the requirements that passed tests cite, and
 * those of tests that another suite runs. `otherFailures` are messages of failures outside any test.
 */
export function writeResults(file: string, tests: readonly TestResult[], otherFailures: readonly string[]) {
  const count = (state: TestResult['state']) => tests.filter((test) => test.state === state).length
  const citedBy = (some: readonly TestResult[]) => [...new Set(some.flatMap((test) => test.verifies))].sort()
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(
    file,
    JSON.stringify({
      passed: count('passed'),
      failed: count('failed') + otherFailures.length,
      skipped: count('skipped'),
      remarks: [
        ...tests
          .filter(({ state, flaky }) => state === 'failed' || flaky)
          .map(({ name, state, message = '' }) => `${state === 'failed' ? '✗' : '≈'} ${name}: ${firstLines(message)}`),
        ...otherFailures.map((failure) => `✗ outside a test: ${firstLines(failure)}`),
      ],
      cited: citedBy(tests.filter(({ state }) => state === 'passed')),
      left: citedBy(tests.filter(({ state, elsewhere }) => state === 'skipped' && elsewhere)),
    }),
  )
}

/** Shortened to one line of the summary. */
function firstLines(message: string) {
  return stripVTControlCharacters(message).split('\n').slice(0, 6).join(' ').slice(0, 500)
}
