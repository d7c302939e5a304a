import type { SourceFile, SourceProblem } from '../record.ts'

export interface JsonItem {
  kind: 'item'
  /** Position in the files, from 1. */
  row: number
  // biome-ignore lint/suspicious/noExplicitAny: each format checks the fields that it reads
  value: any
}

/** Of one object. The longest text of an issue is far shorter. */
const maxItemBytes = 4 * 1024 * 1024
const maxDepth = 100
const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [...'"\\{}[]'].map((c) => c.charCodeAt(0))

/**
 * Every object that is in no other object: the elements of an array, of several arrays, of arrays in an array, and the
 * lines of newline-delimited JSON. So the pages of an API can be joined in any of the usual ways, and only one object is
 * in memory.
 */
export async function* jsonItems(files: readonly SourceFile[]): AsyncGenerator<JsonItem | SourceProblem> {
  let row = 0
  for (const file of files) {
    const cutter = new ObjectCutter()
    let isEmpty = true
    for await (const chunk of await file.open()) {
      for (const found of cutter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))) {
        isEmpty = false
        yield parsed(++row, found)
      }
    }
    if (cutter.isOpen) yield problem(++row, 'is not complete; the file may be cut off')
    else if (isEmpty) yield problem(null, `${file.name} has no JSON objects`)
  }
}

function parsed(row: number, found: Buffer | 'too large' | 'too deep'): JsonItem | SourceProblem {
  if (found === 'too large') return problem(row, `is larger than ${maxItemBytes / 1024 / 1024} MB and was skipped`)
  if (found === 'too deep') return problem(row, `has more than ${maxDepth} levels and was skipped`)
  try {
    const text = found.toString('utf8')
    // A function for each value is slow, so only where there can be something to replace.
    const value = unstorableEscape.test(text) ? JSON.parse(text, (_, one) => storable(one)) : JSON.parse(text)
    return { kind: 'item', row, value }
  } catch {
    return problem(row, 'is not JSON and was skipped')
  }
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair; both occur in JSON only as escapes. */
const unstorableEscape = /\\u(?:0000|d[89a-f])/i
const storable = (value: unknown) => (typeof value === 'string' ? value.replace(/\0|\p{Cs}/gu, '\ufffd') : value)

const problem = (row: number | null, message: string): SourceProblem => ({
  kind: 'problem',
  row,
  field: null,
  value: null,
  message,
})

/** Finds where objects begin and end. Whether they are valid decides JSON.parse. */
class ObjectCutter {
  #depth = 0
  #inString = false
  #escaped = false
  #parts: Buffer[] = []
  #bytes = 0
  #fault: 'too large' | 'too deep' | null = null

  get isOpen() {
    return this.#depth > 0
  }

  *push(chunk: Buffer): Generator<Buffer | 'too large' | 'too deep'> {
    let start = this.isOpen ? 0 : -1
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (byte === backslash) this.#escaped = true
        else if (byte === quote) this.#inString = false
      } else if (byte === quote) this.#inString = this.isOpen
      else if (byte === openBrace || (byte === openBracket && this.isOpen)) {
        if (this.#depth++ === 0) start = at
        if (this.#depth > maxDepth) this.#fault ??= 'too deep'
      } else if ((byte === closeBrace || byte === closeBracket) && this.isOpen && --this.#depth === 0) {
        this.#keep(chunk.subarray(start, at + 1))
        yield this.#take()
        start = -1
      }
    }
    if (this.isOpen) this.#keep(chunk.subarray(start))
  }

  #keep(part: Buffer) {
    this.#bytes += part.length
    if (this.#bytes > maxItemBytes) this.#fault ??= 'too large'
    if (this.#fault) this.#parts = []
    // A copy, because a part of a chunk would keep the whole chunk in memory.
    else this.#parts.push(Buffer.from(part))
  }

  #take() {
    const found = this.#fault ?? Buffer.concat(this.#parts)
    this.#parts = []
    this.#bytes = 0
    this.#fault = null
    return found
  }
}
