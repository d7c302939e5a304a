/** An issue by its words: stems, as the database's English dictionary has them. */
export interface Worded {
  title: readonly string[]
  description: readonly string[]
}

/** Forms that stemming leaves apart. */
const irregular: Record<string, string> = {
  lost: 'lose',
  chosen: 'choos',
  chose: 'choos',
  broken: 'break',
  broke: 'break',
  sent: 'send',
  shown: 'show',
  froze: 'freez',
  frozen: 'freez',
  login: 'log',
  logon: 'log',
  weekday: 'day',
  checkout: 'pay',
  payment: 'pay',
  paid: 'pay',
  offlin: 'connect',
}

/** A stem as the word that it was in a text. */
export function asWritten(stem: string, text: string): string | undefined {
  const forms = [stem, ...Object.keys(irregular).filter((form) => irregular[form] === stem)]
  for (const form of forms) {
    const start = form.replace(/[iy]$/, '').replace(/[^\p{L}\d]/gu, '')
    const word = start && new RegExp(`(?<![\\p{L}\\d])${start}\\p{L}{0,6}`, 'iu').exec(text)?.[0]
    if (word) return word.toLowerCase()
  }
  return undefined
}

/** How much each word says about an issue. */
interface Vector {
  weights: ReadonlyMap<string, number>
  length: number
}

const sameAs = (word: string) => irregular[word] ?? word

/** Words that are in every other issue say nothing about it; those that are in few say much. */
export class Likeness {
  readonly #frequency = new Map<string, number>()
  readonly #vectors = new WeakMap<Worded, Vector>()
  readonly #count: number

  constructor(all: readonly Worded[]) {
    this.#count = all.length
    for (const one of all) {
      for (const word of new Set([...one.title, ...one.description].map(sameAs))) {
        this.#frequency.set(word, (this.#frequency.get(word) ?? 0) + 1)
      }
    }
  }

  /** From 0, nothing in common, to 1, the same words. */
  between(a: Worded, b: Worded): number {
    const [one, other] = [this.#vector(a), this.#vector(b)]
    let dot = 0
    for (const [word, weight] of one.weights) dot += weight * (other.weights.get(word) ?? 0)
    const lengths = one.length * other.length
    return lengths === 0 ? 0 : dot / lengths
  }

  /** What they have in common, what says most first. */
  shared(a: Worded, b: Worded): string[] {
    const [one, other] = [this.#vector(a), this.#vector(b)]
    return [...one.weights.keys()]
      .filter((word) => other.weights.has(word))
      .sort((x, y) => this.#rarity(y) - this.#rarity(x))
  }

  #rarity(word: string) {
    return Math.log((this.#count + 2) / ((this.#frequency.get(word) ?? 0) + 1))
  }

  /** What the title says counts twice. */
  #vector(one: Worded): Vector {
    const known = this.#vectors.get(one)
    if (known) return known
    const weights = new Map<string, number>()
    for (const word of one.description.map(sameAs)) weights.set(word, this.#rarity(word) / 2)
    for (const word of one.title.map(sameAs)) weights.set(word, this.#rarity(word))
    const vector = { weights, length: Math.hypot(...weights.values()) }
    this.#vectors.set(one, vector)
    return vector
  }
}
