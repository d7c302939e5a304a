import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { DataDir } from '../src/db/data-dir.ts'
import { Db } from '../src/db/database.ts'
import { migrationNames } from '../src/db/migrate.ts'
import { connectPostgres } from '../src/db/postgres.ts'
import { sql } from '../src/db/sql.ts'
import { commands } from '../src/operate/commands.ts'
import { ownDatabase, withEmptyDatabase } from './empty-databases.ts'
import { test, verifies, verifiesOnPostgres } from './harness.ts'
import { operate } from './operate.ts'
import { ServiceProcess } from './service-process.ts'

type Env = Record<string, string>

/** Settings of an installation with a migrated database, which does not run. */
async function withEnv(work: (env: Env) => Promise<void>) {
  const { env, remove } = await ownDatabase()
  await work(env)
  await remove()
}

async function inDatabase<T>(env: Env, work: (db: Db) => Promise<T>): Promise<T> {
  if (env.DATABASE_URL) {
    const db = new Db(connectPostgres(env.DATABASE_URL, () => {}))
    return work(db).finally(() => db.close())
  }
  const dir = await DataDir.open(env.BATON_DATA_DIR as string)
  const db = await dir.openDatabase(
    () => {},
    (error) => {
      throw error
    },
  )
  return work(db).finally(async () => {
    await db.close()
    dir.close()
  })
}

const createOwner = (name: string) => [
  'create-owner',
  '--email',
  `${name}@example.com`,
  '--name',
  name,
  '--workspace',
  'Acme',
]

const dump = async (db: Db) => [
  await db.rows(sql`select * from users order by id`),
  await db.rows(sql`select * from workspaces order by id`),
  await db.rows(sql`select name from migrations order by name`),
]

test('commands that write refuse a database with other migrations', {
  ...verifies('admin.migrations-differ'),
  timeout: 300_000,
}, async () => {
  // These only read, and say what is wrong; all others are refused before they run.
  const unchecked = commands.filter((command) => command.needs === 'database' && command.unchecked)
  expect(unchecked.map(({ name }) => name).sort()).toEqual(['doctor', 'status'])
  await withEnv(async (env) => {
    expect((await operate(createOwner('ann'), env)).code).toBe(0)
    const last = migrationNames().at(-1) as string
    for (const [change, problem, named, refused, read] of [
      [
        sql`delete from migrations where name = ${last}`,
        'lacks migrations of this version',
        last,
        createOwner('bea'),
        'status',
      ],
      [
        sql`insert into migrations (name) values (${last}), ('9999_later.sql')`,
        'does not know',
        '9999_later.sql',
        ['erase-person', '--email', 'ann@example.com', '--confirm', 'ann@example.com'],
        'doctor',
      ],
    ] as const) {
      const before = await inDatabase(env, async (db) => {
        await db.run(change)
        return dump(db)
      })
      expect(await operate([...refused], env)).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(new RegExp(`${problem} .*${named}`)),
      })
      expect(await operate([read], env)).toMatchObject({ code: 1, stdout: expect.stringContaining(named) })
      expect(await inDatabase(env, dump)).toEqual(before)
    }
  })
})

test('with PostgreSQL commands open the database itself, beside running processes or without', {
  ...verifiesOnPostgres('admin.postgres-direct'),
  timeout: 300_000,
}, async () => {
  const key = randomBytes(32).toString('base64')
  await withEmptyDatabase(async (url) => {
    const env = { DATABASE_URL: url, BATON_SECRET_KEY: key }
    const tables = () =>
      inDatabase(env, (db) => db.rows(sql`select tablename from pg_tables where schemaname = 'public'`))
    // It applies no migration.
    expect(await operate(createOwner('ann'), env)).toMatchObject({ code: 3 })
    expect(await tables()).toEqual([])

    const service = await ServiceProcess.start(env)
    const { stdout, code } = await operate([...createOwner('ann'), '--json'], env)
    expect(code).toBe(0)
    const { password } = JSON.parse(stdout)
    const { token } = await service.call('POST', '/auth/sign-in', { email: 'ann@example.com', password })
    expect(await operate(['doctor'], { ...env, BATON_ROOT_URL: service.url })).toMatchObject({ code: 0 })
    expect(await operate(['reset-password', '--email', 'ann@example.com'], env)).toMatchObject({ code: 0 })
    const me = service.call('GET', '/auth/me', undefined, { authorization: `Bearer ${token}` })
    await expect(me).rejects.toThrow('401')
    await service.kill('SIGTERM')

    expect(await operate(createOwner('bea'), env)).toMatchObject({ code: 0 })
    const otherKey = { ...env, BATON_SECRET_KEY: randomBytes(32).toString('base64') }
    expect(await operate(createOwner('cleo'), otherKey)).toMatchObject({ code: 3 })
    expect(
      await inDatabase(env, (db) => db.rows(sql`select email from users where user_kind = 'human' order by 1`)),
    ).toEqual([{ email: 'ann@example.com' }, { email: 'bea@example.com' }])
    expect(await operate(['rotate-key'], env)).toMatchObject({ code: 3 })
  })
})
