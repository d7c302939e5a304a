import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { verifies } from '../conformance/requirements.ts'
import { DataDir } from '../server/src/db/data-dir.ts'
import { sql } from '../server/src/db/sql.ts'
import { operate } from '../server/test/operate.ts'
import { callerAt, newcomer } from '../server/test/outside.ts'
import { ServiceProcess } from '../server/test/service-process.ts'

const megabyte = 1024 * 1024
const root = mkdtempSync(join(tmpdir(), 'baton-large-'))
const env = { BATON_DATA_DIR: join(root, 'data') }
let headers: Record<string, string>
let teamId: string

async function started() {
  const service = await ServiceProcess.start({ ...env, BATON_API_RATE: '1000000' })
  onTestFinished(async () => void (await service.kill('SIGTERM')))
  return service
}

beforeAll(async () => {
  const service = await ServiceProcess.start(env)
  const company = await newcomer(service.url)
  headers = company.headers
  teamId = company.teamId
  const { userId } = company
  await service.kill('SIGTERM')
  const dataDir = await DataDir.open(env.BATON_DATA_DIR)
  const db = await dataDir.openDatabase(
    () => {},
    () => {},
  )
  const workspaceId = headers['x-workspace-id']
  for (let batch = 0; batch < 27; batch++) {
    await db.run(sql`
      insert into events (id, workspace_id, type, action, team_ids, body, created_at)
      select 'evt_' || lpad(${batch}::text, 4, '0') || lpad(i::text, 8, '0'), ${workspaceId}, 'Issue', 'update', '{}',
        json_build_object('text', repeat(md5(i::text), 55)), now()
      from generate_series(1, 10000) i`)
  }
  for (let batch = 0; batch < 10; batch++) {
    await db.run(sql`
      insert into issues (id, workspace_id, code, title, description, status, priority, type, team_id, reporter_id,
        delegation_revision, personal, sort_order, created_at, updated_at)
      select 'iss_' || lpad(${batch}::text, 4, '0') || lpad(i::text, 8, '0'), ${workspaceId},
        'OLD-' || (${batch}::int * 10000 + i), 'Issue ' || i, '', 'todo', 'low', 'task', ${teamId}, ${userId}, 0, false, i,
        now(), now()
      from generate_series(1, 10000) i`)
  }
  const size = await db.row<{ bytes: number }>(sql`select pg_database_size(current_database()) as bytes`)
  expect(size?.bytes).toBeGreaterThan(500 * megabyte)
  await db.close()
  dataDir.close()
  return () => rmSync(root, { recursive: true, force: true })
}, 600_000)

const memoryOf = (pid: number) => {
  try {
    // What processes share, such as the program itself, is counted once.
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    // It ended meanwhile.
    return 0
  }
}

/** Of the service and the process that writes its backup. */
function memoryWithChildren(pid: number) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return { memory: [pid, ...children].reduce((sum, one) => sum + memoryOf(one), 0), children: children.length }
}

test('during a backup of 500 MB under writes no request waits longer than a second, and memory grows little', {
  ...verifies('backup.embedded-short-hold', 'backup.online-embedded'),
}, async () => {
  const service = await started()
  const person = callerAt(service.url, headers)
  let longest = 0
  let memory = 0
  let children = 0
  let writes = 0
  let writing = true
  const writer = async () => {
    while (writing) {
      const at = performance.now()
      const { status } = await person('POST', '/issues', { title: `During ${writes}`, team_id: teamId })
      longest = Math.max(longest, performance.now() - at)
      if (status !== 201) throw new Error(`answered ${status}`)
      writes++
      const found = memoryWithChildren(service.child.pid as number)
      memory = Math.max(memory, found.memory)
      children = Math.max(children, found.children)
    }
  }
  const writers = [writer(), writer()]
  await sleep(10_000)
  const before = { longest, memory, writes }
  ;[longest, memory, children] = [0, 0, 0]
  const made = performance.now()
  const { code, stdout, stderr } = await operate(['backup', '--output', root, '--json'], env)
  const seconds = (performance.now() - made) / 1000
  writing = false
  await Promise.all(writers)
  expect([code, stderr]).toEqual([0, ''])
  const grown = (memory - before.memory) / megabyte
  console.log({ before, during: { longest, writes: writes - before.writes, grownMb: grown, seconds } })
  expect(JSON.parse(stdout).rows).toBeGreaterThan(370_000 + before.writes)
  expect(writes - before.writes).toBeGreaterThan(0)
  expect(longest).toBeLessThan(1000)
  expect(children).toBeGreaterThan(0)
  expect(grown).toBeLessThan(300)
})

test('100,000 issues move to PostgreSQL with equal counts and sums', {
  ...verifies('move.equal'),
  timeout: 600_000,
}, async () => {
  const url = process.env.DATABASE_URL as string
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query('create database moved')
  const target = new URL(url)
  target.pathname = '/moved'
  const at = performance.now()
  const { code, stdout, stderr } = await operate(['move', '--to', target.href, '--json'], env)
  console.log({ seconds: (performance.now() - at) / 1000 })
  expect([code, stderr]).toEqual([0, expect.any(String)])
  expect(JSON.parse(stdout).tables.issues.rows).toBeGreaterThan(100_000)
  await admin.query('drop database moved with (force)')
  await admin.end()
})
