// Rows per second of a whole import, read and planned from a CSV, compared with bare INSERTs of the same issues; and the
// time of reads while a worker imports.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { description, issuesCsv, timeOf } from '../issues-csv.mjs'
import { dist, environmentOf, percentile, seedPeople, serviceProgram, startProgram } from '../setting.mjs'

const issues = 20_000
const batch = 500
const readEveryMs = 20
const quietReads = 500

export const shows = ['import.pace']

export const rows = [
  {
    name: 'issues imported from a CSV',
    unit: 'a second',
    better: 'more',
    target: 0.5,
    floorIs: 'bare INSERTs of 500 issues and their codes',
  },
  {
    name: 'p99 of reads during an import',
    unit: 'ms',
    better: 'less',
    target: 2,
    floorIs: 'the same reads without an import',
  },
]

export async function run(setting) {
  const [{ DiskStorage }, { workOnImport }, { newId }] = await Promise.all(
    ['storage/disk.js', 'imports/run.js', 'ids.js'].map(dist),
  )
  const dir = mkdtempSync(join(tmpdir(), 'baton-bench-import-'))
  try {
    const storage = new DiskStorage(dir)
    const ctx = { ...setting.ctx, storage }
    const imported = await addImport(setting, storage, newId)
    const started = performance.now()
    await workOnImport(ctx, new AbortController().signal)
    const ours = issues / ((performance.now() - started) / 1000)
    const { state } = await read(setting, imported)
    if (state !== 'done') throw new Error(`the import is ${state}`)
    const floor = await bareInserts(setting, newId)
    // Two processes cannot open one embedded database.
    const reads =
      setting.db.kind === 'postgres'
        ? await readsBeside(setting, imported, () => addImport(setting, storage, newId), dir)
        : undefined
    return [{ ours, floor }, reads]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** An import that is due, in a new workspace. */
async function addImport(setting, storage, newId) {
  const { db, sql } = setting
  const { workspaceId, tokens } = await seedPeople(setting, 1)
  const bytes = issuesCsv(issues)
  const id = newId('imp')
  const key = `imports/${id}/1`
  await storage.put(key, Readable.from([bytes]), bytes.length)
  const now = new Date()
  const files = JSON.stringify([{ name: 'a.csv', bytes: bytes.length, key }])
  await db.run(sql`
    insert into imports (id, workspace_id, source, state, files, started_at, created_at, updated_at)
    values (${id}, ${workspaceId}, 'linear', 'running', ${files}::jsonb, ${now}, ${now}, ${now})`)
  return { id, workspaceId, token: tokens[0] }
}

const read = ({ db, sql }, { id }) => db.row(sql`select state, claim from imports where id = ${id}`)

/** Reads of imported issues while a worker does nothing, and while it imports the same again into another workspace. */
async function readsBeside(setting, { workspaceId, token }, importAgain, dir) {
  const env = { ...environmentOf(setting.where), BATON_FILES_DIR: dir }
  const api = await startProgram(serviceProgram, { ...env, BATON_ROLE: 'api' })
  const worker = await startProgram(serviceProgram, { ...env, BATON_ROLE: 'worker' })
  const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId }
  const readIssues = () => fetch(`${api.url}/api/v1/issues?limit=50`, { headers }).then((response) => response.text())
  const p99 = async (isOver) => {
    const ms = []
    const waiting = []
    for (let n = 0; !(await isOver(n)); n++) {
      const started = performance.now()
      waiting.push(readIssues().then(() => ms.push(performance.now() - started)))
      await sleep(readEveryMs)
    }
    await Promise.all(waiting)
    return percentile(ms, 0.99)
  }
  await p99((n) => n === quietReads) // warms up
  const floor = await p99((n) => n === quietReads)
  const again = await importAgain()
  while (!(await read(setting, again)).claim) await sleep(5)
  const ours = await p99(async (n) => n % 50 === 0 && (await read(setting, again)).state === 'done')
  await Promise.all([worker.stop(), api.stop()])
  return { ours, floor }
}

/** One transaction for each batch, into the same table with the same indexes. */
async function bareInserts(setting, newId) {
  const { db, sql } = setting
  const { workspaceId } = await seedPeople(setting, 1)
  const prefix = randomBytes(2).toString('hex').toUpperCase()
  const started = performance.now()
  for (let first = 1; first <= issues; first += batch) {
    const numbers = Array.from({ length: batch }, (_, n) => first + n)
    const ids = numbers.map(() => newId('iss'))
    await db.tx(async (tx) => {
      await tx.run(sql`
        insert into issues (id, workspace_id, code, title, description, status, priority, type, delegation_revision,
          personal, sort_order, created_at, updated_at)
        select id, ${workspaceId}, ${prefix} || '-' || n, 'Issue ' || n, ${description}, 'todo', 'high', 'task', 0, false, n,
          at::timestamptz, at::timestamptz
        from unnest(${ids}::text[], ${numbers}::int[], ${numbers.map(timeOf)}::text[])
          as rows (id, n, at)`)
      // Each imported issue is found by its own code and by the one of its source.
      await tx.run(sql`
        insert into issue_codes (workspace_id, code, issue_id)
        select ${workspaceId}, key || '-' || n, id
        from unnest(${ids}::text[], ${numbers}::int[]) as rows (id, n), unnest(${[prefix, `OLD${prefix}`]}::text[]) as key`)
    })
  }
  return issues / ((performance.now() - started) / 1000)
}
