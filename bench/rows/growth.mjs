// Duration of calls with a million rows, and on PostgreSQL with ten million deliveries, compared with ten thousand.
import { Agent } from 'undici'
import { percentile, startAgentService } from '../setting.mjs'

const few = 10_000
const many = 1_000_000
const manyDeliveries = { postgres: 10_000_000, embedded: many }
const calls = 300
const tries = 3

const post = ({ sessionIds }, n) => ({
  method: 'POST',
  path: `/agent-sessions/${sessionIds[n % sessionIds.length]}/activities`,
  body: JSON.stringify({ content: { type: 'thought', body: 'Another thought' } }),
})
const readTail = ({ sessionIds }, n) => ({
  path: `/agent-sessions/${sessionIds[n % sessionIds.length]}/activities?after_seq=10`,
})
const sessions = (_, n) => ({ path: `/agent-sessions?limit=${50 - (n % 2)}` })
const issues = () => ({ path: '/issues' })
const issuesInStatus = () => ({ path: '/issues?status=qa' })
const deliveries = () => ({ path: '/webhooks/whk_grown1/deliveries', byPerson: true })

const measured = [
  ['POST activity', post],
  ['activities, a page', readTail],
  ['sessions, a page', sessions],
  ['issues, a page', issues],
  ['issues of one status, a page', issuesInStatus],
  ['deliveries of a webhook, a page', deliveries],
]

const names = [...measured.map(([name]) => name), 'claim of 64 deliveries']
const isOfDeliveries = (name) => name.includes('deliveries')

/** Calls whose number of rows depends on the database have a row for each. */
export const rows = [
  ...names.map((name) => row(name, isOfDeliveries(name) ? manyDeliveries.postgres : many)),
  ...names.filter(isOfDeliveries).map((name) => row(name, manyDeliveries.embedded)),
]

function row(name, count) {
  return {
    name: `${name}, at ${count.toLocaleString('en')} rows`,
    unit: 'ms',
    better: 'less',
    target: 1.2,
    floorIs: 'the same at 10,000 rows',
  }
}

export const ownDatabase = true
/** Filling takes minutes, so there is one round, and each call is measured several times. */
export const once = true

export async function run(where) {
  const server = await startAgentService('ours', withLongTimeouts(where))
  const agent = new Agent({ connections: 1 })
  try {
    await server.ask('grow', { from: 0, count: few, deliveries: few })
    const floors = await measureAll(agent, server)
    const isPostgres = where.startsWith('postgres')
    const deliveries = manyDeliveries[isPostgres ? 'postgres' : 'embedded']
    await server.ask('grow', { from: few, count: many, deliveries })
    const grown = await measureAll(agent, server)
    const all = names.map((name, index) => ({ name, floor: floors[index], ours: grown[index] }))
    const ofDeliveries = all.filter(({ name }) => isOfDeliveries(name))
    return isPostgres ? all : [...all.map((one) => (ofDeliveries.includes(one) ? undefined : one)), ...ofDeliveries]
  } finally {
    await agent.close()
    await server.stop()
  }
}

/** Filling needs a statement that runs for minutes. */
const withLongTimeouts = (where) =>
  where.startsWith('postgres') ? `${where}?statement_timeout=3600000&query_timeout=3600000` : where

async function measureAll(agent, server) {
  const best = []
  for (const [, call] of measured) {
    const medians = []
    for (let n = 0; n < tries; n++) medians.push(await median(agent, server, call))
    best.push(Math.min(...medians))
  }
  const claims = []
  for (let n = 0; n < tries; n++) claims.push(percentile(await server.ask('timeClaims'), 0.5))
  return [...best, Math.min(...claims)]
}

/** Sequential calls, so that no queueing is measured. */
async function median(agent, server, call) {
  const times = []
  for (let n = 0; n < calls * 1.5; n++) {
    const one = server.agents[n % server.agents.length]
    const { method = 'GET', path, body, byPerson } = call(one, n)
    const headers = {
      authorization: `Bearer ${byPerson ? server.person.token : one.token}`,
      'x-workspace-id': one.workspaceId,
      ...(body ? { 'content-type': 'application/json' } : {}),
    }
    const started = performance.now()
    const answer = await agent.request({ origin: server.url, path: `/api/v1${path}`, method, headers, body })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
    // The first third warms up.
    if (n >= calls / 2) times.push(performance.now() - started)
  }
  return percentile(times, 0.5)
}
