import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { ownDatabase } from '../../test/empty-databases.ts'
import { test, verifies } from '../../test/harness.ts'
import { ServiceProcess } from '../../test/service-process.ts'
import { rowsOfWorkspace } from '../../test/workspace-rows.ts'
import { DataDir } from '../db/data-dir.ts'
import { Db } from '../db/database.ts'
import { connectPostgres } from '../db/postgres.ts'
import { sql } from '../db/sql.ts'

type Env = Record<string, string>

async function withEnv(work: (env: Env) => Promise<void>) {
  const { env, remove } = await ownDatabase()
  await work(env)
  await remove()
}

/** Opens the database of a service that does not run. */
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

async function printed(service: ServiceProcess, text: string) {
  while (!service.output.includes(text)) await sleep(2)
}

async function fill(service: ServiceProcess, authorization: string, name: string, count: number) {
  const { id } = await service.call('POST', '/workspaces', { name }, { authorization })
  const headers = { authorization, 'x-workspace-id': id as string }
  const team = await service.call('POST', '/teams', { name: 'Engineering', key: 'ENG' }, headers)
  for (let left = count; left > 0; left -= 500) {
    const issues = Array.from({ length: Math.min(left, 500) }, (_, number) => ({
      title: `${number}`,
      team_id: team.id,
    }))
    await service.call('POST', '/issues/import', { issues }, headers)
  }
  await service.call('POST', '/projects', { title: 'Plan', team_ids: [team.id] }, headers)
  return { id: id as string, headers }
}

/** Without the figures of insights, which a worker counts at any time. */
async function storedBy(db: Db, workspaceId: string) {
  const rows = Object.entries(await rowsOfWorkspace(db, workspaceId))
  return Object.fromEntries(rows.filter(([table]) => !/^(agent|flow|cycle)_days$|^insight_progress$/.test(table)))
}

test('a killed worker leaves a purge that the next one finishes', {
  ...verifies('export.deletion-purges'),
  timeout: 180_000,
}, async () => {
  await withEnv(async (env) => {
    const first = await ServiceProcess.start(env)
    const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
    const { token } = await first.call('POST', '/auth/sign-up', ann)
    const authorization = `Bearer ${token}`
    const doomed = await fill(first, authorization, 'Doomed', 1000)
    const other = await fill(first, authorization, 'Other', 20)
    await first.call('POST', '/workspaces/me/deletion', { name: 'Doomed' }, doomed.headers)
    await first.kill('SIGKILL')

    const before = await inDatabase(env, async (db) => {
      await db.run(sql`update workspaces set deletion_at = now() - interval '1 second' where id = ${doomed.id}`)
      return { doomed: await rowsOfWorkspace(db, doomed.id), other: await storedBy(db, other.id) }
    })
    expect(before.doomed.issues).toHaveLength(1000)

    const second = await ServiceProcess.start(env)
    // One of the first tables; the issues are among the last, and take longer.
    await printed(second, '"table":"audit_entries"')
    await second.kill('SIGKILL')
    const during = await inDatabase(env, (db) => rowsOfWorkspace(db, doomed.id))
    expect(before.doomed.audit_entries?.length).toBeGreaterThan(0)
    expect(during.audit_entries).toBeUndefined()
    expect(during.issues?.length).toBeGreaterThan(0)

    const third = await ServiceProcess.start(env)
    await printed(third, '"msg":"deleted the workspace"')
    expect((await third.call('GET', '/auth/me', undefined, { authorization })).workspaces).toMatchObject([
      { id: other.id },
    ])
    await third.kill('SIGKILL')
    await inDatabase(env, async (db) => {
      expect(await rowsOfWorkspace(db, doomed.id)).toEqual({})
      expect(await db.rows(sql`select 1 from workspaces where id = ${doomed.id}`)).toEqual([])
      expect(await storedBy(db, other.id)).toEqual(before.other)
    })
  })
})
