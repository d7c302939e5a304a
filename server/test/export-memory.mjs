// Exports a small and a larger workspace, and prints the most memory that each needed beyond what was in use before.
// A process of its own, started with --expose-gc: garbage of other tests would be measured too. With --long: 100,000
// issues and 1 GB of files, whose bytes do not compress.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'

const dist = (path) => import(new URL(`../dist/${path}`, import.meta.url))
const { Db } = await dist('db/database.js')
const { openEmbedded } = await dist('db/embedded.js')
const { migrate } = await dist('db/migrate.js')
const { sql } = await dist('db/sql.js')
const { systemClock: clock } = await dist('clock.js')
const { newId } = await dist('ids.js')
const { DiskStorage } = await dist('storage/disk.js')
const { writeArchive } = await dist('exports/write-archive.js')

const megabyte = 1024 * 1024
const textBytes = 50_000
const long = process.argv.includes('--long')
const dir = mkdtempSync(join(tmpdir(), 'baton-export-memory-'))
const db = new Db(await openEmbedded({ dataDir: join(dir, 'db') }), { guarded: true })
const storage = new DiskStorage(join(dir, 'files'))

/** A workspace with an issue that has a history of long texts, and a file. */
async function fill({ changes, issues, fileBytes }) {
  const [workspace, issue, file] = [newId('wsp'), newId('iss'), newId('fil')]
  const now = clock.now()
  await db.run(sql`
    insert into workspaces (id, name, guidance, created_at, updated_at) values (${workspace}, 'Acme', '', ${now}, ${now})`)
  await db.run(sql`
    insert into issues (id, workspace_id, code, title, description, status, priority, type, delegation_revision, personal,
      sort_order, created_at, updated_at)
    values (${issue}, ${workspace}, 'ISS-1', 'Long', '', 'todo', 'low', 'task', 0, false, 1, ${now}, ${now})`)
  for (let from = 2; from <= issues; from += 10_000) {
    await db.run(sql`
      insert into issues (id, workspace_id, code, title, description, status, priority, type, delegation_revision, personal,
        sort_order, created_at, updated_at)
      select 'iss_' || lpad(n::text, 26, '0'), ${workspace}, 'ISS-' || n, 'Issue ' || n, repeat(md5(n::text), 10), 'todo',
        'low', 'task', 0, false, n, ${now}, ${now}
      from generate_series(${from}::int, ${Math.min(from + 9_999, issues)}::int) n`)
  }
  await db.run(sql`
    insert into issue_changes (id, workspace_id, issue_id, personal, changes, created_at)
    select 'chg_' || lpad((${changes}::int * 10000 + n)::text, 26, '0'), ${workspace}, ${issue}, false,
      jsonb_build_object('description', jsonb_build_object('from', '', 'to', repeat('word ', ${textBytes / 5}::int))), ${now}
    from generate_series(1, ${changes}::int) n`)
  const chunks = function* () {
    for (let at = 0; at < fileBytes; at += 64 * 1024)
      yield long ? randomBytes(64 * 1024) : Buffer.alloc(64 * 1024, at % 251)
  }
  await storage.put(`files/${file}`, Readable.from(chunks(), { objectMode: false }), fileBytes)
  await db.run(sql`
    insert into files (id, workspace_id, name, bytes, media_type, inline, state, created_at)
    values (${file}, ${workspace}, 'video', ${fileBytes}, 'application/octet-stream', false, 'ready', ${now})`)
  await db.run(sql`
    insert into file_links (file_id, workspace_id, target_type, target_id, created_at)
    values (${file}, ${workspace}, 'issue', ${issue}, ${now})`)
  return workspace
}

function memory() {
  globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

async function measure(size) {
  const workspace = await fill(size)
  const before = memory()
  const residentBefore = process.memoryUsage.rss()
  let [peak, resident, served] = [0, 0, 0]
  const sampling = setInterval(() => {
    resident = Math.max(resident, process.memoryUsage.rss() - residentBefore)
    peak = Math.max(peak, memory() - before)
  }, 100)
  let exporting = true
  // One after another: each waits for at most one statement of the export, however fast the machine is.
  const others = (async () => {
    for (; exporting; served++) await db.row(sql`select 1 from workspaces where id = ${workspace}`)
  })()
  const archive = await writeArchive({ db, clock }, storage, workspace)
  await storage.put(`exports/${newId('exp')}`, archive.read(), archive.bytes)
  exporting = false
  await others
  await archive.close()
  clearInterval(sampling)
  return { ...size, peak: Math.max(peak, memory() - before), resident, served, bytes: archive.bytes }
}

try {
  await migrate(db)
  const results = long
    ? { long: await measure({ changes: 1000, issues: 100_000, fileBytes: 1024 * megabyte }) }
    : {
        small: await measure({ changes: 200, issues: 1, fileBytes: 8 * megabyte }),
        large: await measure({ changes: 1000, issues: 1, fileBytes: 64 * megabyte }),
      }
  console.log(JSON.stringify(results))
} finally {
  await db.close()
  rmSync(dir, { recursive: true, force: true })
}
