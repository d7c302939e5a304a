import type { FullConfig, Reporter, Suite, TestCase, TestError } from '@playwright/test/reporter'
import { type TestResult, writeResults } from '../../conformance/results.ts'

/** Writes the results of the browser tests in the same format as those of vitest. */
export default class ConformanceReporter implements Reporter {
  readonly #file: string
  readonly #withoutBrowser: boolean
  #tests: TestCase[] = []
  readonly #errors: string[] = []

  constructor({ file, withoutBrowser }: { file: string; withoutBrowser: boolean }) {
    this.#file = file
    this.#withoutBrowser = withoutBrowser
  }

  onBegin(_config: FullConfig, suite: Suite) {
    this.#tests = suite.allTests()
  }

  /** Errors outside of tests, such as a spec that cannot be loaded. */
  onError({ message = '' }: TestError) {
    this.#errors.push(message)
  }

  onEnd() {
    const results = this.#tests.map((test) => ({
      name: test.titlePath().filter(Boolean).join(' › '),
      state: stateOf(test),
      flaky: test.outcome() === 'flaky',
      message: test.results.find(({ error }) => error)?.error?.message,
      verifies: test.annotations.flatMap(({ type, description = '' }) => (type === 'verifies' ? [description] : [])),
      // Without a browser the tests are only listed; a machine with one verifies the requirements they cite.
      elsewhere: this.#withoutBrowser,
    }))
    writeResults(this.#file, results, this.#errors)
  }
}

function stateOf(test: TestCase): TestResult['state'] {
  const outcome = test.outcome()
  if (outcome === 'skipped' || test.results.length === 0) return 'skipped'
  return outcome === 'expected' || outcome === 'flaky' ? 'passed' : 'failed'
}
