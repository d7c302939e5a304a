import { readFileSync } from 'node:fs'
import { inject } from 'vitest'
import { Db, type Driver } from '../src/db/database.ts'
import { openEmbedded } from '../src/db/embedded.ts'
import { connectPostgres } from '../src/db/postgres.ts'
import { Sql, sql } from '../src/db/sql.ts'
import { copyInPostgres, withDatabase } from './postgres.ts'

/** An empty, migrated database. */
export async function openTestDatabase(): Promise<Db> {
  return new Db(lend((await emptied()) ?? (await copied(inject('template')))))
}

/** Further connections to a database, as a second process has. The embedded one is shared instead. */
export async function openSameDatabase(db: Db): Promise<Db> {
  const url = process.env.DATABASE_URL
  if (!url) throw new Error('only PostgreSQL serves several processes')
  const used = await db.row<{ name: string }>(sql`select current_database() as name`)
  return new Db(connectPostgres(withDatabase(url, used?.name ?? ''), () => {}))
}

// Emptying a used database is much faster than copying the template, and its statements stay prepared.
const maxKept = 3
const kept: Driver[] = []
let dump: Blob | undefined
let templateShape: string

async function copied(template: string): Promise<Driver> {
  const driver = await (process.env.DATABASE_URL ? copiedInPostgres(template) : copiedInMemory(template))
  templateShape ??= await shapeOf(driver)
  return driver
}

function copiedInMemory(template: string): Promise<Driver> {
  dump ??= new Blob([readFileSync(template)])
  return openEmbedded({ loadDataDir: dump })
}

async function copiedInPostgres(template: string): Promise<Driver> {
  const url = process.env.DATABASE_URL as string
  return connectPostgres(withDatabase(url, await copyInPostgres(url, template)), () => {})
}

/** A returned database, emptied; not one in which a test changed definitions. */
async function emptied(): Promise<Driver | undefined> {
  for (let driver = kept.pop(); driver; driver = kept.pop()) {
    if ((await shapeOf(driver)) === templateShape) {
      await driver.query(emptyTables)
      // Not `discard all`: statements stay prepared.
      for (const rest of [sql`reset all`, sql`discard temp`, sql`discard sequences`]) await driver.query(rest)
      return driver
    }
    await driver.close()
  }
  return undefined
}

/** Returns the database to the pool when it is closed, unless statements are still running in it. */
function lend(driver: Driver): Driver {
  let running = 0
  let closed = false
  const during = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closed) throw new Error('the database is closed')
    running++
    try {
      return await work()
    } finally {
      running--
      if (closed && running === 0) await driver.close()
    }
  }
  return {
    ...driver,
    query: (statement) => during(() => driver.query(statement)),
    transaction: (work) => during(() => driver.transaction(work)),
    close: async () => {
      const ends = !closed && running === 0
      closed = true
      if (!ends) return
      if (kept.length < maxKept) kept.push(driver)
      else await driver.close()
    },
  }
}

/** Changes when any definition changes; truncating a table does not change it. */
async function shapeOf(driver: Driver): Promise<string> {
  const written = ['attribute', 'attrdef', 'constraint', 'index', 'namespace', 'proc', 'trigger', 'type'].map(
    (name) => `select '${name}', concat(count(*), ' up to ', max(xmin::text::bigint)) from pg_${name}`,
  )
  return JSON.stringify((await driver.query(new Sql(written.join(' union all '), []))).rows)
}

/** `delete` is ten times as fast as `truncate`, which creates the files of each table anew, unless there are many rows. */
const emptyTables = sql`
  do $$
  declare
    name text;
    bytes bigint;
    has_rows boolean;
    large text;
  begin
    -- Without foreign keys: every table will be empty.
    perform set_config('session_replication_role', 'replica', true);
    for name, bytes in
      select relname, pg_relation_size(oid) from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migrations'
    loop
      execute format('select exists (select from %I)', name) into has_rows;
      if bytes > 1000000 then large := concat_ws(', ', large, quote_ident(name));
      elsif has_rows then execute format('delete from %I', name);
      end if;
    end loop;
    if large is not null then execute 'truncate ' || large || ' cascade'; end if;
  end $$`
