import { createHmac } from 'node:crypto'
import { crockford } from '../ids.ts'
import type { Row, Table, TableName } from './columns.ts'
import { tableOfPrefix } from './contents.ts'
import type { IdList } from './id-list.ts'

/** The first characters of an id contain its time and the order of ids of the same time: lists keep their order. */
const keptCharacters = 20
const idInText = new RegExp(`\\b(wsp|${[...tableOfPrefix.keys()].join('|')})_[0-9a-hjkmnp-tv-z]{26}\\b`, 'g')

/**
 * The ids of restored rows: those of the archive, or new ones that follow from them and `salt`, so that no table of
 * pairs has to be kept. Ids that are not of the archive stay as they are.
 */
export class IdMapping {
  readonly #ids: ReadonlyMap<TableName, IdList>
  readonly #fixed: ReadonlyMap<string, string>
  readonly #workspaceId: string
  readonly #salt: Buffer | null

  constructor(
    ids: ReadonlyMap<TableName, IdList>,
    workspaceId: string,
    /** Users of the archive who are users here already. */
    fixed: ReadonlyMap<string, string>,
    salt: Buffer | null,
  ) {
    this.#ids = ids
    this.#workspaceId = workspaceId
    this.#fixed = fixed
    this.#salt = salt
  }

  of(id: string): string {
    const fixed = this.#fixed.get(id)
    if (fixed) return fixed
    if (!this.#salt || !this.#contains(id)) return id
    const start = id.indexOf('_') + 1
    const suffix = id.slice(start)
    const hash = createHmac('sha256', this.#salt).update(suffix).digest()
    let end = ''
    for (let at = keptCharacters; at < suffix.length; at++) end += crockford[(hash[at - keptCharacters] as number) & 31]
    return id.slice(0, start + keptCharacters) + end
  }

  row({ columns }: Table, row: Row): Row {
    const mapped: Row = {}
    for (const [name, column] of Object.entries(columns)) {
      const value = row[name]
      const isId = column.ref !== undefined || name === 'id' || name === 'merged_label_ids'
      mapped[name] = isId || column.prose ? this.#inValue(value) : value
    }
    return mapped
  }

  text(text: string): string {
    return text.replace(idInText, (id) => this.of(id))
  }

  #inValue(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.#inValue(item))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#inValue(item)]))
  }

  #contains(id: string): boolean {
    if (id === this.#workspaceId) return true
    const table = tableOfPrefix.get(id.slice(0, id.indexOf('_')))
    return table !== undefined && (this.#ids.get(table)?.has(id) ?? false)
  }
}
