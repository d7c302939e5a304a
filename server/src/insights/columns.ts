import { Sql } from '../db/sql.ts'

/** Lists of columns for a statement that writes a row, or leaves it if it stays the same; `t` is the stored row. */
export const columnLists = (names: readonly string[]) => {
  const list = (prefix: string) => new Sql(names.map((name) => prefix + name).join(', '), [])
  return { plain: list(''), current: list('t.'), excluded: list('excluded.') }
}

/** The sums of columns over many rows, under their names. */
export const summed = (names: readonly string[]) =>
  new Sql(names.map((name) => `sum(${name})::int as ${name}`).join(', '), [])

/** The sum of an array of `length` counts over many rows, element by element; nulls count as zeros. */
export const summedBuckets = (name: string, length: number) =>
  new Sql(
    `array[${Array.from({ length }, (_, index) => `coalesce(sum(${name}[${index + 1}]), 0)`).join(', ')}]::int[]`,
    [],
  )
