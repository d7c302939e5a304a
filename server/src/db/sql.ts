import { createHash } from 'node:crypto'

/** A statement and its values. Values are always sent as parameters, never in the text. */
export class Sql {
  readonly text: string
  readonly values: readonly unknown[]
  constructor(text: string, values: readonly unknown[]) {
    this.text = text
    this.values = values
  }
}

/** sql`select … where id = ${id}`; a fragment made with `sql` may be used as a value of another. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  let text = strings[0] as string
  const flat: unknown[] = []
  values.forEach((value, index) => {
    if (value instanceof Sql) {
      text += renumbered(value, flat.length)
      flat.push(...value.values)
    } else {
      if (value === undefined) throw new Error(`undefined value in statement: ${text}`)
      text += `$${flat.push(value)}`
    }
    text += strings[index + 1]
  })
  return new Sql(text, flat)
}

const renumbered = ({ text, values }: Sql, before: number) =>
  values.length === 0 || before === 0 ? text : text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + before}`)

export const none = sql``

/** A value for a jsonb parameter: drivers would send a JavaScript array as a PostgreSQL array. */
export const json = (value: unknown) => sql`${JSON.stringify(value)}::jsonb`

/** Inserts rows by column name, so that a column added by a newer version gets its default. */
export const insertRows = (table: Sql, columns: Sql, rows: readonly object[]) => sql`
  insert into ${table} as t (${columns})
  select ${columns} from jsonb_populate_recordset(null::${table}, ${json(rows)})`

/**
 * Prefix of a statement whose commit may be lost if the database crashes right after it; the statement must select from
 * `undurable`. It has no effect on the embedded database.
 */
export const undurably = sql`with undurable as materialized (select set_config('synchronous_commit', 'off', true))`

const names = new Map<string, string>()
const namesKept = 2000

/** The name under which PostgreSQL keeps a statement prepared; undefined when there are too many to keep. */
export function statementName(text: string): string | undefined {
  let name = names.get(text)
  if (!name && names.size < namesKept) {
    name = `b_${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`
    names.set(text, name)
  }
  return name
}

/** timestamptz as the API shows it: ISO 8601, UTC, three fractional digits. */
export const isoTimestamp = (text: string) => new Date(text).toISOString()
