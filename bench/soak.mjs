// npm run soak: holds a whole service at half of its maximal delivery rate, and compares its last minutes with its first.
// --minutes 1: a trial, whose comparison is shown but does not count.  --rate 200: deliveries a second, instead of half
// of the maximum.  --embedded: reads, and a few edits, on the embedded database.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { build, bundleServer, install, main, StepFailed } from '../scripts/setup.mjs'
import {
  environmentOf,
  openSetting,
  percentile,
  seedPeople,
  serviceProgram,
  startProgram,
  startReceiver,
  withStorage,
} from './setting.mjs'
import { Editor, endpoints, openStreams, people, Readers, startSweeping } from './soak-load.mjs'

/** Deliveries that are due at any time while the maximal rate is measured. */
const saturatedAt = 2000
const maxSaturationMs = 20_000
/** For the setup, the maximal rate and the end. */
const overtimeMs = 300_000

/** A run with fewer minutes does not fail: its samples are too short to compare. */
const judgedFromMinutes = 20
const maxRatio = 1.15
/** These are numbers of samples. There is one a minute; trials have as many in less time. */
const minSamples = 20
const compared = 5
const warmUp = 1
const retention = 2
/** Until the first deleted rows are vacuumed. */
const untilVacuumed = 2
const sweepsPerSample = 6

const tables = ['deliveries', 'attempts', 'events']
const mb = 2 ** 20

/** Deliveries a second on the embedded database, where reads are the load. */
const embeddedRate = 50

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '20' }, rate: { type: 'string' }, embedded: { type: 'boolean' } },
})
const minutes = Number(values.minutes)
const samples = Math.max(minSamples, Math.round(minutes))
const sampleMs = (minutes * 60_000) / samples

async function soak(where) {
  const setting = await openSetting(where)
  const seeded = await seedPeople(setting, people)
  const service = await startService(where)
  const receiver = await startReceiver('delays')
  const streams = openStreams(service, seeded)
  const sweeping = await startSweeping(setting.db, {
    keptMs: retention * sampleMs,
    everyMs: sampleMs / sweepsPerSample,
  })
  try {
    const editor = await Editor.create(service, receiver, seeded)
    const rate = Number(values.rate) || (await maximalRate(editor, receiver)) / 2
    const taken = await hold(rate, editor, async () => {
      const sizes = await Promise.all(tables.map((table) => sizeOf(setting.db, setting.sql, table)))
      const sample = { ...(await receiver.ask('delays')), memory: service.memory(), sizes }
      return { ...sample, line: lineOf(sample) }
    })
    const grown = [
      { name: 'p99', from: warmUp, of: ({ p99 }) => p99 },
      { name: 'memory of the service', from: warmUp, of: ({ memory }) => memory },
      // Tables grow until retention deletes their first rows and vacuum makes room for new ones.
      ...tables.map((table, index) => ({
        name: `size of ${table}`,
        from: warmUp + retention + untilVacuumed,
        of: ({ sizes }) => sizes[index].bytes / mb,
      })),
    ]
    const problems = [...(await editor.problems(receiver)), ...streams.problems(), ...sweeping.problems()]
    judge(problems, compare(taken, grown))
  } finally {
    await sweeping.stop()
    streams.close()
    await service.stop()
    receiver.stop()
    await setting.db.close()
  }
}

const startService = (where) =>
  startProgram(serviceProgram, {
    ...environmentOf(where),
    BATON_WEBHOOK_ALLOW: '127.0.0.1',
    BATON_WEBHOOK_LIMIT: String(endpoints),
  })

/** Many reads and a few edits. Nothing is deleted meanwhile, so tables are not compared. */
async function soakEmbedded(where) {
  const setting = await openSetting(where)
  const seeded = await seedPeople(setting, people)
  await setting.db.close()
  const service = await startService(where)
  const receiver = await startReceiver('delays')
  const streams = openStreams(service, seeded)
  const readers = new Readers(service, seeded)
  try {
    const editor = await Editor.create(service, receiver, seeded)
    readers.start()
    const taken = await hold(Number(values.rate) || embeddedRate, editor, async () => {
      const { reads, p99 } = readers.sample()
      const sample = { memory: service.memory(), ...(await databaseMemoryOf(service)) }
      const line = `${shown(reads / (sampleMs / 1000))} reads a second, p99 ${shown(p99)} ms, service ${shown(sample.memory)} MB, of it objects of the database's thread ${shown(sample.heap)} MB, database ${shown(sample.wasm)} MB`
      return { ...sample, line }
    })
    const grown = [{ name: 'memory of the service', from: warmUp, of: ({ memory }) => memory }]
    await readers.stop()
    judge([...(await editor.problems(receiver)), ...streams.problems(), ...readers.problems()], compare(taken, grown))
  } finally {
    await readers.stop()
    streams.close()
    await service.stop()
    receiver.stop()
  }
}

function judge(problems, grown) {
  if (minutes >= judgedFromMinutes) problems.push(...grown)
  else console.log(`Runs of less than ${judgedFromMinutes} minutes are not judged by these ratios.`)
  if (problems.length > 0) throw new StepFailed(problems.map((problem) => `✗ ${problem}`).join('\n'))
}

/** In MB, from the metrics of the service. */
async function databaseMemoryOf({ url }) {
  const text = await (await fetch(`${url}/metrics`)).text()
  const of = (part) =>
    Number(text.match(new RegExp(`^baton_embedded_database_memory_bytes{part="${part}"} (.*)$`, 'm'))[1])
  return { heap: of('heap') / mb, wasm: of('wasm') / mb }
}

/** Deliveries per second while there are always some due. */
async function maximalRate(editor, receiver) {
  const forMs = Math.min(maxSaturationMs, sampleMs)
  let received = await receiver.ask('count')
  const saturate = async () => {
    const [began, before] = [performance.now(), received]
    while (performance.now() - began < forMs) {
      const wanted = Math.floor((saturatedAt - (editor.expectedDeliveries - received)) / endpoints)
      await Promise.all(Array.from({ length: Math.max(0, wanted) }, () => editor.edit()))
      await sleep(5)
      received = await receiver.ask('count')
    }
    return (received - before) / ((performance.now() - began) / 1000)
  }
  await saturate() // until the engine has optimised the hot code
  const rate = await saturate()
  console.log(`▸ At most ${shown(rate)} deliveries a second`)
  while ((await receiver.ask('count')) < editor.expectedDeliveries) await sleep(50)
  return rate
}

/** Edits at this rate, and takes a sample each minute. */
async function hold(rate, editor, takeSample) {
  console.log(
    `▸ Holding ${shown(rate)} deliveries a second for ${minutes} minutes, a sample every ${sampleMs / 1000} s`,
  )
  const everyMs = (1000 * endpoints) / rate
  const began = performance.now()
  let started = 0
  // Starts all edits that are due, so that a late timer does not change the rate.
  const editing = setInterval(
    () => {
      for (; started < (performance.now() - began) / everyMs; started++) void editor.edit()
    },
    Math.min(everyMs, 20),
  )
  const taken = []
  try {
    await takeSample() // without what was before
    for (let n = 1; n <= samples; n++) {
      await sleep(began + n * sampleMs - performance.now())
      const sample = await takeSample()
      taken.push(sample)
      console.log(`  ${String(n).padStart(2)}: ${sample.line}`)
    }
  } finally {
    clearInterval(editing)
  }
  return taken
}

/** Of a table with its indexes and partitions. A table without partitions has no partition tree. */
const sizeOf = (db, sql, table) =>
  db.row(sql`
    select sum(pg_total_relation_size(p.relid))::float8 as bytes, sum(s.n_dead_tup)::float8 as dead
    from (select relid from pg_partition_tree(${table}::regclass) union select ${table}::regclass) p
    left join pg_stat_all_tables s on s.relid = p.relid`)

function lineOf({ count, p50, p99, memory, sizes }) {
  const bytes = tables.map((table, index) => `${table} ${shown(sizes[index].bytes / mb)} MB`)
  const dead = sizes.reduce((sum, one) => sum + one.dead, 0)
  const perSecond = count / (sampleMs / 1000)
  return `${shown(perSecond)} a second, p50 ${p50} ms, p99 ${p99} ms, service ${shown(memory)} MB; ${bytes.join(', ')}; ${shown(dead)} dead rows`
}

/** Compares medians, so that one disturbed minute does not decide. Returns what got worse. */
function compare(taken, figures) {
  const median = (some, of) => percentile(some.map(of), 0.5)
  const compareOne = ({ name, from, of }) => {
    const [first, last] = [median(taken.slice(from, from + compared), of), median(taken.slice(-compared), of)]
    return { name, first: shown(first), last: shown(last), ratio: Number((last / first).toFixed(2)) }
  }
  const results = figures.map(compareOne)
  console.table(results)
  return results
    .filter(({ ratio }) => !(ratio <= maxRatio))
    .map(
      ({ name, ratio }) => `${name}: the last ${compared} minutes are ${ratio} times the first (at most ${maxRatio})`,
    )
}

function shown(value) {
  return value >= 100 ? Math.round(value).toLocaleString('en') : Number(value.toFixed(2))
}

await main(async () => {
  if (!(minutes > 0) || (values.rate !== undefined && !(values.rate > 0))) {
    throw new StepFailed('--minutes and --rate must be positive numbers')
  }
  await install()
  await build('Building', 'server')
  await bundleServer()
  const overdue = setTimeout(
    () => {
      console.error('The soak did not end in time')
      process.exit(1)
    },
    minutes * 60_000 + overtimeMs,
  )
  try {
    await (values.embedded ? withStorage('embedded', soakEmbedded) : withStorage('postgres', soak))
  } finally {
    clearTimeout(overdue)
  }
})
