/** Seeded random numbers (mulberry32), so that a run can be repeated. */
export class Random {
  #state

  constructor(seed) {
    this.#state = seed
  }

  /** From 0 to below 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  between(low, high) {
    return low + this.next() * (high - low)
  }

  oneOf(items) {
    return items[Math.floor(this.next() * items.length)]
  }

  shuffled(items) {
    const left = [...items]
    return Array.from(items, () => left.splice(Math.floor(this.next() * left.length), 1)[0])
  }
}
