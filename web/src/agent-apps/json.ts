export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface Position {
  /** Starts at 1. */
  line: number
  column: number
}
export type ParsedJson =
  | { ok: true; value: Json /** Offset of the value at each dotted path. */; offsets: Map<string, number> }
  | { ok: false; message: string; offset: number }

class JsonError extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

const maxDepth = 32

/** Like JSON.parse, but with the offset of every value, so that errors can be shown at their line. */
export function parseJson(text: string): ParsedJson {
  const parser = new Parser(text)
  try {
    return { ok: true, value: parser.parse(), offsets: parser.offsets }
  } catch (error) {
    if (error instanceof JsonError) return { ok: false, message: error.message, offset: error.offset }
    throw error
  }
}

export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

const stringToken = /"(?:[^"\\\r\n]|\\.)*"/y
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const wordToken = /true|false|null/y

class Parser {
  readonly offsets = new Map<string, number>()
  readonly #text: string
  #offset = 0

  constructor(text: string) {
    this.#text = text
  }

  parse(): Json {
    const value = this.#value('', 0)
    this.#skipSpace()
    if (this.#offset < this.#text.length) this.#fail('Unexpected text after the end')
    return value
  }

  #value(path: string, depth: number): Json {
    this.#skipSpace()
    this.offsets.set(path, this.#offset)
    if (depth > maxDepth) this.#fail(`Nested deeper than ${maxDepth} levels`)
    const next = this.#text[this.#offset]
    if (next === '{') return this.#object(path, depth)
    if (next === '[') return this.#array(path, depth)
    if (next === '"') return this.#string()
    const token = this.#take(numberToken) ?? this.#take(wordToken)
    if (token === undefined) this.#fail(next === undefined ? 'Unexpected end of text' : 'Expected a value')
    return JSON.parse(token)
  }

  #object(path: string, depth: number): Json {
    const entries: [string, Json][] = []
    this.#offset++
    for (this.#skipSpace(); !this.#skip('}'); this.#skipSpace()) {
      if (entries.length > 0) {
        this.#expect(',', 'Expected a comma')
        this.#skipSpace()
      }
      const start = this.#offset
      if (this.#text[start] !== '"') this.#fail('Expected a name in double quotes')
      const name = this.#string()
      const inner = path ? `${path}.${name}` : name
      if (entries.some(([other]) => other === name)) this.#fail(`Duplicate name ${name}`, start)
      this.#skipSpace()
      this.#expect(':', 'Expected a colon')
      entries.push([name, this.#value(inner, depth + 1)])
      this.offsets.set(inner, start)
    }
    // fromEntries defines __proto__ as an own property; an assignment would set the prototype.
    return Object.fromEntries(entries)
  }

  #array(path: string, depth: number): Json {
    const items: Json[] = []
    this.#offset++
    for (this.#skipSpace(); !this.#skip(']'); this.#skipSpace()) {
      if (items.length > 0) this.#expect(',', 'Expected a comma')
      items.push(this.#value(`${path}.${items.length}`, depth + 1))
    }
    return items
  }

  #string(): string {
    const start = this.#offset
    const token = this.#take(stringToken)
    if (token === undefined) this.#fail('Missing closing quote')
    try {
      return JSON.parse(token)
    } catch {
      this.#fail('Invalid escape or control character in the string', start)
    }
  }

  #skipSpace() {
    while (/[ \t\n\r]/.test(this.#text[this.#offset] ?? '')) this.#offset++
  }

  #skip(sign: string) {
    if (this.#text[this.#offset] !== sign) return false
    this.#offset++
    return true
  }

  #expect(sign: string, message: string) {
    if (!this.#skip(sign)) this.#fail(this.#offset >= this.#text.length ? 'Unexpected end of text' : message)
  }

  #take(token: RegExp): string | undefined {
    token.lastIndex = this.#offset
    const [found] = token.exec(this.#text) ?? []
    if (found !== undefined) this.#offset += found.length
    return found
  }

  #fail(message: string, offset = this.#offset): never {
    throw new JsonError(message, offset)
  }
}
