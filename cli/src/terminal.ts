import { styleText } from 'node:util'

type Colour = 'green' | 'red' | 'yellow' | 'dim' | 'bold' | 'cyan'

/** Writes results to stdout and notes to stderr. With --json, stdout contains only JSON, for programs. */
export class Terminal {
  readonly json: boolean
  constructor(json: boolean) {
    this.json = json
  }

  /** The result of the command, as a value and as text. */
  result(value: unknown, text: string) {
    process.stdout.write(`${this.json ? JSON.stringify(value, null, 2) : stripControlCharacters(text)}\n`)
  }

  /** A line of a report that `result` completes. With --json, the result contains all of it. */
  line(text: string) {
    if (!this.json) process.stdout.write(`${stripControlCharacters(text)}\n`)
  }

  /** One of several results. With --json one line each, so that they can be read one by one. */
  event(value: object, text: string) {
    process.stdout.write(`${this.json ? JSON.stringify(value) : stripControlCharacters(text)}\n`)
  }

  /** Progress and errors, for people. */
  note(text: string) {
    process.stderr.write(`${stripControlCharacters(text)}\n`)
  }

  /** Adds colour if stdout is a terminal that supports it (no-color.org). */
  paint(colour: Colour, text: string): string {
    const stream = process.stdout
    const isWanted = stream.isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb' && !this.json
    return isWanted ? styleText(colour, text, { validateStream: false } as object) : text
  }
}

/** Texts come from other people: removes control characters except colours, line feeds and tabs. */
export const stripControlCharacters = (text: string) => text.replace(controlCharacters, '')
const esc = String.fromCharCode(27)
const controlCharacters = new RegExp(`(?!${esc}\\[\\d*m|[\\n\\t])\\p{Cc}`, 'gu')

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) for (const [n, cell] of row.entries()) widths[n] = Math.max(widths[n] ?? 0, cell.length)
  const line = (row: readonly string[]) => row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}
