import { limits } from '@baton/protocol'
import { containing } from '../db/like.ts'
import { type Sql, sql } from '../db/sql.ts'
import { invalid } from '../http/errors.ts'
import { textProblem } from '../http/validate.ts'

/** A value of a row that filters compare. */
export interface Column {
  kind: 'id' | 'text' | 'time' | 'number'
  sql: Sql
  /** The stored id of an id in the filter, or null if it can be none. */
  idOf?: (input: string) => string | Sql
}

/** Another row: `isNull` tells that there is none, `where` puts conditions on it into a condition on this row. */
export interface Relation {
  isNull?: Sql
  columns: Filterable
  where?: (condition: Sql) => Sql
}

export type Filterable = { readonly [name: string]: Column | Relation }

const comparators: Record<Column['kind'], readonly string[]> = {
  id: ['eq', 'neq', 'in', 'nin', 'null'],
  text: ['eq', 'neq', 'in', 'nin', 'null', 'contains', 'containsIgnoreCase', 'eqIgnoreCase'],
  time: ['eq', 'neq', 'in', 'nin', 'null', 'gt', 'gte', 'lt', 'lte'],
  number: ['eq', 'neq', 'in', 'nin', 'null', 'gt', 'gte', 'lt', 'lte'],
}

const maxConditions = 100
const operators = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` }
const all = (conditions: Sql[]) => conditions.reduce((left, right) => sql`${left} and ${right}`, sql`true`)
const any = (conditions: Sql[]) => sql`(${conditions.reduce((left, right) => sql`${left} or ${right}`, sql`false`)})`

/** A condition from a filter of Linear's API. A key that is not supported is refused, so no list is ever unfiltered. */
export function filterSql(filter: unknown, columns: Filterable): Sql {
  let conditions = 0
  const take = (path: string) => {
    if (++conditions > maxConditions) throw invalid({ [path]: `must have at most ${maxConditions} conditions` })
  }

  const ofObject = (value: unknown, known: Filterable, path: string): Sql =>
    all(
      entriesOf(value, path).map(([key, item]) => {
        const at = `${path}.${key}`
        take(path)
        if (key === 'and') return all(listOf(item, at).map((one, index) => ofObject(one, known, `${at}.${index}`)))
        if (key === 'or') return any(listOf(item, at).map((one, index) => ofObject(one, known, `${at}.${index}`)))
        const column = Object.hasOwn(known, key) ? known[key] : undefined
        if (!column) throw invalid({ [at]: 'is not a supported filter' })
        return 'kind' in column ? ofColumn(item, column, at) : ofRelation(item, column, at)
      }),
    )

  const ofRelation = (
    value: unknown,
    { isNull, columns: inner, where = (one) => one }: Relation,
    path: string,
  ): Sql => {
    const { null: absent, ...rest } = Object.fromEntries(entriesOf(value, path))
    const conditions: Sql[] = []
    if (absent !== undefined) {
      if (!isNull || typeof absent !== 'boolean') throw invalid({ [`${path}.null`]: 'is not supported here' })
      conditions.push(absent ? isNull : sql`not ${isNull}`)
    }
    if (Object.keys(rest).length > 0) conditions.push(where(ofObject(rest, inner, path)))
    return all(conditions)
  }

  const ofColumn = (value: unknown, column: Column, path: string): Sql =>
    all(
      entriesOf(value, path).map(([comparator, operand]) => {
        const at = `${path}.${comparator}`
        take(path)
        if (!comparators[column.kind].includes(comparator)) throw invalid({ [at]: 'is not a supported comparator' })
        return compare(column, comparator, operand, at)
      }),
    )

  return ofObject(filter, columns, 'filter')
}

function compare(column: Column, comparator: string, operand: unknown, path: string): Sql {
  const { sql: left } = column
  const one = () => operandOf(column, operand, path)
  switch (comparator) {
    case 'eq':
      return sql`${left} = ${one()}`
    case 'neq':
      return sql`${left} is distinct from ${one()}`
    case 'in':
      return any(listOf(operand, path).map((item) => sql`${left} = ${operandOf(column, item, path)}`))
    case 'nin':
      return all(listOf(operand, path).map((item) => sql`${left} is distinct from ${operandOf(column, item, path)}`))
    case 'null':
      if (typeof operand !== 'boolean') throw invalid({ [path]: 'must be true or false' })
      return operand ? sql`${left} is null` : sql`${left} is not null`
    case 'contains':
      return sql`${left} like ${containing(textOf(operand, path))}`
    case 'containsIgnoreCase':
      return sql`${left} ilike ${containing(textOf(operand, path))}`
    case 'eqIgnoreCase':
      return sql`lower(${left}) = lower(${textOf(operand, path)})`
    default:
      return sql`${left} ${operators[comparator as keyof typeof operators]} ${one()}`
  }
}

function operandOf({ kind, idOf }: Column, operand: unknown, path: string): Sql {
  if (kind === 'number') {
    if (typeof operand !== 'number' || !Number.isSafeInteger(operand))
      throw invalid({ [path]: 'must be a whole number' })
    return sql`${operand}::bigint`
  }
  const text = textOf(operand, path)
  if (kind === 'time') return sql`${timeOf(text, path)}::timestamptz`
  const id = idOf ? idOf(text) : text
  return id instanceof Object ? id : sql`${id}::text`
}

function timeOf(text: string, path: string): Date {
  const time = new Date(text)
  const [first, last] = [Date.UTC(1900, 0, 1), Date.UTC(3000, 0, 1)]
  if (!/^\d{4}-\d\d-\d\d/.test(text) || !(time.getTime() >= first && time.getTime() < last)) {
    throw invalid({ [path]: 'must be an ISO 8601 date or time' })
  }
  return time
}

function textOf(operand: unknown, path: string): string {
  if (typeof operand !== 'string' || operand.length > limits.comment) throw invalid({ [path]: 'must be text' })
  const problem = textProblem(operand)
  if (problem) throw invalid({ [path]: problem })
  return operand
}

function entriesOf(value: unknown, path: string): [string, unknown][] {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw invalid({ [path]: 'must be an object' })
  return Object.entries(value)
}

function listOf(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value)) throw invalid({ [path]: 'must be a list' })
  if (value.length > limits.linearPageMax) throw invalid({ [path]: `must have at most ${limits.linearPageMax} items` })
  return value
}
