import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

export interface Shown {
  name: string
  /** Passed, but not the first time. */
  flaky: boolean
  /** What was wrong, if something was. */
  message: string | undefined
  state: 'passed' | 'failed' | 'skipped'
  verifies: readonly string[]
  /** Skipped because another suite runs it. */
  elsewhere?: boolean
}

/**
 * Writes what a run has shown: how many tests passed, which did not or not at once, which requirements those that passed
 * cite, and which are left to another suite.
 * What failed outside any test is told in words.
 */
export function writeResults(file: string, tests: readonly Shown[], otherFailures: readonly string[]) {
  const count = (state: Shown['state']) => tests.filter((test) => test.state === state).length
  const citedBy = (some: readonly Shown[]) => [...new Set(some.flatMap((test) => test.verifies))].sort()
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

/** What fits on one line of a summary. */
function firstLines(message: string) {
  return stripVTControlCharacters(message).split('\n').slice(0, 6).join(' ').slice(0, 500)
}
