// The last lines of a CI run.

/** A test that passes only when retried has a bug, or the product has. */
const mostRetried = 1

/**
 * From the title, exit code, output lines and seconds of each part: its failures (✗), tests that passed only when
 * retried (≈), notes about skipped tests (▲), a table, and the sum of all counts. A part without counts is one check.
 * `unshown` are requirements that no part has shown.
 */
export function summaryOf(parts, unshown = []) {
  const remarks = []
  const rows = parts.map(({ title, code, output, seconds }) => {
    const counts = output.map((line) => /^(\d+) passed, (\d+) failed/.exec(line)).filter(Boolean)
    const own = output.filter((line) => /^(✗|≈|▲) /.test(line))
    remarks.push(...own)
    const failures = sum(counts.map(([, , count]) => count))
    const unnamed = code !== 0 && failures === 0
    if (unnamed) remarks.push(`✗ ${title} failed; see above`)
    return {
      part: title,
      passed: sum(counts.map(([, count]) => count)) + (counts.length === 0 && !unnamed ? 1 : 0),
      failed: failures + (unnamed ? 1 : 0),
      retried: own.filter((line) => line.startsWith('≈')).length,
      seconds,
    }
  })
  const total = Object.fromEntries(
    ['passed', 'failed', 'retried', 'seconds'].map((count) => [count, sum(rows.map((row) => row[count]))]),
  )
  if (total.retried > mostRetried) {
    total.failed++
    remarks.push(`✗ ${total.retried} tests passed only when retried; at most ${mostRetried} may`)
  }
  if (unshown.length > 0) {
    total.failed++
    remarks.push(`✗ ${unshown.length} requirements were shown by no part: ${unshown.join(', ')}`)
  }
  const table = [titles, ...[...rows, { part: 'all', ...total }].map(Object.values)].map(lineOf)
  return { failed: total.failed, lines: [...remarks, ...table, `${total.passed} passed, ${total.failed} failed`] }
}

const titles = ['part', 'passed', 'failed', 'retried', 'seconds']
const lineOf = ([title, ...cells]) => `${title.padEnd(32)}${cells.map((cell) => String(cell).padStart(9)).join('')}`
const sum = (numbers) => numbers.reduce((total, number) => total + Number(number), 0)
