// The last lines of a CI run.

/** A test that passes only when retried has a bug, or the product has. A slow machine may cause a few. */
export const mostRetried = 2

/**
 * From the title, exit code and output lines of each part: its failures (✗), tests that passed only when retried (≈),
 * notes about skipped tests (▲), and the sum of all counts. A part without counts is one check.
 */
export function summaryOf(parts) {
  const remarks = []
  let [passed, failed] = [0, 0]
  for (const { title, code, output } of parts) {
    const counts = output.map((line) => /^(\d+) passed, (\d+) failed/.exec(line)).filter(Boolean)
    const failures = sum(counts.map(([, , count]) => count))
    remarks.push(...output.filter((line) => /^(✗|≈|▲) /.test(line)))
    passed += sum(counts.map(([, count]) => count))
    failed += failures
    if (code !== 0 && failures === 0) {
      failed++
      remarks.push(`✗ ${title} failed; see above`)
    } else if (counts.length === 0) {
      passed++
    }
  }
  const retried = remarks.filter((remark) => remark.startsWith('≈')).length
  if (retried > mostRetried) {
    failed++
    remarks.push(`✗ ${retried} tests passed only when retried; at most ${mostRetried} may`)
  }
  return { failed, lines: [...remarks, `${passed} passed, ${failed} failed`] }
}

const sum = (numbers) => numbers.reduce((total, number) => total + Number(number), 0)
