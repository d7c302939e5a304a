import { cut } from './xml.ts'

/** A text between its tags that may be cut. */
export interface Cuttable {
  before: string
  /** Escaped. */
  text: string
  after: string
  kept: string
}

/** Initially keeps only `minBytes` of the text; `ByteBudget.extend` adds as much of the rest as fits. */
export const cuttable = (before: string, text: string, after: string, minBytes = 0): Cuttable => ({
  before,
  text,
  after,
  kept: cut(text, minBytes),
})

export const render = ({ before, kept, after }: Cuttable) => before + kept + after

/**
 * The bytes left in a document. Parts are added by importance, so the part that is cut first is added last. A line takes
 * one byte more than its text, for the line break.
 */
export class ByteBudget {
  #left: number
  /** Set once a part did not fit completely. No block is added after that, however small: it is less important. */
  #exhausted = false

  constructor(bytes: number) {
    this.#left = bytes + 1
  }

  /** Adds lines that cannot be left out. */
  addRequired(lines: string[]) {
    for (const line of lines) this.#left -= Buffer.byteLength(line) + 1
  }

  /** Keeps as much of the text as fits. */
  extend(part: Cuttable) {
    this.#left += Buffer.byteLength(part.kept)
    part.kept = cut(part.text, this.#left)
    this.#left -= Buffer.byteLength(part.kept)
    if (part.kept === part.text) return
    this.#exhausted = true
    // A few bytes can remain, too few for the next character of this text; no other text may use them.
    this.#left = 0
  }

  /** Adds blocks in their order while they fit whole. `write` may return null for a block longer than `bytesLeft`. */
  addBlocks<Item>(items: Item[], write: (item: Item, bytesLeft: number) => string | null): string[] {
    const lines: string[] = []
    for (const item of items) {
      if (this.#exhausted) break
      const line = write(item, this.#left)
      if (line === null || Buffer.byteLength(line) + 1 > this.#left) this.#exhausted = true
      else {
        lines.push(line)
        this.addRequired([line])
      }
    }
    return lines
  }
}
