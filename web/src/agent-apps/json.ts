/** JSON with the place of everything in it, so that what is wrong can be shown where it stands. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface Place {
  /** From 1. */
  line: number
  column: number
}
export type Read =
  | { ok: true; value: Json /** Where the value of each dotted path begins. */; at: Map<string, number> }
  | { ok: false; message: string; offset: number }

class Wrong extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

const deepest = 32

export function readJson(text: string): Read {
  const reader = new Reader(text)
  try {
    return { ok: true, value: reader.whole(), at: reader.at }
  } catch (error) {
    if (error instanceof Wrong) return { ok: false, message: error.message, offset: error.offset }
    throw error
  }
}

export function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

const stringToken = /"(?:[^"\\\r\n]|\\.)*"/y
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const wordToken = /true|false|null/y

class Reader {
  readonly at = new Map<string, number>()
  readonly #text: string
  #offset = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): Json {
    const value = this.#value('', 0)
    this.#space()
    if (this.#offset < this.#text.length) this.#fail('There is something after the end')
    return value
  }

  #value(path: string, depth: number): Json {
    this.#space()
    this.at.set(path, this.#offset)
    if (depth > deepest) this.#fail('This is nested too deeply')
    const next = this.#text[this.#offset]
    if (next === '{') return this.#object(path, depth)
    if (next === '[') return this.#array(path, depth)
    if (next === '"') return this.#string()
    const token = this.#take(numberToken) ?? this.#take(wordToken)
    if (token === undefined) this.#fail(next === undefined ? 'The text ends too early' : 'A value is expected here')
    return JSON.parse(token)
  }

  #object(path: string, depth: number): Json {
    const entries: [string, Json][] = []
    this.#offset++
    for (this.#space(); !this.#skip('}'); this.#space()) {
      if (entries.length > 0) {
        this.#expect(',', 'A comma is missing here')
        this.#space()
      }
      const begin = this.#offset
      if (this.#text[begin] !== '"') this.#fail('A name in double quotes is expected here')
      const name = this.#string()
      const inner = path ? `${path}.${name}` : name
      if (entries.some(([other]) => other === name)) this.#fail(`${name} stands here twice`, begin)
      this.#space()
      this.#expect(':', 'A colon is missing here')
      entries.push([name, this.#value(inner, depth + 1)])
      this.at.set(inner, begin)
    }
    // Defines its own properties, also one that is called __proto__.
    return Object.fromEntries(entries)
  }

  #array(path: string, depth: number): Json {
    const items: Json[] = []
    this.#offset++
    for (this.#space(); !this.#skip(']'); this.#space()) {
      if (items.length > 0) this.#expect(',', 'A comma is missing here')
      items.push(this.#value(`${path}.${items.length}`, depth + 1))
    }
    return items
  }

  #string(): string {
    const begin = this.#offset
    const token = this.#take(stringToken)
    if (token === undefined) this.#fail('This text has no quote at its end')
    try {
      return JSON.parse(token)
    } catch {
      this.#fail('This text holds something that must be escaped', begin)
    }
  }

  #space() {
    while (/[ \t\n\r]/.test(this.#text[this.#offset] ?? '')) this.#offset++
  }

  #skip(sign: string) {
    if (this.#text[this.#offset] !== sign) return false
    this.#offset++
    return true
  }

  #expect(sign: string, message: string) {
    if (!this.#skip(sign)) this.#fail(this.#offset >= this.#text.length ? 'The text ends too early' : message)
  }

  #take(token: RegExp): string | undefined {
    token.lastIndex = this.#offset
    const [found] = token.exec(this.#text) ?? []
    if (found !== undefined) this.#offset += found.length
    return found
  }

  #fail(message: string, offset = this.#offset): never {
    throw new Wrong(message, offset)
  }
}
