import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** Writes what a run has shown: how many tests passed, and which requirements they cite. */
export class ConformanceReporter implements Reporter {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]) {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const inState = (state: string) => tests.filter((test) => test.result().state === state)
    const brokenModules = modules.filter((module) => module.errors().length > 0)
    const cited = tests
      .filter((test) => {
        const { state } = test.result()
        return state === 'passed' || (state === 'skipped' && test.meta().needs === 'postgres')
      })
      .flatMap((test) => test.meta().verifies ?? [])
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(
      this.#file,
      JSON.stringify({
        passed: inState('passed').length,
        failed: inState('failed').length + brokenModules.length + errors.length,
        skipped: inState('skipped').length,
        cited: [...new Set(cited)].sort(),
      }),
    )
  }
}
