// A CSV of issues as Linear exports them, for the benchmark and the failure test of imports.

export const description = 'The door does not close. Oil the hinges, then try again with a warm hand. '.repeat(4)
export const titleOf = (n) => `Issue ${n}`
export const timeOf = (n) => new Date(Date.UTC(2024, 0, 1) + n * 60_000).toISOString()

export function issuesCsv(count) {
  const lines = ['ID,Team,Title,Description,Status,Priority,Created,Updated']
  for (let n = 1; n <= count; n++) {
    lines.push(`OLD-${n},Web,${titleOf(n)},"${description}",Todo,High,${timeOf(n)},${timeOf(n)}`)
  }
  return Buffer.from(lines.join('\n'))
}
