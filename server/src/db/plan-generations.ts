/** By then tables may have grown beyond their first pages. */
const firstGenerationStatements = 256

/**
 * A kept plan was made for the table sizes of that time: a plan that scans a few pages later scans a million rows.
 * PostgreSQL replans when autovacuum has analyzed a table, which takes about a minute, and the embedded database after
 * housekeeping. So statements are prepared again in each generation. A generation ends when four times as many
 * statements have run as at its start: often while tables are small, and less and less often later.
 */
export class PlanGenerations {
  #statements = 0
  #generation = 0
  #endsAfter = firstGenerationStatements

  /** Counts a statement and returns the generation it belongs to. */
  next(): number {
    if (++this.#statements > this.#endsAfter) {
      this.#generation++
      this.#endsAfter *= 4
    }
    return this.#generation
  }
}
