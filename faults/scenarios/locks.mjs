import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { underLoad } from '../under-load.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

/** Wait for a lock, plus wait for a connection while others wait for locks. */
const longestAnswerMs = 18_000
const heldMs = 8000

export const locks = {
  name: 'locks',
  summary: 'an open transaction holds locks that the service needs',
  withinMs: 300_000,
  run: ({ url, options }) =>
    underLoad(options, {
      start: (journal) => startRoles(['api', 'worker'], journal, postgresEnv(url)),
      inject: (workload, { before }) => hold(workload, before, url),
    }),
}

async function hold(workload, before, url) {
  const [webhookId] = workload.webhookIds
  const problems = []
  const seen = []
  const holds = [
    {
      what: 'an endpoint',
      statement: `select from endpoints where id = '${webhookId}' for no key update`,
      share: 0.9,
    },
    {
      what: 'a session',
      statement: `select from agent_sessions where id = '${workload.sessionIds[0]}' for update`,
      share: 0.6,
    },
    { what: 'all issues', statement: 'lock table issues in exclusive mode', share: 0.2 },
  ]
  for (const { what, statement, share } of holds) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    workload.slowestMs = 0
    await client.query('begin')
    await client.query(statement)
    const [{ writes }] = await Promise.all([workload.measure(5), sleep(heldMs)])
    await client.query('rollback')
    await client.end()
    await sleep(2500)
    const slowest = Math.round(workload.slowestMs / 100) / 10
    seen.push(`${what} held: ${writes}/s, slowest ${slowest} s`)
    if (workload.slowestMs > longestAnswerMs) problems.push(`with ${what} held, an answer took ${slowest} s`)
    const least = share * before.writes
    if (writes < least) problems.push(`with ${what} held, ${writes} writes per second; expected at least ${least}`)
  }
  for (const why of workload.answers.keys()) {
    if (why !== 'answered 503') problems.push(`a request was ${why}; expected 503`)
  }
  return { problems, notes: seen.join(', ') }
}
