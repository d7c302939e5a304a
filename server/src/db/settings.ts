import type { Queryable } from './database.ts'
import { sql } from './sql.ts'

export const readSetting = async (db: Queryable, name: string) =>
  (await db.row<{ value: string }>(sql`select value from settings where name = ${name}`))?.value

/** False if the setting exists already; its value is then unchanged. */
export const insertSetting = async (db: Queryable, name: string, value: string) =>
  (await db.run(sql`insert into settings (name, value) values (${name}, ${value}) on conflict do nothing`)) > 0

export const updateSetting = (db: Queryable, name: string, value: string) =>
  db.run(sql`update settings set value = ${value} where name = ${name}`)

/** False if the setting does not have this value. */
export const deleteSetting = async (db: Queryable, name: string, value: string) =>
  (await db.run(sql`delete from settings where name = ${name} and value = ${value}`)) > 0

/** Whatever its value is. */
export const dropSetting = (db: Queryable, name: string) => db.run(sql`delete from settings where name = ${name}`)

/** False if the setting does not have the value `before`. */
export const replaceSetting = async (db: Queryable, name: string, before: string, after: string) =>
  (await db.run(sql`update settings set value = ${after} where name = ${name} and value = ${before}`)) > 0
