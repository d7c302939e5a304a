import type { Reporter, SerializedError, TestModule } from 'vitest/node'
import { writeResults } from './results.ts'

/** Writes the results of a vitest run. The browser tests have their own reporter in web/e2e. */
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
    // Such as an unhandled rejection; vitest knows during which test it happened.
    const unhandled = errors.map(({ message, VITEST_TEST_PATH: file, VITEST_TEST_NAME: name }) =>
      [file, name, message].filter(Boolean).join(': '),
    )
    writeResults(this.#file, tests, [...broken, ...unhandled])
  }
}
