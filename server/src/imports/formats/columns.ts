import type { SourceProblem } from '../record.ts'

/** Finds cells by the name of their column, ignoring case. A name may occur in several columns. */
export class Columns {
  readonly names: string[]
  readonly #positions = new Map<string, number[]>()

  constructor(header: string[]) {
    this.names = header.map((name) => name.trim())
    for (const [index, name] of this.names.entries()) {
      const key = name.toLowerCase()
      this.#positions.set(key, [...(this.#positions.get(key) ?? []), index])
    }
  }

  has(name: string): boolean {
    return this.#positions.has(name.toLowerCase())
  }

  positions(name: string): readonly number[] {
    return this.#positions.get(name.toLowerCase()) ?? []
  }

  /** The first value in columns of these names; null if all are empty. */
  one(cells: string[], ...names: string[]): string | null {
    return this.all(cells, ...names)[0] ?? null
  }

  /** All values in columns of these names, without empty ones. */
  all(cells: string[], ...names: string[]): string[] {
    // Without callbacks: it runs for every cell of an import.
    const values: string[] = []
    for (const name of names) {
      for (const index of this.positions(name)) {
        const value = filled(cells[index])
        if (value !== null) values.push(value)
      }
    }
    return values
  }

  /** Values beyond the last column: usually a comma that was not quoted, so the row's other cells may be shifted. */
  surplus(row: number, cells: string[]): SourceProblem[] {
    const extra = cells.slice(this.names.length).filter((cell) => cell !== '')
    if (extra.length === 0) return []
    const message = `has ${cells.length} cells, but the header has ${this.names.length}; the last ones were not read`
    return [{ kind: 'problem', row, field: null, value: excerpt(extra.join(', ')), message }]
  }
}

export const filled = (cell: string | undefined): string | null => cell?.trim() || null

/** Of a value that a problem shows. */
export const excerpt = (text: string) => (text.length > 100 ? `${text.slice(0, 99)}…` : text)

/** Linear and Baton write `'` before text that a spreadsheet would run as a formula. */
export const withoutFormulaQuote = (cell: string) => (/^'[=+\-@]/.test(cell) ? cell.slice(1) : cell)

export const list = (text: string | null, separator: RegExp = /,/) =>
  (text ?? '').split(separator).flatMap((part) => filled(part) ?? [])

/** Remembers which records were produced, up to a limit: then some are repeated, and memory stays small. */
export class Produced {
  #seen = new Set<string>()
  #characters = 0

  /** True the first time. */
  isNew(kind: string, id: string): boolean {
    const key = `${kind} ${id}`
    if (this.#seen.has(key)) return false
    this.#characters += key.length
    if (this.#characters > 1024 * 1024) {
      this.#seen = new Set()
      this.#characters = key.length
    }
    this.#seen.add(key)
    return true
  }
}
