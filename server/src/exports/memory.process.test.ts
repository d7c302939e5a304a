import { execFile } from 'node:child_process'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { exportOf, rowsOf, unpack } from '../../test/archives.ts'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'

const run = promisify(execFile)
const megabyte = 1024 * 1024
const program = fileURLToPath(new URL('../../test/export-memory.mjs', import.meta.url))

/** An issue with a history of long texts, and a file. */
async function fill(
  { ctx, clock }: TestApp,
  { workspaceId, user, ...owner }: TestPerson,
  changes: number,
  textBytes: number,
  fileBytes: number,
) {
  const now = clock.now()
  const { body: issue } = await owner.post('/issues', { title: 'Long' })
  await ctx.db.run(sql`
    insert into issue_changes (id, workspace_id, issue_id, personal, changes, created_at)
    select 'chg_' || lpad(n::text, 26, '0'), ${workspaceId}, ${issue.id}, false,
      jsonb_build_object('description', jsonb_build_object('from', '', 'to', repeat('word ', ${textBytes / 5}::int))), ${now}
    from generate_series(1, ${changes}::int) n`)
  const id = newId('fil')
  const chunks = function* () {
    for (let at = 0; at < fileBytes; at += 64 * 1024) yield Buffer.alloc(64 * 1024, at % 251)
  }
  await ctx.storage?.put(`files/${id}`, Readable.from(chunks(), { objectMode: false }), fileBytes)
  await ctx.db.run(sql`
    insert into files (id, workspace_id, uploader_id, name, bytes, media_type, inline, state, created_at)
    values (${id}, ${workspaceId}, ${user.id}, 'video', ${fileBytes}, 'application/octet-stream', false, 'ready', ${now})`)
  await ctx.db.run(sql`
    insert into file_links (file_id, workspace_id, target_type, target_id, created_at)
    values (${id}, ${workspaceId}, 'issue', ${issue.id}, ${now})`)
}

test('memory does not grow with the size of the workspace, and other requests are served', {
  ...verifies('export.bounded-memory'),
  timeout: 240_000,
}, async () => {
  const { stdout } = await run(process.execPath, ['--expose-gc', program])
  const { small, large } = JSON.parse(stdout)
  // Texts of 10 and 50 MB, and files of 8 and 64 MB.
  expect(large.bytes).toBeGreaterThan(4 * small.bytes)
  for (const { peak, served } of [small, large]) {
    expect(peak).toBeLessThan(48 * megabyte)
    // At least one for each table that is read.
    expect(served).toBeGreaterThan(30)
  }
})

test.skipIf(!process.env.BATON_LONG)(
  '100,000 issues and 1 GB of files take at most 200 MB',
  {
    ...verifies('export.bounded-memory'),
    timeout: 1_800_000,
  },
  async () => {
    const { stdout } = await run(process.execPath, ['--expose-gc', program, '--long'])
    const { long } = JSON.parse(stdout)
    expect(long).toMatchObject({ issues: 100_000, fileBytes: 1024 * megabyte })
    expect(long.bytes).toBeGreaterThan(1024 * megabyte)
    expect(long.resident).toBeLessThan(200 * megabyte)
    expect(long.served).toBeGreaterThan(100)
  },
)

test('parts have at most 1,000 rows', verifies('export.complete'), async ({ startApp }) => {
  const app = await startApp()
  const { owner } = await app.workspace()
  await fill(app, owner, 2001, 5000, 64 * 1024)
  const entries = await unpack(await exportOf(app, owner))
  expect(rowsOf(entries, 'issue_changes')).toHaveLength(2001)
  const parts = entries.filter(({ path }) => path.startsWith('data/issue_changes/'))
  expect(parts.length).toBeGreaterThan(2)
  for (const { data } of parts) expect(String(data).trimEnd().split('\n').length).toBeLessThanOrEqual(1000)
  expect(Math.max(...parts.map(({ data }) => data.length))).toBeLessThanOrEqual(4 * megabyte)
})
