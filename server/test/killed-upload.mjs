// Uploads or deletes a file in a process of its own, and kills the process with SIGKILL before the step of the given
// number: a call of the file system or a statement. Run by files-crash.process.test.ts.
// On the database of DATABASE_URL, or an embedded one.
//   node killed-upload.mjs DATA_DIR upload|delete STEP
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { Readable } from 'node:stream'

const [dataDir, action, step] = process.argv.slice(2)
let armed = false
let steps = 0
const take = () => {
  if (armed && ++steps === Number(step)) process.kill(process.pid, 'SIGKILL')
}

const require = createRequire(import.meta.url)
const fs = require('node:fs/promises')
for (const name of ['open', 'rename', 'rm', 'mkdir', 'rmdir']) {
  const real = fs[name]
  fs[name] = (...args) => {
    take()
    return real(...args)
  }
}
const probe = await fs.open(new URL(import.meta.url), 'r')
const handle = Object.getPrototypeOf(probe)
await probe.close()
for (const name of ['write', 'sync', 'close']) {
  const real = handle[name]
  handle[name] = function (...args) {
    take()
    return real.apply(this, args)
  }
}
syncBuiltinESMExports()

const part = (name) => import(new URL(`../dist/${name}.js`, import.meta.url).href)
const { DataDir } = await part('db/data-dir')
const { Db } = await part('db/database')
const { connectPostgres } = await part('db/postgres')
const { migrate } = await part('db/migrate')
const { openStorage } = await part('storage-check')
const { storeFile, markDeleted, sweepFiles } = await part('files/store')
const { checkFiles } = await part('files/check')
const { readConfig } = await part('config')
const { sql } = await part('db/sql')
const { createLog } = await part('log')

const config = readConfig({ BATON_DATA_DIR: dataDir })
const dir = await DataDir.open(dataDir)
const opened = process.env.DATABASE_URL
  ? new Db(connectPostgres(process.env.DATABASE_URL, () => {}))
  : await dir.openDatabase(
      () => {},
      () => process.exit(1),
    )
const counted = (work) => {
  take()
  return work()
}
const db = {
  rows: (statement) => counted(() => opened.rows(statement)),
  row: (statement) => counted(() => opened.row(statement)),
  run: (statement) => counted(() => opened.run(statement)),
  tx: async (work) => {
    take()
    const result = await opened.tx(work)
    take()
    return result
  },
}
await migrate(opened)
const storage = await openStorage(config, opened)
let hours = 0
const clock = { now: () => new Date(Date.now() + hours * 3_600_000), after: () => () => {} }
const ctx = { config, clock, db, storage, log: createLog('silent'), keys: null, outbound: null, relay: null }

await opened.run(sql`
  insert into workspaces (id, name, created_at, updated_at) values ('wsp_1', 'Acme', now(), now()) on conflict do nothing`)

const problems = async () => {
  const found = []
  for await (const problem of checkFiles(opened, storage, clock.now(), { content: true })) found.push(problem)
  return found
}

// What the killed process before this one left: either complete and ready, or gone after the sweeps.
const before = { problems: await problems() }
before.ready = (await opened.rows(sql`select id from files where state = 'ready'`)).length
hours = 50
for (let sweeps = 0; sweeps < 3; sweeps++, hours += 25) await sweepFiles({ ...ctx, db: opened })
before.rows = (await opened.rows(sql`select id from files`)).length
before.keys = []
for await (const { key } of storage.list('files/')) before.keys.push(key)
before.names = (await fs.readdir(new URL(`file://${dataDir}/files/files`)).catch(() => [])).length
hours = 0

const upload = () =>
  storeFile(
    ctx,
    { workspaceId: 'wsp_1', uploaderId: null, name: 'a' },
    {
      body: Readable.from([Buffer.alloc(1000, 1), Buffer.alloc(1000, 2)]),
      bytes: 2000,
    },
  )
if (action === 'upload') {
  console.log(JSON.stringify(before))
  armed = true
  await upload()
} else {
  const { id } = await upload()
  console.log(JSON.stringify(before))
  armed = true
  await markDeleted(db, id, clock.now())
  hours = 25
  await sweepFiles(ctx)
}
armed = false
console.log(
  JSON.stringify({ steps, ready: (await opened.rows(sql`select id from files where state = 'ready'`)).length }),
)
await opened.close()
dir.close()
