import { randomInt } from 'node:crypto'
import { crockford } from '../ids.ts'

const wordsPerId = 4
const values = new Uint8Array(128).fill(255)
for (const [value, character] of [...crockford].entries()) values[character.charCodeAt(0)] = value

/**
 * Ids of one table in the order they were added, in about 24 bytes each: a workspace can have millions of comments, and
 * a set of strings would take four times as much. Only for ids of the right form.
 */
export class IdList {
  readonly #prefix: string
  #words = new Uint32Array(wordsPerId * 64)
  /** Positions plus one, by hash; 0 is empty. */
  #slots = new Uint32Array(128)
  /** Ids of an archive are chosen by others, so their places must not be predictable. */
  readonly #seed = randomInt(2 ** 32 - 1)
  readonly #parsed = new Uint32Array(wordsPerId)
  size = 0

  constructor(prefix: string) {
    this.#prefix = `${prefix}_`
  }

  /** False if it was in the list before. */
  add(id: string): boolean {
    if (this.#find(id) >= 0) return false
    if (this.size * 2 >= this.#slots.length) this.#grow()
    this.#words.set(this.#parsed, this.size * wordsPerId)
    this.#slots[this.#slotOf(this.size)] = this.size + 1
    this.size++
    return true
  }

  has(id: string): boolean {
    return this.indexOf(id) >= 0
  }

  indexOf(id: string): number {
    return id.startsWith(this.#prefix) && id.length === this.#prefix.length + 26 ? this.#find(id) : -1
  }

  at(index: number): string {
    const at = index * wordsPerId
    let bits = 0n
    for (let word = 0; word < wordsPerId; word++) bits = (bits << 32n) | BigInt(this.#words[at + word] as number)
    let text = ''
    for (let place = 125n; place >= 0n; place -= 5n) text += crockford[Number((bits >> place) & 31n)]
    return this.#prefix + text
  }

  /** Parts of at most `count` ids. */
  *chunks(count: number): Generator<string[]> {
    for (let from = 0; from < this.size; from += count) {
      yield Array.from({ length: Math.min(count, this.size - from) }, (_, index) => this.at(from + index))
    }
  }

  #find(id: string): number {
    this.#parse(id)
    const mask = this.#slots.length - 1
    for (let slot = this.#hash(this.#parsed, 0) & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot] as number
      if (entry === 0) return -1
      if (this.#equals(entry - 1)) return entry - 1
    }
  }

  #equals(index: number) {
    const at = index * wordsPerId
    for (let word = 0; word < wordsPerId; word++) if (this.#words[at + word] !== this.#parsed[word]) return false
    return true
  }

  #parse(id: string) {
    const parsed = this.#parsed.fill(0)
    const start = this.#prefix.length
    // 26 characters of 5 bits are 130; the first two bits are zero.
    for (let index = 0; index < 26; index++) {
      const value = values[id.charCodeAt(start + index) & 127] as number
      const end = 130 - 5 * (index + 1)
      const [word, shift] = [wordsPerId - 1 - (end >> 5), end & 31]
      parsed[word] = ((parsed[word] as number) | (value << shift)) >>> 0
      if (shift > 27 && word > 0) parsed[word - 1] = ((parsed[word - 1] as number) | (value >> (32 - shift))) >>> 0
    }
  }

  #hash(words: Uint32Array, at: number) {
    let hash = this.#seed
    for (let word = 0; word < wordsPerId; word++) {
      hash = Math.imul(hash ^ (words[at + word] as number), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    hash = Math.imul(hash, 0x85ebca6b)
    return (hash ^ (hash >>> 13)) >>> 0
  }

  #slotOf(index: number) {
    const mask = this.#slots.length - 1
    let slot = this.#hash(this.#words, index * wordsPerId) & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    return slot
  }

  #grow() {
    const words = new Uint32Array(this.#words.length * 2)
    words.set(this.#words)
    this.#words = words
    this.#slots = new Uint32Array(this.#slots.length * 2)
    for (let index = 0; index < this.size; index++) this.#slots[this.#slotOf(index)] = index + 1
  }
}
