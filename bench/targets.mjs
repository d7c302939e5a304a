/** The target of a row on a database; undefined if the row is only shown for comparison there. */
export const targetOf = (row, database) => (database === 'postgres' ? row.target : row.embeddedTarget)

/** Whether every target of the rows was measured and met. Rows without any target show nothing. */
export function metEverywhere(rows, results, databases) {
  const targets = rows.flatMap((row) =>
    databases.filter((database) => targetOf(row, database) !== undefined).map((database) => ({ ...row, database })),
  )
  const isMet = ({ name, database }) =>
    results.some((result) => result.name === name && result.database === database && result.met)
  return targets.length > 0 && targets.every(isMet)
}
