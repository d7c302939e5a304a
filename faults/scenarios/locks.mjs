import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { underLoad } from '../stage.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

/** The wait for a lock, and that for a connection while others wait for locks. */
const longestAnswerMs = 18_000
const heldMs = 8000

export const locks = {
  name: 'locks',
  says: 'somebody leaves a transaction open that holds what the service needs',
  withinMs: 300_000,
  run: ({ url, options }) =>
    underLoad(options, {
      start: (journal) => startRoles(['api', 'worker'], journal, postgresEnv(url)),
      strike: (company, { before }) => hold(company, before, url),
    }),
}

async function hold(company, before, url) {
  const [webhookId] = company.webhookIds
  const problems = []
  const seen = []
  const holds = [
    {
      what: 'an endpoint',
      statement: `select from endpoints where id = '${webhookId}' for no key update`,
      rest: 0.9,
    },
    {
      what: 'a session',
      statement: `select from agent_sessions where id = '${company.sessionIds[0]}' for update`,
      rest: 0.6,
    },
    { what: 'all issues', statement: 'lock table issues in exclusive mode', rest: 0.2 },
  ]
  for (const { what, statement, rest } of holds) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    company.slowestMs = 0
    await client.query('begin')
    await client.query(statement)
    const [{ writes }] = await Promise.all([company.measure(5), sleep(heldMs)])
    await client.query('rollback')
    await client.end()
    await sleep(2500)
    const slowest = Math.round(company.slowestMs / 100) / 10
    seen.push(`${what} held: ${writes}/s, slowest ${slowest} s`)
    if (company.slowestMs > longestAnswerMs) problems.push(`with ${what} held, an answer took ${slowest} s`)
    const least = rest * before.writes
    if (writes < least) problems.push(`with ${what} held, ${writes} writes a second went on; ${least} should`)
  }
  for (const why of company.answers.keys()) {
    if (why !== 'answered 503') problems.push(`somebody was ${why}; only 503 is honest here`)
  }
  return { problems, notes: seen.join(', ') }
}
