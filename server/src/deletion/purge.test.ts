import { Readable } from 'node:stream'
import { expect } from 'vitest'
import { makeScene } from '../../test/calls.ts'
import { done } from '../../test/delegation.ts'
import { contentAs, upload } from '../../test/files.ts'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { test as mailed, mailsTo } from '../../test/mailed.ts'
import { rowsOfWorkspace } from '../../test/workspace-rows.ts'
import { workspaceTables } from '../db/purge.ts'
import { sql } from '../db/sql.ts'
import type { Storage } from '../storage/storage.ts'
import { advanceDeletions } from './purge.ts'

const start = (person: TestPerson, name = 'Acme') => done(person.post('/workspaces/me/deletion', { name }))

test('after the delay apps are told and all rows of the workspace are gone, and of no other', {
  ...verifies('export.deletion-purges'),
  timeout: 60_000,
}, async ({ app, receiver }) => {
  const scene = await makeScene(app)
  const other = await makeScene(app)
  const { owner, member, id } = scene
  const told = await app.installed(owner, { webhook: receiver.url })
  const silent = await app.installed(owner, { webhook: { url: receiver.url, enabled: false } })
  await done(owner.post('/issues/import', { issues: Array.from({ length: 500 }, () => ({ title: 'Many' })) }))
  await placeholder(app, id)
  await app.deliver()
  receiver.take()
  await start(owner)
  // Its deliveries are attempted again meanwhile.
  const steady = async () => {
    const {
      attempts: _,
      endpoint_days: __,
      endpoints,
      deliveries,
      ...rows
    } = await rowsOfWorkspace(app.ctx.db, other.id)
    return { ...rows, endpoints: endpoints?.length, deliveries: deliveries?.length }
  }
  const untouched = await steady()
  const filled = Object.keys(await rowsOfWorkspace(app.ctx.db, id))
  expect(filled.length).toBeGreaterThan(30)

  app.clock.advance({ days: 14, milliseconds: -1 })
  await advanceDeletions(app.ctx)
  expect((await member.get('/issues')).status).toBe(200)

  app.clock.advance({ milliseconds: 1 })
  await advanceDeletions(app.ctx)
  // `revoked` is to be attempted first. From here on the deletion cannot be canceled.
  expect((await member.get('/issues')).status).toBe(403)
  expect((await owner.delete('/workspaces/me/deletion')).status).toBe(403)
  expect((await owner.get('/auth/me')).body.workspaces).toEqual([])
  expect(Object.keys(await rowsOfWorkspace(app.ctx.db, id))).toContain('issues')
  receiver.answer = 500
  await app.deliver()
  expect(receiver.take().map(({ body }) => [body.type, body.action, body.data.installation_id])).toEqual([
    ['OAuthApp', 'revoked', told.installationId],
  ])
  expect((await silent.get('/issues')).status).toBe(401)

  await advanceDeletions(app.ctx)
  expect(await rowsOfWorkspace(app.ctx.db, id)).toEqual({})
  expect(await app.ctx.db.rows(sql`select 1 from workspaces where id = ${id}`)).toEqual([])
  expect(await steady()).toEqual(untouched)
  const left = await usersOf(app)
  expect(left).toEqual(expect.arrayContaining([owner.user.id, member.user.id, other.robot.userId]))
  for (const gone of [told.userId, silent.userId, scene.robot.userId, `usr_${id}`]) expect(left).not.toContain(gone)
  expect(JSON.stringify(await app.everything())).not.toContain(id)

  app.clock.advance({ days: 1 })
  await app.deliver()
  expect(receiver.take()).toEqual([])
})

const usersOf = async ({ ctx }: TestApp) =>
  (await ctx.db.rows<{ id: string }>(sql`select id from users`)).map((user) => user.id)

const placeholder = ({ ctx, clock }: TestApp, workspaceId: string) =>
  ctx.db.run(sql`
    insert into users (id, user_kind, display_name, email, created_at, placeholder_in)
    values (${`usr_${workspaceId}`}, 'human', 'Imported', ${`${workspaceId}@placeholder.invalid`}, ${clock.now()},
      ${workspaceId})`)

test(
  'stored bytes are removed, and those of another workspace are kept',
  verifies('export.deletion-purges'),
  async ({ startApp }) => {
    // The harness replaces the path.
    const app = await startApp({ BATON_FILES_DIR: '/unused' })
    const [{ owner, id }, other] = [await app.workspace(), await app.workspace('Other')]
    const storage = app.ctx.storage as Storage
    const keys = async () => {
      const found: string[] = []
      for (const prefix of ['files/', 'imports/', 'exports/']) {
        for await (const { key } of storage.list(prefix)) found.push(key)
      }
      return found.toSorted()
    }
    // More than one batch.
    await store(app, id, 'a', 60)
    const kept = await store(app, other.id, 'b', 1)
    expect((await keys()).length).toBe(62 + kept.length)
    await start(owner)
    app.clock.advance({ days: 14 })
    await advanceDeletions(app.ctx)
    expect(await keys()).toEqual(kept.toSorted())
    expect(await rowsOfWorkspace(app.ctx.db, id)).toEqual({})
    expect(Object.keys(await rowsOfWorkspace(app.ctx.db, other.id))).toEqual(
      expect.arrayContaining(['files', 'imports', 'exports']),
    )
  },
)

test(
  'a deletion that is canceled while another workspace is purged changes nothing',
  verifies('export.deletion-canceled'),
  async ({ app }) => {
    const [first, second] = [await app.workspace('First'), await app.workspace('Second')]
    const robot = await app.installed(second.owner)
    await store(app, first.id, 'a', 1)
    const { body: file } = await upload(second.owner, 'kept')
    await start(first.owner, 'First')
    app.clock.advance({ seconds: 1 })
    await start(second.owner, 'Second')
    app.clock.advance({ days: 14 })
    // The purge of the first workspace may take hours: the second one's owner cancels meanwhile.
    const storage = app.ctx.storage as Storage
    let canceled: Promise<unknown> | undefined
    const slow: Storage = {
      put: (...put) => storage.put(...put),
      read: (...read) => storage.read(...read),
      list: (prefix) => storage.list(prefix),
      async remove(key) {
        canceled ??= done(second.owner.delete('/workspaces/me/deletion'))
        await canceled
        await storage.remove(key)
      },
    }
    await advanceDeletions({ ...app.ctx, storage: slow })
    expect(canceled).toBeDefined()
    expect(await app.ctx.db.rows(sql`select 1 from workspaces where id = ${first.id}`)).toEqual([])
    expect(String((await contentAs(app, second.owner, file.id)).bytes)).toBe('kept')
    expect(
      await app.ctx.db.rows(sql`select 1 from installations where id = ${robot.installationId} and revoked_at is null`),
    ).toHaveLength(1)
    expect((await second.owner.post('/issues', { title: 'Goes on' })).status).toBe(201)
  },
)

/** Files, an import and an export with bytes; returns their keys. */
async function store({ ctx, clock }: TestApp, workspaceId: string, mark: string, files: number): Promise<string[]> {
  const now = clock.now()
  const fileIds = Array.from({ length: files }, (_, number) => `fil_${mark}${number}`)
  await ctx.db.run(sql`
    insert into files (id, workspace_id, name, bytes, media_type, inline, state, created_at)
    select id, ${workspaceId}, 'a.txt', 5, 'text/plain', false, 'ready', ${now} from unnest(${fileIds}::text[]) id`)
  await ctx.db.run(sql`
    insert into imports (id, workspace_id, source, state, created_at, updated_at)
    values (${`imp_${mark}`}, ${workspaceId}, 'csv', 'ready', ${now}, ${now})`)
  await ctx.db.run(sql`
    insert into exports (id, workspace_id, state, created_at)
    values (${`exp_${mark}`}, ${workspaceId}, 'ready', ${now})`)
  const keys = [...fileIds.map((id) => `files/${id}`), `imports/imp_${mark}/0`, `exports/exp_${mark}`]
  for (const key of keys) await ctx.storage?.put(key, Readable.from(Buffer.from('bytes')), 5)
  return keys
}

test('an app that cannot be reached does not keep the data', verifies('export.deletion-purges'), async ({ app }) => {
  const { owner, id } = await app.workspace()
  await app.installed(owner, { webhook: 'http://localhost:9/hook' })
  await start(owner)
  app.clock.advance({ days: 14 })
  // No worker sends.
  for (const seconds of [0, 599]) {
    app.clock.advance({ seconds })
    await advanceDeletions(app.ctx)
    expect(await app.ctx.db.rows(sql`select 1 from workspaces where id = ${id}`)).toHaveLength(1)
  }
  app.clock.advance({ seconds: 1 })
  await advanceDeletions(app.ctx)
  expect(await rowsOfWorkspace(app.ctx.db, id)).toEqual({})
})

test('the delay is that of BATON_DELETION_DAYS', verifies('export.deletion-purges'), async ({ startApp }) => {
  const app = await startApp({ BATON_DELETION_DAYS: '1' })
  const { owner, id } = await app.workspace()
  await start(owner)
  app.clock.advance({ days: 1, milliseconds: -1 })
  await advanceDeletions(app.ctx)
  expect(await app.ctx.db.rows(sql`select 1 from workspaces where id = ${id}`)).toHaveLength(1)
  app.clock.advance({ milliseconds: 1 })
  await advanceDeletions(app.ctx)
  expect(await app.ctx.db.rows(sql`select 1 from workspaces where id = ${id}`)).toEqual([])
})

test('the order of the purge has every table with the column, children first', async ({ app }) => {
  const tables = (await workspaceTables(app.ctx.db)).map(({ name }) => name)
  const all = await app.ctx.db.rows<{ name: string }>(sql`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'workspace_id' and is_nullable = 'NO'`)
  expect(tables).toEqual(expect.arrayContaining(all.map(({ name }) => name)))
  for (const [child, parent] of [
    ['comments', 'issues'],
    ['agent_sessions', 'installations'],
    ['file_links', 'files'],
    ['installations', 'agent_apps'],
    ['agent_apps', 'endpoints'],
    ['team_members', 'memberships'],
  ]) {
    expect(tables.indexOf(child as string)).toBeLessThan(tables.indexOf(parent as string))
  }
  expect(tables).not.toContain('restores')
})

mailed(
  'owners are mailed at the start, three days before and at the end',
  verifies('export.deletion-mails'),
  async ({ app, mailServer }) => {
    const { owner, admin, join } = await app.workspace('Blue Whale')
    const second = await join('owner')
    const subjects = async (person: TestPerson) =>
      (await mailsTo(app, mailServer, person.user.email)).map(({ parsed }) => parsed.subject)
    const owners = async () => {
      const [first, other] = [await subjects(owner), await subjects(second)]
      expect(other).toEqual(first)
      return first
    }
    await start(owner, 'Blue Whale')
    const day = new Date(app.clock.now().getTime() + 14 * 86_400_000).toISOString().slice(0, 10)
    const expected = [`Blue Whale will be deleted on ${day}`]
    expect(await owners()).toEqual(expected)
    app.clock.advance({ days: 11, milliseconds: -1 })
    await advanceDeletions(app.ctx)
    expect(await owners()).toEqual(expected)
    app.clock.advance({ milliseconds: 1 })
    for (let times = 0; times < 2; times++) await advanceDeletions(app.ctx)
    expected.push(`Reminder: Blue Whale will be deleted on ${day}`)
    expect(await owners()).toEqual(expected)
    app.clock.advance({ days: 3 })
    for (let times = 0; times < 2; times++) await advanceDeletions(app.ctx)
    expected.push('Blue Whale was deleted')
    expect(await owners()).toEqual(expected)
    expect(await subjects(admin)).toEqual([])
  },
)

mailed('a canceled deletion sends no further mail', verifies('export.deletion-mails'), async ({ app, mailServer }) => {
  const { owner } = await app.workspace('Red Fox')
  await start(owner, 'Red Fox')
  await mailsTo(app, mailServer, owner.user.email)
  await done(owner.delete('/workspaces/me/deletion'))
  app.clock.advance({ days: 20 })
  await advanceDeletions(app.ctx)
  expect(await mailsTo(app, mailServer, owner.user.email)).toHaveLength(1)
})
