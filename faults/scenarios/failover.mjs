// The primary of a Patroni cluster fails in five ways, under two services: one connects through HAProxy, the other knows
// both hosts.
import { setTimeout as sleep } from 'node:timers/promises'
import { debianProgram } from '../../scripts/debian.mjs'
import { Cluster } from '../failover/cluster.mjs'
import { Ledger } from '../ledger.mjs'
import { Journal } from '../processes.mjs'
import { Workload } from '../workload.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

/** Each of the two services writes at this share of the pace. */
const shareOfPace = 0.5
const warmUpMs = 5000
const steadyMs = 4000
const problemsShown = 5
const limits = { writesMs: 45_000, promotionMs: 15_000, deliveriesMs: 60_000 }
const programs = { patroni: 'patroni', etcd: 'etcd-server', haproxy: 'haproxy', nft: 'nftables', ip: 'iproute2' }

/** Each gets the cluster and the name of its primary. `after` repairs it. */
const faults = [
  {
    name: 'switchover',
    inject: (cluster, primary) => cluster.switchOver(primary),
  },
  {
    name: 'PostgreSQL killed',
    inject: (cluster, primary) => cluster.killPostgres(primary),
  },
  {
    name: 'node killed',
    inject: (cluster, primary) => cluster.killMachine(primary),
    after(cluster, primary) {
      cluster.reconnect(primary)
      cluster.startMachine(primary)
    },
  },
  {
    name: 'cut off from all',
    inject: (cluster, primary) => cluster.cutOff(primary),
    after: (cluster, primary) => cluster.reconnect(primary),
  },
  {
    name: 'cut off from etcd and standby',
    inject: (cluster, primary) => cluster.cutOff(primary, [cluster.other(primary), 'witness']),
    after: (cluster, primary) => cluster.reconnect(primary),
  },
]

export const failover = {
  name: 'failover',
  summary: 'the primary of a Patroni cluster fails in five ways, behind HAProxy and with several hosts in DATABASE_URL',
  withinMs: 900_000,
  shows: ['ha.nothing-lost-node-killed', 'ha.recovers-in-time', 'ha.partition-all', 'ha.partition-from-quorum'],
  async run({ options }) {
    if (process.getuid?.() !== 0) return { problems: [], skipped: 'needs root, to make network namespaces' }
    for (const [program, name] of Object.entries(programs)) {
      if (!(await debianProgram(program, name))) return { problems: [], skipped: `${program} is not installed` }
    }
    const cluster = await Cluster.start()
    try {
      return await failInTurn(cluster, options)
    } finally {
      cluster.stop()
    }
  },
}

async function failInTurn(cluster, { pace }) {
  const journal = new Journal()
  const urls = await cluster.createDatabases('faults')
  const routes = []
  for (const [name, url] of Object.entries(urls)) {
    routes.push({ name, services: await startRoles(['api', 'worker'], journal, postgresEnv(url)) })
  }
  const services = routes.flatMap((route) => route.services)
  for (const service of services) await service.untilReady()
  const [problems, lines] = [[], []]
  try {
    for (const fault of faults) {
      const seen = await fail(cluster, fault, routes, pace * shareOfPace)
      problems.push(...seen.problems.map((problem) => `${fault.name}: ${problem}`))
      lines.push(seen.line)
    }
    for (const { wasReady, text } of journal.unexpectedEnds) if (wasReady) problems.push(text)
    for (const [text, times] of journal.errors) console.log(`  logged as an error ${times} times: ${text}`)
    return { problems, notes: lines.join('; ') }
  } finally {
    for (const service of services) service.stop()
  }
}

async function fail(cluster, fault, routes, pace) {
  await cluster.untilHealthy()
  const loads = []
  for (const { name, services } of routes) {
    const ledger = await Ledger.start()
    const workload = new Workload([services[0]], ledger, pace)
    await workload.setUp()
    loads.push({ name, ledger, workload })
  }
  for (const { workload } of loads) workload.start()
  await sleep(warmUpMs)
  // Not before the load: on a busy machine the primary can change while the databases are filled.
  await cluster.untilHealthy()
  const primary = await cluster.leader()
  const standby = cluster.other(primary)
  const connection = await cluster.connect(standby)
  const at = performance.now()
  await fault.inject(cluster, primary)
  const promotedAt = await promotion(connection, at)
  connection.end().catch(() => {})
  const problems = promotedAt === null ? ['the standby was not promoted'] : []
  // Until the end of the fault: an old primary that was cut off must not accept anything.
  const writes =
    promotedAt !== null && !fault.name.includes('killed') ? await watchOldPrimary(cluster, primary, loads, at) : 0
  if (writes > 0) problems.push(`the old primary accepted ${writes} writes after the promotion`)
  await steady(loads, at)
  const gaps = loads.map(({ name, workload, ledger }) => {
    const after = { name, writesMs: resumed(workload.acknowledgedAt, at), deliveriesMs: resumed(ledger.arrivals, at) }
    problems.push(...tooLate(after, promotedAt - at))
    return after
  })
  for (const { workload } of loads) await workload.stop()
  fault.after?.(cluster, primary)
  await cluster.untilHealthy()
  for (const { name, workload, ledger } of loads) {
    await workload.settle()
    problems.push(...(await workload.problems()).map((problem) => `${name}: ${problem}`))
    const { issues, activities } = workload.figures
    if (issues + activities < pace) problems.push(`${name}: only ${issues + activities} writes`)
    for (const [answer, times] of workload.answers) {
      // Not a lost connection to the service, which can close an idle one just when it is used again.
      if (/^answered (?!503)/.test(answer)) problems.push(`${name}: ${times} requests were ${answer}, not 503`)
    }
    const answers = [...workload.answers].map(([answer, times]) => `${times} ${answer}`)
    console.log(`    ${name}: ${issues} issues and ${activities} activities acknowledged; ${answers.join(', ')}`)
    ledger.stop()
  }
  const line = [
    `${fault.name}: promoted after ${inSeconds(promotedAt - at)}`,
    ...gaps.map(
      ({ name, writesMs, deliveriesMs }) =>
        `${name}: writes ${inSeconds(writesMs)}, deliveries ${inSeconds(deliveriesMs)}`,
    ),
  ].join(', ')
  console.log(`  ${problems.length > 0 ? '✗' : '✓'} ${line}`)
  for (const problem of problems.slice(0, problemsShown)) console.log(`    ${problem}`)
  return { problems, line }
}

const inSeconds = (ms) => `${(ms / 1000).toFixed(1)} s`

/** When the standby of this connection became the primary, or null. A promotion keeps connections. */
async function promotion(connection, at) {
  while (performance.now() - at < limits.writesMs) {
    const { rows } = await connection.query('select pg_is_in_recovery() as standby')
    if (!rows[0].standby) return performance.now()
    await sleep(50)
  }
  return null
}

/** Tries to write to the old primary, on its own machine, while the loads recover. Returns how often that worked. */
async function watchOldPrimary(cluster, primary, loads, at) {
  let writes = 0
  do {
    if (await cluster.acceptsWrites(primary)) writes++
    await sleep(200)
  } while (!isSteady(loads) && performance.now() - at < limits.deliveriesMs)
  return writes
}

async function steady(loads, at) {
  while (!isSteady(loads) && performance.now() - at < limits.deliveriesMs) await sleep(100)
}

/** In each of the last four seconds, writes were acknowledged and deliveries arrived. */
const isSteady = (loads) =>
  loads.every(({ workload, ledger }) =>
    [workload.acknowledgedAt, ledger.arrivals].every((times) => {
      const from = performance.now() - steadyMs
      const seconds = new Set(times.filter((time) => time > from).map((time) => Math.floor((time - from) / 1000)))
      return seconds.size === steadyMs / 1000
    }),
  )

/** The end of the longest pause after the fault, in milliseconds after it. */
function resumed(times, at) {
  const later = times.filter((time) => time > at).sort((a, b) => a - b)
  let [longest, end] = [0, 0]
  for (const [index, time] of [...later, performance.now()].entries()) {
    const pause = time - (later[index - 1] ?? at)
    if (pause > longest) [longest, end] = [pause, time - at]
  }
  return end
}

function tooLate({ name, writesMs, deliveriesMs }, promotedMs) {
  const problems = []
  if (writesMs > limits.writesMs) problems.push(`${name}: writes resumed after ${inSeconds(writesMs)}`)
  if (writesMs - promotedMs > limits.promotionMs)
    problems.push(`${name}: writes resumed ${inSeconds(writesMs - promotedMs)} after the promotion`)
  if (deliveriesMs > limits.deliveriesMs) problems.push(`${name}: deliveries resumed after ${inSeconds(deliveriesMs)}`)
  return problems
}
