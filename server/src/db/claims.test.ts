import { expect } from 'vitest'
import { test } from '../../test/harness.ts'
import { releaseClaims } from './claims.ts'
import { Sql, sql } from './sql.ts'

test('every column by which a process holds work is released', async ({ startApp }) => {
  const { db } = (await startApp()).ctx
  const columns = await db.rows<{ table: string; column: string }>(sql`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and data_type = 'text' and column_name in ('claim_id', 'claim', 'owner', 'wanted_by')
      and table_name not like 'deliveries\\_%' order by 1, 2`)
  expect(columns.length).toBeGreaterThan(9)
  // Constraints are of no interest here, only which columns the statements name.
  await db
    .tx(async (tx) => {
      await tx.script('set local session_replication_role = replica')
      for (const { table, column } of columns) {
        const required = await tx.rows<{ name: string; type: string }>(sql`
        select column_name as name, udt_name as type from information_schema.columns
        where table_schema = 'public' and table_name = ${table} and is_nullable = 'NO' and column_default is null
          and is_identity = 'NO' and is_generated = 'NEVER'`)
        const values = required.map(({ type }) => samples[type] ?? `'${column}'`)
        const names = [...required.map(({ name }) => `"${name}"`), `"${column}"`]
        await tx.run(new Sql(`insert into ${table} (${names}) values (${[...values, `'held'`]})`, []))
      }
      await releaseClaims(tx)
      for (const { table, column } of columns) {
        const held = await tx.rows(new Sql(`select from ${table} where "${column}" is not null`, []))
        expect({ table, column, held: held.length }).toEqual({ table, column, held: 0 })
      }
      throw new Undo()
    })
    .catch((error) => {
      if (!(error instanceof Undo)) throw error
    })
})

class Undo extends Error {}

const samples: Record<string, string> = {
  timestamptz: 'now()',
  int4: '1',
  int8: '1',
  bool: 'false',
  jsonb: `'{}'`,
  bytea: `'\\x00'`,
  _text: `'{}'`,
  uuid: 'gen_random_uuid()',
  date: 'current_date',
}
