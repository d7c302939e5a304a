import { limits } from '@baton/protocol'
import type { Keyring } from '../crypto.ts'
import { sameBytes } from '../crypto.ts'
import { Sql, sql } from '../db/sql.ts'
import { invalid } from './errors.ts'

const macBytes = 9

/** Where the next page begins: the sort key of the last row returned, in the order of the list's ORDER BY. */
export type Position = readonly string[]

export interface PageQuery {
  cursor?: string
  limit?: number
}

/**
 * A page of a list. `read` gets the position to continue after and the number of rows to fetch: one more than the page
 * has, which shows whether another page follows. `list` is part of the cursor's MAC, so that it fits no other list.
 */
export async function page<Row>(
  keys: Keyring,
  list: string,
  { cursor, limit = limits.pageDefault }: PageQuery,
  positionOf: (row: Row) => Position,
  read: (after: Position | null, count: number) => Promise<Row[]>,
) {
  const rows = await read(cursor === undefined ? null : openCursor(keys, list, cursor), limit + 1)
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  return { data, next_cursor: rows.length > limit && last ? sealCursor(keys, list, positionOf(last)) : null }
}

/**
 * A LIMIT for lists whose plan does not depend on the values, such as the children of one row in the order of an index.
 * If LIMIT is a parameter, PostgreSQL expects to return a tenth of the list and plans it again for each page, which
 * takes as long as reading it. Only the default has a statement of its own, so that there are few to keep prepared.
 */
export const limitTo = (count: number) => (count === defaultCount ? defaultLimit : sql`limit ${count}`)
const defaultCount = limits.pageDefault + 1
const defaultLimit = new Sql(`limit ${defaultCount}`, [])

function sealCursor(keys: Keyring, list: string, position: Position) {
  const text = JSON.stringify(position)
  return Buffer.concat([cursorMac(keys, list, text), Buffer.from(text)]).toString('base64url')
}

function openCursor(keys: Keyring, list: string, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url')
  const text = bytes.subarray(macBytes).toString()
  // Decoding is lenient: without this check a changed cursor could pass.
  const isOurs = bytes.toString('base64url') === cursor
  if (!isOurs || !sameBytes(bytes.subarray(0, macBytes), cursorMac(keys, list, text))) {
    throw invalid({ cursor: 'is not a cursor of this list; start again without it' })
  }
  return JSON.parse(text)
}

const cursorMac = (keys: Keyring, list: string, text: string) => keys.mac(`cursor ${list}`, text).subarray(0, macBytes)
