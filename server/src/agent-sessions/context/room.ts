import { cut } from './xml.ts'

/** A text between its tags that may be cut. */
export interface Cuttable {
  before: string
  /** Escaped. */
  text: string
  after: string
  kept: string
}

/** At first with no more of the text than stays in any case; `Room.stretch` asks for the rest. */
export const cuttable = (before: string, text: string, after: string, leastBytes = 0): Cuttable => ({
  before,
  text,
  after,
  kept: cut(text, leastBytes),
})

export const written = ({ before, kept, after }: Cuttable) => before + kept + after

/**
 * What is left of a document's bytes. It is given away in turn, to what matters most first, so what is cut first has to
 * be asked for last. A line costs a byte more than it has, for the break that divides it from the next.
 */
export class Room {
  #left: number
  /** Whether something did not fit whole. From then on no block comes in, however small: it is to be cut before. */
  #tight = false

  constructor(bytes: number) {
    this.#left = bytes + 1
  }

  /** For what cannot be left out. */
  frame(lines: string[]) {
    for (const line of lines) this.#left -= Buffer.byteLength(line) + 1
  }

  stretch(part: Cuttable) {
    this.#left += Buffer.byteLength(part.kept)
    part.kept = cut(part.text, this.#left)
    this.#left -= Buffer.byteLength(part.kept)
    if (part.kept === part.text) return
    this.#tight = true
    // A few bytes may be over, too few for this text's next character; no other text is to begin with them.
    this.#left = 0
  }

  /** As many blocks, in their order, as fit whole. `write` may answer null for one that is longer than what is left. */
  blocks<Item>(items: Item[], write: (item: Item, roomBytes: number) => string | null): string[] {
    const lines: string[] = []
    for (const item of items) {
      if (this.#tight) break
      const line = write(item, this.#left)
      if (line === null || Buffer.byteLength(line) + 1 > this.#left) this.#tight = true
      else {
        lines.push(line)
        this.frame([line])
      }
    }
    return lines
  }
}
