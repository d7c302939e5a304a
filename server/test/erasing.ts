import type { Db } from '../src/db/database.ts'
import { Sql, sql } from '../src/db/sql.ts'
import type { TestApp } from './harness.ts'

/** The rows of each table that contain one of the texts in any form. */
export async function rowsWith(db: Db, texts: readonly string[]): Promise<Record<string, string[]>> {
  const tables = await db.rows<{ name: string }>(sql`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`)
  const found: Record<string, string[]> = {}
  for (const { name } of tables) {
    // The name comes from the catalogue, so it is safe in the text.
    const rows = await db.rows<{ row: string }>(sql`select to_jsonb(t)::text as row from ${new Sql(name, [])} t`)
    const matching = rows
      .map(({ row }) => row)
      // Texts inside JSON inside a text are escaped twice.
      .filter((row) =>
        texts.some((text) => [text, escaped(text), escaped(escaped(text))].some((form) => row.includes(form))),
      )
    if (matching.length > 0) found[name] = matching
  }
  return found
}

const escaped = (text: string) => JSON.stringify(text).slice(1, -1)

export const addPasskey = ({ ctx, clock }: TestApp, userId: string) =>
  ctx.db.run(sql`
    insert into passkeys (id, user_id, name, credential_id, public_key, counter, transports, created_at)
    values (${`psk_${userId}`}, ${userId}, 'Laptop', ${userId}, 'key', 0, '{}', ${clock.now()})`)
