import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export interface Shown {
  state: 'passed' | 'failed' | 'skipped'
  verifies: readonly string[]
  /** Skipped because another suite runs it. */
  elsewhere?: boolean
}

/** Writes what a run has shown: how many tests passed, and which requirements they cite. */
export function writeResults(file: string, tests: readonly Shown[], otherFailures: number) {
  const count = (state: Shown['state']) => tests.filter((test) => test.state === state).length
  const cited = tests.filter(({ state, elsewhere }) => state === 'passed' || (state === 'skipped' && elsewhere))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(
    file,
    JSON.stringify({
      passed: count('passed'),
      failed: count('failed') + otherFailures,
      skipped: count('skipped'),
      cited: [...new Set(cited.flatMap((test) => test.verifies))].sort(),
    }),
  )
}
