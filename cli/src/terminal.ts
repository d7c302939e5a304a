import { styleText } from 'node:util'

type Colour = 'green' | 'red' | 'yellow' | 'dim' | 'bold' | 'cyan'

/**
 * Where words go. Results go to stdout and remarks to stderr; with --json, stdout holds JSON and nothing else, so
 * that a program can read it.
 */
export class Terminal {
  readonly json: boolean
  constructor(json: boolean) {
    this.json = json
  }

  /** What the command was for, as a value and in words. */
  result(value: unknown, words: string) {
    process.stdout.write(`${this.json ? JSON.stringify(value, null, 2) : harmless(words)}\n`)
  }

  /** One of many: with --json one line each, so that it can be read while more come. */
  event(value: object, words: string) {
    process.stdout.write(`${this.json ? JSON.stringify(value) : harmless(words)}\n`)
  }

  /** What goes on, for people. */
  note(words: string) {
    process.stderr.write(`${harmless(words)}\n`)
  }

  /** In colour where somebody looks and wants it (no-color.org). */
  paint(colour: Colour, words: string): string {
    const stream = process.stdout
    const wanted = stream.isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb' && !this.json
    return wanted ? styleText(colour, words, { validateStream: false } as object) : words
  }
}

/** Names and texts are other people's: of what moves a terminal, only colours pass. */
export const harmless = (words: string) => words.replace(moving, '')
const esc = String.fromCharCode(27)
const moving = new RegExp(`(?!${esc}\\[\\d*m|[\\n\\t])\\p{Cc}`, 'gu')

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) for (const [n, cell] of row.entries()) widths[n] = Math.max(widths[n] ?? 0, cell.length)
  const line = (row: readonly string[]) => row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}
