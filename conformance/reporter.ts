import type { Reporter, TestModule } from 'vitest/node'
import { writeResults } from './results.ts'

/** Writes what a run of vitest has shown. The browser tests have one of their own in web/e2e. */
export class ConformanceReporter implements Reporter {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]) {
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
    const brokenModules = modules.filter((module) => module.errors().length > 0)
    writeResults(this.#file, tests, brokenModules.length + errors.length)
  }
}
