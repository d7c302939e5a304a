import { expect, onTestFinished, test } from 'vitest'
import { openTestDatabase } from '../../test/database.ts'
import { Sql, sql } from './sql.ts'
import { vacuumEmbedded } from './vacuum.ts'

// PostgreSQL does it by itself.
test.skipIf(process.env.DATABASE_URL)('what was deleted from the embedded database leaves room for more', async () => {
  const db = await openTestDatabase()
  onTestFinished(() => db.close())
  for (const name of ['full', 'calm']) await db.run(new Sql(`create table "${name}" (id int)`, []))
  const fill = () => db.run(sql`insert into "full" select n from generate_series(1, 5000) n`)
  const sizes = () =>
    db.row<{ full: number; calm: number }>(sql`
      select pg_relation_size('"full"') as "full", pg_relation_size('calm') as calm`)
  const counted = async () =>
    (
      await db.rows<{ name: string }>(sql`
        select relname as name from pg_stat_user_tables where relname in ('full', 'calm') and last_vacuum is not null`)
    ).map(({ name }) => name)

  await fill()
  await db.run(sql`insert into calm select n from generate_series(1, 50) n`)
  await vacuumEmbedded(db)
  expect(await counted()).toEqual(['full'])
  const before = await sizes()
  for (let times = 1; times <= 3; times++) {
    await db.run(sql`delete from "full"`)
    await vacuumEmbedded(db)
    await fill()
  }
  expect(await sizes()).toEqual(before)

  await db.run(sql`insert into calm select n from generate_series(1, 15) n`)
  await vacuumEmbedded(db)
  expect(await counted()).toEqual(['full', 'calm'])
})
