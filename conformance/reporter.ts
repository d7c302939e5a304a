import type { Reporter, SerializedError, TestModule } from 'vitest/node'
import { writeResults } from './results.ts'

/** Writes what a run of vitest has shown. The browser tests have one of their own in web/e2e. */
export class ConformanceReporter implements Reporter {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]) {
    const tests = modules
      .flatMap((module) => [...module.children.allTests()])
      .flatMap((test) => {
        const { state, errors = [] } = test.result()
        const { verifies = [], needs } = test.meta()
        if (state === 'pending') return []
        const name = `${test.module.relativeModuleId} › ${test.fullName}`
        const flaky = test.diagnostic()?.flaky ?? false
        return [{ name, state, flaky, message: errors[0]?.message, verifies, elsewhere: needs === 'postgres' }]
      })
    const broken = modules.flatMap((module) =>
      module.errors().map(({ message }) => `${module.relativeModuleId}: ${message}`),
    )
    // Such as a promise that failed and nobody waited for; vitest knows during which test.
    const unhandled = errors.map(({ message, VITEST_TEST_PATH: file, VITEST_TEST_NAME: name }) =>
      [file, name, message].filter(Boolean).join(': '),
    )
    writeResults(this.#file, tests, [...broken, ...unhandled])
  }
}
