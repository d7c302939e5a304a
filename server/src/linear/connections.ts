import { limits } from '@baton/protocol'
import { none, type Sql, sql } from '../db/sql.ts'
import { type App, grants } from '../http/caller.ts'
import { invalid } from '../http/errors.ts'
import { type Filterable, filterSql } from './filters.ts'
import type { Loaders } from './loaders.ts'
import { type Args, type Field, type ObjectType, object, type Run, value } from './type.ts'

/** Where the items of a list come from. */
export interface Source<Item> {
  from: Sql
  id: Sql
  /** Null for a list that `orderBy: updatedAt` does not change. */
  updatedAt: Sql | null
  visibleTo: (caller: App) => Sql
  /** Also without the scope `read`, as the operations on agent sessions. */
  anyScope?: true
  filters: (caller: App) => Filterable
  load: (load: Loaders) => (ids: string[]) => Promise<Map<string, Item>>
}

/** The items of one parent. */
export interface Page {
  items: unknown[]
  hasNextPage: boolean
  hasPreviousPage: boolean
  cursors: string[]
}

const emptyPage: Page = { items: [], hasNextPage: false, hasPreviousPage: false, cursors: [] }

export const pagingArgs = ['first', 'after', 'last', 'before', 'filter', 'orderBy'] as const

interface Paging {
  size: number
  /** From the end of the list. */
  backwards: boolean
  cursor: [string, string] | null
  orderBy: 'createdAt' | 'updatedAt'
  filter: unknown
}

/** Checks the arguments before anything runs. The filter is checked against the columns too. */
export const preparePaging =
  (source: Pick<Source<unknown>, 'filters'> | null) =>
  (args: Args): Args => {
    const { first, after, last, before, filter, orderBy = 'createdAt', ...more } = args
    if (first !== undefined && last !== undefined) throw invalid({ last: 'cannot be sent together with first' })
    if (after !== undefined && before !== undefined) throw invalid({ before: 'cannot be sent together with after' })
    const backwards = last !== undefined || before !== undefined
    const size = sizeOf(backwards ? 'last' : 'first', (backwards ? (last ?? first) : first) ?? limits.pageDefault)
    if (orderBy !== 'createdAt' && orderBy !== 'updatedAt') throw invalid({ orderBy: 'must be createdAt or updatedAt' })
    if (filter !== undefined) {
      if (!source) throw invalid({ filter: 'is not supported here' })
      // Which filters exist does not depend on the caller.
      filterSql(filter, source.filters(everything))
    }
    const [name, text] = after !== undefined ? ['after', after] : ['before', before]
    const cursor = text === undefined ? null : openCursor(name as string, text)
    return { ...more, paging: { size, backwards, cursor, orderBy, filter } satisfies Paging }
  }

const everything = { workspaceId: '', allTeams: true, teamIds: [] as string[] } as unknown as App

function sizeOf(name: string, size: unknown): number {
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 1 || size > limits.linearPageMax) {
    throw invalid({ [name]: `must be a whole number from 1 to ${limits.linearPageMax}` })
  }
  return size
}

const sealCursor = (position: [string, string]) => Buffer.from(JSON.stringify(position)).toString('base64url')

function openCursor(name: string, text: unknown): [string, string] {
  const problem = invalid({ [name]: 'is not a cursor of this list' })
  if (typeof text !== 'string' || text.length > 200) throw problem
  try {
    const [time, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
    const isPosition = typeof time === 'string' && (time === '' || isTime(time))
    if (isPosition && typeof id === 'string' && /^[\w-]{1,60}$/.test(id)) return [time, id]
  } catch {
    // Not JSON.
  }
  throw problem
}

/** As `sealCursor` writes it; the database refuses other texts, such as the 30th of February. */
const isTime = (text: string) => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text

/** The pages of all parents in two statements: one finds the ids, one reads the items. */
export async function readPages<Item>(
  { ctx, caller, load }: Run,
  source: Source<Item>,
  keys: string[],
  /** Condition on the row for the parent `parent.key`. */
  link: Sql,
  { paging }: Args,
): Promise<Page[]> {
  if (!source.anyScope && !grants(caller.scopes, 'read')) return keys.map(() => emptyPage)
  const { size, backwards, cursor, orderBy, filter } = paging as Paging
  const byTime = orderBy === 'updatedAt' ? source.updatedAt : null
  // Ids sort by creation.
  const position = byTime ? sql`(${byTime}, ${source.id})` : sql`(${source.id})`
  const from =
    cursor && (byTime ? sql`(${cursor[0] || 'epoch'}::timestamptz, ${cursor[1]}::text)` : sql`(${cursor[1]}::text)`)
  const beyond = from ? sql`and ${position} ${backwards ? sql`>` : sql`<`} ${from}` : none
  const direction = backwards ? sql`asc` : sql`desc`
  const order = byTime ? sql`${byTime} ${direction}, ${source.id} ${direction}` : sql`${source.id} ${direction}`
  const rows = await ctx.db.rows<{ key: string; id: string; time: string | null }>(sql`
    select parent.key, x.id, x.time from unnest(${[...new Set(keys)]}::text[]) as parent (key), lateral (
      select ${source.id} as id, ${byTime ?? sql`null::timestamptz`} as time from ${source.from}
      where ${link} and ${source.visibleTo(caller)} and ${filter === undefined ? sql`true` : filterSql(filter, source.filters(caller))}
        ${beyond}
      order by ${order} limit ${size + 1}) x`)
  const byKey = new Map<string, typeof rows>(keys.map((key) => [key, []]))
  for (const row of rows) byKey.get(row.key)?.push(row)
  const items = await source.load(load)([...new Set(rows.map(({ id }) => id))])
  return keys.map((key) => {
    const found = byKey.get(key) ?? []
    const kept = found.slice(0, size).filter(({ id }) => items.has(id))
    if (backwards) kept.reverse()
    const more = found.length > size
    return {
      items: kept.map(({ id }) => items.get(id)),
      cursors: kept.map(({ id, time }) => sealCursor([time ?? '', id])),
      hasNextPage: backwards ? cursor !== null : more,
      hasPreviousPage: backwards ? more : cursor !== null,
    }
  })
}

/** A list that is in memory, newest first, with a page of it. */
export function pageOf(items: { id: string }[], { paging }: Args): Page {
  const { size, backwards, cursor } = paging as Paging
  const at = cursor ? items.findIndex(({ id }) => id === cursor[1]) : -1
  const rest = cursor ? (backwards ? items.slice(0, Math.max(0, at)) : items.slice(at + 1)) : items
  const kept = backwards ? rest.slice(-size) : rest.slice(0, size)
  const more = rest.length > kept.length
  return {
    items: kept,
    cursors: kept.map(({ id }) => sealCursor(['', id])),
    hasNextPage: backwards ? cursor !== null : more,
    hasPreviousPage: backwards ? more : cursor !== null,
  }
}

const pageInfo: ObjectType = {
  name: 'PageInfo',
  fields: {
    hasNextPage: value(({ hasNextPage }: Page) => hasNextPage),
    hasPreviousPage: value(({ hasPreviousPage }: Page) => hasPreviousPage),
    startCursor: value(({ cursors }: Page) => cursors[0] ?? null),
    endCursor: value(({ cursors }: Page) => cursors.at(-1) ?? null),
  },
}

interface Edge {
  node: unknown
  cursor: string
}

/** The type of a list of `type`. */
export function connectionOf(type: () => ObjectType, name = `${type().name}Connection`): ObjectType {
  const edge: ObjectType = {
    name: `${type().name}Edge`,
    fields: { node: object(type, ({ node }: Edge) => node), cursor: value(({ cursor }: Edge) => cursor) },
  }
  return {
    name,
    fields: {
      nodes: object(type, ({ items }: Page) => items),
      edges: object(
        () => edge,
        ({ items, cursors }: Page) => items.map((node, index): Edge => ({ node, cursor: cursors[index] as string })),
      ),
      pageInfo: object(
        () => pageInfo,
        // A copy, so that the page info is an object of its own.
        (page: Page) => ({ ...page }),
      ),
    },
  }
}

export const pageSize = ({ paging }: Args) => (paging as Paging).size

/** A list below an object: the rows of `source` that `link` connects with `parent.key`, the key of each parent. */
export const nested = <Parent, Item>(
  connection: () => ObjectType,
  source: () => Source<Item>,
  link: Sql,
  keyOf: (parent: Parent) => string,
): Field<Parent> => ({
  type: connection,
  args: pagingArgs,
  statements: 2,
  prepare: (args) => preparePaging(source())(args),
  pageSize,
  resolve: (parents, args, run) => readPages(run, source(), parents.map(keyOf), link, args),
})

/** A list below an object that is computed without a statement of its own. */
export const inMemory = <Parent>(
  connection: () => ObjectType,
  itemsOf: (parents: Parent[], run: Run) => Promise<{ id: string }[][]>,
  statements = 1,
): Field<Parent> => ({
  type: connection,
  args: pagingArgs,
  statements,
  prepare: preparePaging(null),
  pageSize,
  resolve: async (parents, args, run) => (await itemsOf(parents, run)).map((items) => pageOf(items, args)),
})
