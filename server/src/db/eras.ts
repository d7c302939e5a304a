/** The first one ends when tables may have grown beyond their first pages. */
const firstEra = 256

/**
 * A plan that is kept was made for tables as small as they were then: what reads a few pages from end to end reads a
 * million rows in the same way. PostgreSQL plans anew when it has counted a table again, which takes it a minute, and
 * the embedded database after housekeeping. So statements are prepared anew in each era, and an era lasts until four
 * times as many have been run as when it began: often while there is little, and ever more rarely.
 */
export class Eras {
  #run = 0
  #era = 0
  #ends = firstEra

  /** The era of the next statement. */
  next(): number {
    if (++this.#run > this.#ends) {
      this.#era++
      this.#ends *= 4
    }
    return this.#era
  }
}
