import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifies, verifiesOnPostgres } from '../../../conformance/requirements.ts'
import {
  addFile,
  addWorkspaces,
  emptyPlace,
  footerIn,
  headerIn,
  kind,
  made,
  newFolder,
  newPostgres,
  newService,
  openPlace,
  restoreInto,
  sums,
  textIn,
} from '../../test/backup-service.ts'
import { TestApp } from '../../test/harness.ts'
import { insideScene } from '../../test/inside-agents.ts'
import { readConfig } from '../config.ts'
import { migrationNames } from '../db/migrate.ts'
import { sql } from '../db/sql.ts'
import { removeOld } from './backup-dir.ts'
import { compressed, type Footer, textOf } from './format.ts'
import { LoadRefused } from './load.ts'
import { writeBackupFile } from './make.ts'
import { allTables, keptTables } from './tables.ts'
import { verifyBackup } from './verify.ts'
import { withBackup } from './write.ts'

const withoutHash = ({ tables }: Footer) =>
  Object.fromEntries(Object.entries(tables).map(([name, { rows, sum }]) => [name, { rows, sum }]))

// embedded.process.test.ts creates embedded databases, which takes seconds.
describe('backups', { timeout: 180_000 }, () => {
  test('every table has a primary key, by which it is read in parts', async () => {
    const { db } = await newService()
    expect((await keptTables(db)).filter(({ key }) => key.length === 0)).toEqual([])
  })

  test('a backup has one form on both databases, mode 0600, and every row', {
    ...verifies('backup.one-format', 'backup.file-mode'),
  }, async () => {
    const service = await newService()
    await addWorkspaces(service.db, 1500)
    const path = await made(service)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const { key, ...header } = headerIn(path)
    expect(header).toMatchObject({ format: 1, source: { database: kind }, migrations: migrationNames() })
    expect(key === undefined).toBe(kind === 'postgres')
    const text = textIn(path)
    if (service.config.secretKey) expect(text).not.toContain(service.config.secretKey.toString('base64'))
    expect(text.match(/^COPY \w+ \(.+\) FROM stdin;$/gm)?.length).toBe(Object.keys(footerIn(path).tables).length)
    expect(footerIn(path).tables.workspaces?.rows).toBe(1500)
    expect(withoutHash(footerIn(path))).toEqual(await sums(service.db))
  })

  test('a backup on PostgreSQL does not hold the key', verifiesOnPostgres('backup.key-postgres'), async () => {
    const service = await newService()
    const path = await made(service)
    expect(headerIn(path).key).toBeUndefined()
    expect(textIn(path)).not.toContain(service.key.toString('base64'))
    expect(textIn(path)).not.toContain(service.key.toString('hex'))
  })

  test('the name of a backup appears only when it is whole', verifies('backup.file-mode'), async () => {
    const service = await newService()
    await addWorkspaces(service.db, 100)
    const seen = new Set<string>()
    const isStillWanted = async () => {
      for (const name of readdirSync(service.backupDir)) seen.add(name)
      return false
    }
    await expect(made(service, 'one.backup', { isStillWanted })).rejects.toThrow('taken over')
    expect([...seen].filter((name) => name.endsWith('.backup'))).toEqual([])
    expect([...seen].some((name) => name.endsWith('.part'))).toBe(true)
    expect(readdirSync(service.backupDir).filter((name) => name !== 'files')).toEqual([])
  })

  test('a backup leaves out what ends with the process, and a restore claims nothing', {
    ...verifies('backup.leaves-out-transient'),
  }, async () => {
    const app = await TestApp.start()
    onTestFinished(() => app.stop())
    const { db } = app.ctx
    const { owner, builtIn, createIssue, id } = await insideScene(app)
    await owner.post('/webhooks', {
      label: 'All',
      url: 'http://localhost:9/',
      all_teams: true,
      resource_types: ['Issue'],
    })
    await createIssue({ delegate_id: builtIn })
    const until = new Date(Date.now() + 3_600_000)
    await db.run(sql`update deliveries set claim_id = 'clm_a', claim_kind = 'scheduled', lease_until = ${until}`)
    await db.run(sql`update endpoints set owner = 'wrk_a', owner_until = ${until}`)
    await db.run(sql`update agent_work set claim_id = 'wrk_a', lease_until = ${until}`)
    await db.run(sql`insert into rate_limits (key, clear_at) values ('a', 1)`)
    await db.run(sql`
    insert into scheduled_backups (due_at, claimed_by, claimed_until) values (now(), 'wrk_a', ${until})`)
    const counted = sql`
    select (select count(*)::int from deliveries where claim_id is not null or lease_until is not null) as claimed,
      (select count(*)::int from endpoints where owner is not null) as owned,
      (select count(*)::int from agent_work where claim_id is not null or lease_until is not null) as working,
      (select count(*)::int from rate_limits where key = 'a') as limits,
      (select count(*)::int from scheduled_backups) as backups`
    const all = sql`select (select count(*)::int from deliveries) as deliveries, (select count(*)::int from agent_work) as work`
    const before = await db.row<{ deliveries: number; work: number }>(all)
    expect(Math.min(before?.deliveries ?? 0, before?.work ?? 0)).toBeGreaterThan(0)
    expect(await db.row(counted)).toEqual({
      claimed: before?.deliveries,
      owned: 1,
      working: before?.work,
      limits: 1,
      backups: 1,
    })

    const key = Buffer.alloc(32, 1)
    const path = join(newFolder(), 'one.backup')
    const description = { madeAt: new Date(), key, files: 'listed' } as const
    writeFileSync(path, await withBackup(db, description, (backup) => buffer(backup)))
    const unlogged = (await allTables(db)).filter(({ isUnlogged }) => isUnlogged).map(({ name }) => name)
    expect(unlogged.length).toBeGreaterThan(2)
    const tables = Object.keys(footerIn(path).tables)
    for (const name of [...unlogged, 'listeners', 'scheduled_backups']) expect(tables).not.toContain(name)
    const target = await emptyPlace(kind, key)
    await restoreInto(target, path)
    const { db: restored } = await openPlace(target)
    expect(await restored.row(counted)).toEqual({ claimed: 0, owned: 0, working: 0, limits: 0, backups: 0 })
    expect(await restored.row(all)).toEqual(before)
    expect(await restored.row(sql`select id from workspaces`)).toEqual({ id })
  })

  test('uploaded files are copied once, brought back, and removed when no backup lists them', {
    ...verifies('backup.files'),
  }, async () => {
    const service = await newService()
    await addWorkspaces(service.db, 1)
    const [one, twin, two] = [
      await addFile(service, 'same'),
      await addFile(service, 'same'),
      await addFile(service, 'two'),
    ]
    const first = await writeBackupFile(service, join(service.backupDir, 'baton-20260301T000000.000Z.backup'))
    expect(first.files).toMatchObject({ listed: 3, copied: 2, missing: [] })
    const copies = () => readdirSync(join(service.backupDir, 'files')).sort()
    expect(copies()).toEqual([one.hash, two.hash].sort())
    expect(statSync(join(service.backupDir, 'files', one.hash)).mode & 0o777).toBe(0o600)

    const target = await emptyPlace(kind, service.key)
    writeFileSync(join(service.backupDir, 'files', two.hash), 'own')
    await expect(restoreInto(target, first.file)).rejects.toThrow('--without-files')
    writeFileSync(join(service.backupDir, 'files', two.hash), 'two')
    expect((await restoreInto(target, first.file)).missingFiles).toEqual([])
    const dir = readConfig(target).files
    if (dir?.kind !== 'directory') throw new Error('no directory')
    const read = (id: string) => readFileSync(join(dir.path, 'files', id), 'utf8')
    expect([read(one.id), read(twin.id), read(two.id)]).toEqual(['same', 'same', 'two'])

    await service.db.run(sql`delete from files where id = ${two.id}`)
    const second = await writeBackupFile(service, join(service.backupDir, 'baton-20260302T000000.000Z.backup'))
    expect(second.files).toMatchObject({ listed: 2, copied: 0 })
    writeFileSync(join(service.backupDir, 'files', 'notes.txt'), 'mine')
    await removeOld(service.backupDir, 2, 'baton-20260302T000000.000Z.backup')
    expect(copies()).toEqual([one.hash, two.hash, 'notes.txt'].sort())
    await removeOld(service.backupDir, 1, 'baton-20260302T000000.000Z.backup')
    expect(copies()).toEqual([one.hash, 'notes.txt'].sort())
  })

  test('a restore into a directory that holds anything is refused and changes nothing', {
    ...verifies('backup.restore-empty-only'),
  }, async () => {
    const service = await newService()
    const path = await made(service)
    const place = await emptyPlace('embedded')
    const target: Record<string, string> = { ...place, BATON_SECRET_KEY: service.key.toString('base64') }
    mkdirSync(target.BATON_DATA_DIR as string)
    writeFileSync(join(target.BATON_DATA_DIR as string, 'notes.txt'), 'mine')
    await expect(restoreInto(target, path)).rejects.toThrow(LoadRefused)
    expect(readdirSync(target.BATON_DATA_DIR as string)).toEqual(['notes.txt'])
  })

  test('a restore into a PostgreSQL database with a table is refused and changes nothing', {
    ...verifiesOnPostgres('backup.restore-empty-only'),
  }, async () => {
    const service = await newService()
    const path = await made(service)
    const target = await emptyPlace('postgres', service.key)
    const { db } = await openPlace(target)
    await db.tx((tx) => tx.script('create table notes (text text)'))
    await expect(restoreInto(target, path)).rejects.toThrow(LoadRefused)
    const found = await db.rows(sql`
    select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')`)
    expect(found).toEqual([{ schema: 'public', name: 'notes' }])
  })

  test('a backup that an older version wrote gets the newer migrations; one of a newer version is refused', {
    ...verifies('backup.restore-older-version'),
  }, async () => {
    // Commit 67bc8d4d wrote it, the last one without 0039_automations.sql: three issues of Ada, each with a comment.
    const path = fileURLToPath(new URL('../../test/old-backups/0038_operators.backup', import.meta.url))
    const { migrations, key } = headerIn(path)
    expect([migrations.at(-1), migrationNames().includes('0039_automations.sql')]).toEqual(['0038_operators.sql', true])
    const target = await emptyPlace(kind, Buffer.from(key as string, 'base64'))
    await restoreInto(target, path)
    const restored = await openPlace(target)
    expect(await restored.db.rows(sql`select name from migrations order by name`)).toEqual(
      [...migrations, ...migrationNames().filter((name) => !migrations.includes(name))]
        .sort()
        .map((name) => ({ name })),
    )
    expect(
      await restored.db.rows(sql`
        select i.code, i.title, c.text, c.automation_id as automation, u.email from issues i
        join comments c on c.issue_id = i.id join users u on u.id = c.author_id order by i.code`),
    ).toEqual(
      [1, 2, 3].map((n) => ({
        code: `ENG-${n}`,
        title: `Issue ${n}`,
        text: `Comment ${n}`,
        automation: null,
        email: 'ada@example.com',
      })),
    )

    const header = { ...headerIn(path), migrations: [...migrationNames(), '9999_future.sql'] }
    const newer = join(newFolder(), 'new.backup')
    writeFileSync(newer, await buffer(compressed(textOf(header, none()))))
    await verifyBackup(newer)
    const untouched = await emptyPlace('embedded')
    await expect(restoreInto(untouched, newer)).rejects.toThrow('9999_future.sql')
    expect(readdirSync(untouched.BATON_DATA_DIR as string)).toEqual([])
  })

  async function* none() {}

  test(
    'a backup on PostgreSQL under writes is one snapshot',
    verifiesOnPostgres('backup.online-postgres'),
    async () => {
      const service = await newService()
      await addWorkspaces(service.db, 500)
      let writing = true
      let rounds = 0
      const writer = async () => {
        while (writing) {
          await addWorkspaces(service.db, 1)
          await service.db.run(sql`
        insert into teams (id, workspace_id, name, key, created_at, updated_at)
        select 'team_' || w.id, w.id, 'T', 'T', now(), now() from workspaces w
        where not exists (select from teams t where t.workspace_id = w.id) on conflict do nothing`)
          rounds++
        }
      }
      const writers = [writer(), writer()]
      const paths: string[] = []
      for (const name of ['1.backup', '2.backup', '3.backup']) paths.push(await made(service, name))
      writing = false
      await Promise.all(writers)
      expect(rounds).toBeGreaterThan(3)
      for (const path of paths) {
        const env = { DATABASE_URL: await newPostgres(), BATON_SECRET_KEY: service.key.toString('base64') }
        // Adding the foreign keys fails if a row refers to a missing one.
        await restoreInto(env, path)
      }
    },
  )
})
