import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { archiveScene } from '../../test/archive-scene.ts'
import { download, exportOf, manifestOf, rowsOf, sumsOf, unpack } from '../../test/archives.ts'
import { test, verifies } from '../../test/harness.ts'
import { asApp } from '../../test/oauth.ts'
import { days, hours, minutes } from '../clock.ts'
import { sql } from '../db/sql.ts'
import type { Storage } from '../storage/storage.ts'
import { tables } from './contents.ts'
import { writeArchive } from './write-archive.ts'

describe('an archive', () => {
  test(
    'contains everything that the workspace shares, with its checksums',
    verifies('export.complete'),
    async ({ app }) => {
      const scene = await archiveScene(app)
      const archive = await exportOf(app, scene.owner)
      const entries = await unpack(archive)
      expect(entries[0]?.path).toBe('manifest.json')
      expect(entries.at(-1)?.path).toBe('checksums.txt')
      expect(String(entries.at(-1)?.data)).toBe(sumsOf(entries))
      const manifest = manifestOf(entries)
      for (const { name } of tables) {
        const rows = rowsOf(entries, name)
        expect([name, rows.length]).toEqual([name, manifest.rows[name]])
        expect([name, rows.length > 0]).toEqual([name, true])
      }
      const stored = async (statement: ReturnType<typeof sql>) =>
        (await app.ctx.db.rows<{ id: string }>(statement)).map(({ id }) => id).sort()
      const exported = (table: string) =>
        rowsOf(entries, table)
          .map(({ id }) => id)
          .sort()
      for (const [table, statement] of Object.entries({
        issues: sql`select id from issues where workspace_id = ${scene.id} and not personal`,
        projects: sql`select id from projects where workspace_id = ${scene.id} and not personal`,
        comments: sql`select c.id from comments c left join issues i on i.id = c.issue_id
        where c.workspace_id = ${scene.id} and not coalesce(i.personal, false)`,
        labels: sql`select id from labels where workspace_id = ${scene.id}`,
        cycles: sql`select id from cycles where workspace_id = ${scene.id}`,
        milestones: sql`select id from milestones where workspace_id = ${scene.id}`,
        initiatives: sql`select id from initiatives where workspace_id = ${scene.id}`,
        issue_changes: sql`select id from issue_changes where workspace_id = ${scene.id} and not personal`,
        views: sql`select id from views where workspace_id = ${scene.id} and shared`,
        issue_templates: sql`select id from issue_templates where workspace_id = ${scene.id}`,
      })) {
        expect([table, exported(table)]).toEqual([table, await stored(statement)])
      }
      const { issue, child, copy } = scene
      expect(rowsOf(entries, 'issue_parents')).toEqual([{ issue_id: child.id, parent_id: issue.id }])
      expect(rowsOf(entries, 'issue_blocks')).toEqual([{ blocker_id: issue.id, blocked_id: child.id }])
      expect(rowsOf(entries, 'issue_duplicates')).toMatchObject([{ issue_id: copy.id, duplicate_of_id: issue.id }])
      expect(rowsOf(entries, 'users').map(({ display_name }) => display_name)).toEqual(
        expect.arrayContaining(['Robot', 'Baton', scene.owner.user.display_name, scene.member.user.display_name]),
      )
      const content = (id: string) => entries.find(({ path }) => path === `files/${id}`)?.data
      expect(String(content(scene.files.file))).toBe('The key is under the mat.\n')
      expect(content(scene.files.answer)).toEqual(Buffer.alloc(100_000, 'x'))
      expect(manifest.files).toEqual({ count: 2, bytes: 100_026 })
      expect(exported('files')).toEqual([scene.files.file, scene.files.answer].sort())
    },
  )

  test('is read by tar and sha256sum', verifies('export.complete'), async ({ app }) => {
    const { owner } = await archiveScene(app)
    const dir = mkdtempSync(join(tmpdir(), 'baton-test-'))
    try {
      const input = await exportOf(app, owner)
      expect(spawnSync('tar', ['-xz', '-C', dir], { input })).toMatchObject({ status: 0, stderr: Buffer.alloc(0) })
      expect(spawnSync('sha256sum', ['--check', '--quiet', 'checksums.txt'], { cwd: dir })).toMatchObject({ status: 0 })
      expect(JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))).toMatchObject({ format: 'baton-workspace' })
    } finally {
      rmSync(dir, { recursive: true })
    }
  })

  test(
    'contains no secret and no personal item, and says how many it excludes',
    verifies('export.no-secrets'),
    async ({ app }) => {
      const scene = await archiveScene(app)
      const archive = await exportOf(app, scene.owner)
      const entries = await unpack(archive)
      const text = gunzipSync(archive).toString('latin1')
      const hashes = await app.ctx.db.rows<{ text: string }>(sql`
      select password_hash as text from users where password_hash is not null
      union select encode(token_hash, 'hex') from personal_tokens
      union select encode(sha256, 'hex') from files where id = ${scene.files.personalFile}`)
      expect(hashes.length).toBeGreaterThan(2)
      for (const secret of [...scene.secrets, ...hashes.map((row) => row.text), 'inbox']) {
        expect([secret, text.includes(secret)]).toEqual([secret, false])
      }
      for (const { path } of entries) {
        expect(path).toMatch(/^(manifest\.json|checksums\.txt|files\/fil_\w+|data\/\w+\/\d{6}\.jsonl)$/)
      }
      expect(manifestOf(entries).excluded).toEqual({ personal_issues: 1, personal_projects: 1, private_views: 1 })
      expect(manifestOf(entries).dropped_references).toBe(0)
    },
  )

  test('has the e-mail addresses of members only', verifies('export.no-secrets'), async ({ app }) => {
    const { owner, member, admin } = await archiveScene(app)
    await owner.delete(`/workspaces/me/members/${member.user.id}`)
    const users = rowsOf(await unpack(await exportOf(app, owner)), 'users')
    const emailOf = (id: string) => users.find((user) => user.id === id)?.email
    expect(emailOf(member.user.id)).toBeNull()
    expect(emailOf(admin.user.id)).toBe(admin.user.email)
  })

  test(
    'resolves every reference within itself, also while rows are deleted',
    verifies('export.consistent'),
    async ({ app }) => {
      const { owner, issue, child, comment } = await archiveScene(app)
      const { db } = app.ctx
      // Rows disappear while the embedded database is read page by page; on PostgreSQL the snapshot keeps them.
      const rows = db.rows.bind(db)
      let removed = false
      db.rows = async (statement) => {
        const page = await rows(statement)
        if (!removed && statement.text.includes('from issue_codes t')) {
          removed = true
          await owner.delete(`/comments/${comment.id}`)
          await owner.put(`/issues/${child.id}`, { parent_id: null })
          await owner.delete(`/issues/${issue.id}`)
        }
        return page as never
      }
      try {
        const entries = await unpack(await exportOf(app, owner))
        expect(removed).toBe(db.kind === 'embedded')
        expect(referencesOf(entries)).toEqual([])
      } finally {
        db.rows = rows
      }
    },
  )

  test('drops references to personal items and counts them', verifies('export.consistent'), async ({ app }) => {
    const { owner, id, issue, personal } = await archiveScene(app)
    await app.ctx.db.run(sql`
      insert into issue_blocks (workspace_id, blocker_id, blocked_id) values (${id}, ${issue.id}, ${personal.id})`)
    const entries = await unpack(await exportOf(app, owner))
    expect(manifestOf(entries).dropped_references).toBe(1)
    expect(referencesOf(entries)).toEqual([])
    expect(JSON.stringify(rowsOf(entries, 'issue_blocks'))).not.toContain(personal.id)
  })
})

/** References to rows that the archive does not contain. */
function referencesOf(entries: Awaited<ReturnType<typeof unpack>>) {
  const ids = new Set(tables.flatMap(({ name, prefix }) => (prefix ? rowsOf(entries, name).map(({ id }) => id) : [])))
  return tables.flatMap(({ name, columns }) =>
    rowsOf(entries, name).flatMap((row) =>
      Object.entries(columns).flatMap(([column, { ref }]) =>
        ref
          ? [row[column]]
              .flat()
              .filter((id) => id !== null && !ids.has(id))
              .map((id) => [name, column, id])
          : [],
      ),
    ),
  )
}

describe('exporting', () => {
  test('is for owners with a recent login', verifies('export.owner-only'), async ({ app }) => {
    const { owner, admin, member, id } = await app.workspace()
    const { body: token } = await owner.post('/personal-tokens', { name: 'Script', scopes: ['read', 'write'] })
    const script = asApp(app, id, token.token)
    const { body: made } = await owner.post('/exports')
    await app.workOnArchives()
    await app.unchanged(async () => {
      for (const [client, code] of [
        [admin, 'FORBIDDEN'],
        [member, 'FORBIDDEN'],
        [script, 'SESSION_ONLY_ROUTE'],
        [app.anonymous, 'UNAUTHORIZED'],
      ] as const) {
        for (const answer of [
          await client.post('/exports'),
          await client.get('/exports'),
          await client.get(`/exports/${made.id}`),
          await client.post(`/exports/${made.id}/link`),
          await client.delete(`/exports/${made.id}`),
        ]) {
          expect(answer.body.code).toBe(code)
        }
      }
      await app.clock.advance({ minutes: 16 })
      expect((await owner.post('/exports')).body.code).toBe('REAUTH_REQUIRED')
      expect((await owner.post(`/exports/${made.id}/link`)).body.code).toBe('REAUTH_REQUIRED')
    })
    expect((await owner.get(`/exports/${made.id}`)).body).toMatchObject({ state: 'ready' })
  })

  test('of another workspace is not found', verifies('export.owner-only'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: made } = await owner.post('/exports')
    const { owner: other } = await app.workspace()
    await app.unchanged(async () => {
      for (const answer of [
        await other.get(`/exports/${made.id}`),
        await other.post(`/exports/${made.id}/link`),
        await other.delete(`/exports/${made.id}`),
      ]) {
        expect(answer.body.code).toBe('RESOURCE_NOT_FOUND')
      }
      expect((await other.get('/exports')).body.data).toEqual([])
    })
  })

  test(
    'gives a link that works for 5 minutes, while its creator is owner',
    verifies('export.owner-only'),
    async ({ app }) => {
      const { owner, admin } = await app.workspace()
      await owner.patch(`/workspaces/me/members/${admin.user.id}`, { role: 'owner' })
      const { body: made } = await owner.post('/exports')
      expect((await owner.post(`/exports/${made.id}/link`)).status).toBe(404)
      await app.workOnArchives()
      const link = async () => new URL((await owner.post(`/exports/${made.id}/link`)).body.url).pathname
      const path = await link()
      const status = async (at: string) => (await fetch(app.rootUrl + at)).status
      expect(await status(path)).toBe(200)
      for (const changed of [path.slice(0, -1), `${path}a`, path.replace(owner.user.id, admin.user.id)]) {
        expect(await status(changed)).toBe(404)
      }
      app.clock.advance({ minutes: 5 })
      expect(await status(path)).toBe(404)
      const again = await link()
      expect(await status(again)).toBe(200)
      await admin.patch(`/workspaces/me/members/${owner.user.id}`, { role: 'admin' })
      expect(await status(again)).toBe(404)
    },
  )

  test('is audited', async ({ app }) => {
    const { owner } = await app.workspace()
    await owner.post('/exports')
    expect((await owner.get('/audit-log?action=workspace.exported')).body.data).toHaveLength(1)
  })

  test('happens three times a day, one at a time', verifies('export.kept-seven-days'), async ({ app }) => {
    const { owner } = await app.workspace()
    const first = await owner.post('/exports')
    expect((await owner.post('/exports')).body.id).toBe(first.body.id)
    await app.workOnArchives()
    await owner.delete(`/exports/${first.body.id}`)
    await exportOf(app, owner)
    app.clock.advance({ hours: 1 })
    await owner.post('/auth/reauth', { password: owner.password })
    await exportOf(app, owner)
    await app.unchanged(async () => {
      const refused = await owner.post('/exports')
      expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
      expect(refused.headers.get('retry-after')).toBe(String(hours(23) / 1000))
    })
    app.clock.advance({ hours: 23 })
    await owner.post('/auth/reauth', { password: owner.password })
    expect((await owner.post('/exports')).status).toBe(201)
  })

  test('keeps an archive for 7 days', verifies('export.kept-seven-days'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: made } = await owner.post('/exports')
    await app.workOnArchives()
    const keys = async () => {
      const found: string[] = []
      for await (const { key } of app.ctx.storage?.list('exports/') ?? []) if (key.endsWith(made.id)) found.push(key)
      return found
    }
    app.clock.advance({ milliseconds: days(7) - 1 })
    await owner.post('/auth/reauth', { password: owner.password })
    await app.workOnArchives()
    expect(await keys()).toEqual([`exports/${made.id}`])
    expect((await download(app, owner, made.id)).length).toBeGreaterThan(0)
    app.clock.advance({ milliseconds: 1 })
    await app.workOnArchives()
    expect(await keys()).toEqual([])
    expect((await owner.get(`/exports/${made.id}`)).status).toBe(404)
  })

  test('deletes an archive when an owner asks', verifies('export.kept-seven-days'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: made } = await owner.post('/exports')
    await app.workOnArchives()
    const path = new URL((await owner.post(`/exports/${made.id}/link`)).body.url).pathname
    expect((await owner.delete(`/exports/${made.id}`)).status).toBe(204)
    expect((await fetch(app.rootUrl + path)).status).toBe(404)
    await expect(app.ctx.storage?.read(`exports/${made.id}`)).rejects.toThrow()
  })

  test('is continued by another worker after a crash', async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: made } = await owner.post('/exports')
    // A worker that died: claimed, and not renewed.
    await app.ctx.db.run(sql`
      update exports set claim_id = 'wrk_dead', claimed_until = ${new Date(app.clock.now().getTime() + minutes(2))} where id = ${made.id}`)
    await app.workOnArchives()
    expect((await owner.get(`/exports/${made.id}`)).body.state).toBe('running')
    app.clock.advance({ minutes: 2 })
    await app.workOnArchives()
    expect((await owner.get(`/exports/${made.id}`)).body.state).toBe('ready')
  })

  test('needs a place for files', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const without = { ...app.ctx, storage: null }
    Object.assign(app.ctx, without)
    await app.unchanged(async () => {
      expect((await owner.post('/exports')).body.code).toBe('FILES_NOT_CONFIGURED')
      expect((await owner.post('/restores', undefined, { raw: 'x' })).body.code).toBe('FILES_NOT_CONFIGURED')
    })
  })
})

test(
  'an archive that is written has no name on the disk, so nothing remains of it after a crash',
  verifies('export.bounded-memory'),
  async ({ app }) => {
    const { owner, id } = await app.workspace()
    await owner.post('/issues', { title: 'One' })
    const dir = mkdtempSync(join(tmpdir(), 'baton-temporary-'))
    vi.stubEnv('TMPDIR', dir)
    onTestFinished(() => {
      vi.unstubAllEnvs()
      rmSync(dir, { recursive: true, force: true })
    })
    const archive = await writeArchive(app.ctx, app.ctx.storage as Storage, id)
    expect([tmpdir(), readdirSync(dir)]).toEqual([dir, []])
    const content = await buffer(archive.read())
    await archive.close()
    expect(content.length).toBe(archive.bytes)
    expect(rowsOf(await unpack(content), 'issues')).toMatchObject([{ title: 'One' }])
  },
)
