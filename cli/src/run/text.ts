import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'

/** The latest characters, with a mark where something was left out. */
export const lastCharacters = (text: string, most: number) => {
  const characters = [...text.slice(-2 * most)]
  return characters.length <= most && text.length <= 2 * most ? text : `…${characters.slice(1 - most).join('')}`
}

export const firstCharacters = (text: string, most: number) => {
  const characters = [...text.slice(0, 2 * most)]
  return characters.length <= most && text.length <= 2 * most ? text : `${characters.slice(0, most - 1).join('')}…`
}

/** The beginning and the end, with the number of characters left out between them. */
export function withoutMiddle(text: string, most: number): string {
  const characters = [...text]
  if (characters.length <= most) return text
  const half = Math.floor((most - 40) / 2)
  const left = characters.length - 2 * half
  return `${characters.slice(0, half).join('')}\n… ${left} characters left out …\n${characters.slice(-half).join('')}`
}

/** Without codes for terminals and other control characters, which the service refuses or a reader cannot see. */
export const plainText = (text: string) =>
  stripVTControlCharacters(text)
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\n\t])\p{Cc}/gu, '')
    .replace(/\p{Surrogate}/gu, '\ufffd')

const hidden = /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115F\u1160\u3164\uFFA0]|[\u{E0100}-\u{E01EF}]/gu

/** With the names of characters that cannot be seen, or that change the order of others, in their place. */
export const visibleText = (text: string) =>
  text.replace(
    hidden,
    (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
  )

export const longestLine = 20_000

/** Calls `line` for each line of a stream; the rest of a longer one is left out. */
export function eachLine(stream: Readable, line: (text: string) => void) {
  let begun = ''
  const add = (part: string) => {
    begun += part.slice(0, longestLine - begun.length)
  }
  stream.setEncoding('utf8')
  stream.on('error', () => {})
  stream.on('data', (text: string) => {
    const [rest = '', ...lines] = text.split('\n')
    add(rest)
    for (const next of lines) {
      line(begun.replace(/\r$/, ''))
      begun = ''
      add(next)
    }
  })
  stream.on('end', () => {
    if (begun !== '') line(begun)
  })
}

/** A block of code that the text cannot end. */
export function codeBlock(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

/** Splits a line of a command into arguments, as a shell does for quotes and backslashes, without a shell. */
export function splitCommand(line: string): string[] {
  const words: string[] = []
  let word: string | null = null
  let quote = ''
  for (let n = 0; n < line.length; n++) {
    const character = line[n] as string
    if (quote) {
      if (character === quote) quote = ''
      else if (character === '\\' && quote === '"' && /["\\]/.test(line[n + 1] ?? '')) word += line[++n] as string
      else word += character
    } else if (character === '"' || character === "'") {
      quote = character
      word ??= ''
    } else if (character === '\\' && n + 1 < line.length && process.platform !== 'win32') {
      word = (word ?? '') + line[++n]
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + character
  }
  if (word !== null) words.push(word)
  return words
}

/** Lines added and removed between two texts. */
export function countLines(before: string, after: string): { added: number; removed: number } {
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const [a, b] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  // Comparing long lines again and again would take too long.
  const numbers = new Map<string, number>()
  const numbered = (lines: string[]) =>
    lines.map((line) => {
      const number = numbers.get(line) ?? numbers.size
      numbers.set(line, number)
      return number
    })
  // The table below would be too large; then every line between the first and the last change counts as changed.
  const common = a.length * b.length > 4_000_000 ? 0 : longestCommon(numbered(a), numbered(b))
  return { added: b.length - common, removed: a.length - common }
}

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

function longestCommon(a: number[], b: number[]): number {
  let previous = new Uint32Array(b.length + 1)
  for (const line of a) {
    const row = new Uint32Array(b.length + 1)
    for (let n = 0; n < b.length; n++) {
      row[n + 1] = line === b[n] ? (previous[n] ?? 0) + 1 : Math.max(previous[n + 1] ?? 0, row[n] ?? 0)
    }
    previous = row
  }
  return previous[b.length] ?? 0
}
