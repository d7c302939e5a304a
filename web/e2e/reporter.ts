import type { FullConfig, Reporter, Suite, TestCase, TestError } from '@playwright/test/reporter'
import { type TestResult, writeResults } from '../../conformance/results.ts'

/** Writes what the browser tests have shown, in the same form as those of vitest. */
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

  /** What belongs to no test, such as a spec that cannot be read. */
  onError({ message = '' }: TestError) {
    this.#errors.push(message)
  }

  onEnd() {
    const shown = this.#tests.map((test) => ({
      name: test.titlePath().filter(Boolean).join(' › '),
      state: stateOf(test),
      flaky: test.outcome() === 'flaky',
      message: test.results.find(({ error }) => error)?.error?.message,
      verifies: test.annotations.flatMap(({ type, description = '' }) => (type === 'verifies' ? [description] : [])),
      // Where there is no browser the tests are only listed; a machine that has one shows what they cite.
      elsewhere: this.#withoutBrowser,
    }))
    writeResults(this.#file, shown, this.#errors)
  }
}

function stateOf(test: TestCase): TestResult['state'] {
  const outcome = test.outcome()
  if (outcome === 'skipped' || test.results.length === 0) return 'skipped'
  return outcome === 'expected' || outcome === 'flaky' ? 'passed' : 'failed'
}
