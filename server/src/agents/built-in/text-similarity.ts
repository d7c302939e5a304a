/** The words of an issue, stemmed by the database's English dictionary. */
export interface WordStems {
  title: readonly string[]
  description: readonly string[]
}

/** Irregular forms and synonyms that stemming does not unify. */
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

/** Finds the word of the text that has this stem. */
export function wordForStem(stem: string, text: string): string | undefined {
  const forms = [stem, ...Object.keys(irregular).filter((form) => irregular[form] === stem)]
  for (const form of forms) {
    const start = form.replace(/[iy]$/, '').replace(/[^\p{L}\d]/gu, '')
    const word = start && new RegExp(`(?<![\\p{L}\\d])${start}\\p{L}{0,6}`, 'iu').exec(text)?.[0]
    if (word) return word.toLowerCase()
  }
  return undefined
}

/** The weight of each word. */
interface Vector {
  weights: ReadonlyMap<string, number>
  length: number
}

const canonicalStem = (word: string) => irregular[word] ?? word

/** Cosine similarity of texts. Rare words weigh more than common ones. */
export class TextSimilarity {
  readonly #frequency = new Map<string, number>()
  readonly #vectors = new WeakMap<WordStems, Vector>()
  readonly #count: number

  constructor(all: readonly WordStems[]) {
    this.#count = all.length
    for (const one of all) {
      for (const word of new Set([...one.title, ...one.description].map(canonicalStem))) {
        this.#frequency.set(word, (this.#frequency.get(word) ?? 0) + 1)
      }
    }
  }

  /** From 0 (no common word) to 1 (the same words). */
  between(a: WordStems, b: WordStems): number {
    const [one, other] = [this.#vector(a), this.#vector(b)]
    let dot = 0
    for (const [word, weight] of one.weights) dot += weight * (other.weights.get(word) ?? 0)
    const lengths = one.length * other.length
    return lengths === 0 ? 0 : dot / lengths
  }

  /** The common words, rarest first. */
  shared(a: WordStems, b: WordStems): string[] {
    const [one, other] = [this.#vector(a), this.#vector(b)]
    return [...one.weights.keys()]
      .filter((word) => other.weights.has(word))
      .sort((x, y) => this.#rarity(y) - this.#rarity(x))
  }

  #rarity(word: string) {
    return Math.log((this.#count + 2) / ((this.#frequency.get(word) ?? 0) + 1))
  }

  /** Words of the title weigh twice as much as words of the description. */
  #vector(one: WordStems): Vector {
    const known = this.#vectors.get(one)
    if (known) return known
    const weights = new Map<string, number>()
    for (const word of one.description.map(canonicalStem)) weights.set(word, this.#rarity(word) / 2)
    for (const word of one.title.map(canonicalStem)) weights.set(word, this.#rarity(word))
    const vector = { weights, length: Math.hypot(...weights.values()) }
    this.#vectors.set(one, vector)
    return vector
  }
}
