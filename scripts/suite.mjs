// Runs a test program that writes its results with conformance/results.ts, and prints their counts.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from './setup.mjs'

/** Returns counts, remarks, the requirements that passed tests cite, and those left to another suite. */
export async function runSuite({ name, title, command, args, env = {}, budgetSeconds }) {
  const results = join(root, 'node_modules', '.cache', `tests-${name}.json`)
  rmSync(results, { force: true })
  const started = Date.now()
  console.log(`▸ ${title}`)
  const { code } = await run(command, args, {
    env: { ...env, BATON_TEST_RESULTS: results },
    show: true,
    timeoutMs: budgetSeconds * 1000,
  })
  const summary = existsSync(results)
    ? JSON.parse(readFileSync(results, 'utf8'))
    : { passed: 0, failed: 0, skipped: 0, remarks: [], cited: [], left: [] }
  if (code !== 0 && summary.failed === 0) {
    summary.failed = 1
    summary.remarks.push(`✗ ${title}: ended with exit code ${code} without a failed test; see the output above`)
  }
  const seconds = Math.round((Date.now() - started) / 1000)
  console.log(`  ${name}: ${countsOf(summary)} in ${seconds} s (budget ${budgetSeconds} s)`)
  // ✗ failed, ≈ passed only when retried.
  for (const remark of summary.remarks) console.log(remark)
  return summary
}

export const countsOf = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
