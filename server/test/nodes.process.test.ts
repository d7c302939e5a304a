import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RelayedAttempt } from '@baton/protocol'
import { test as base, describe, expect } from 'vitest'
import { verifiesOnPostgres } from '../../conformance/requirements.ts'
import { withEmptyDatabase } from './empty-databases.ts'
import { Load } from './load.ts'
import { Nodes } from './nodes.ts'
import { callerAt, install, type Json, newcomer, type Outsider } from './outside.ts'
import { isSigned, Receiver } from './receiver.ts'
import { type StreamEvent, Watch } from './watch.ts'

const callsPerMinute = 60

interface Company extends Awaited<ReturnType<typeof newcomer>> {
  /** The same person through the first and the second node. */
  at: [Outsider, Outsider]
}

const test = base.extend<{ nodes: Nodes; company: Company; receiver: Receiver }>({
  nodes: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
    async ({}, use) => {
      await withEmptyDatabase(async (direct) => {
        // `npm run faults -- pgbouncer` runs these tests through PgBouncer.
        const pooler = process.env.BATON_TEST_POOLER
        const url = pooler ? direct.replace(new URL(direct).host, pooler) : direct
        const nodes = await Nodes.start(url, { BATON_API_RATE: String(callsPerMinute) })
        await use(nodes)
        await nodes.stop()
      })
    },
    { scope: 'file' },
  ],
  company: async ({ nodes, task }, use) => {
    const ada = await newcomer(nodes.proxy.url, `${task.id}@example.com`)
    await use({ ...ada, at: nodes.apis.map(({ url }) => callerAt(url, ada.headers)) as Company['at'] })
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above
  receiver: async ({}, use) => {
    const receiver = await Receiver.start()
    await use(receiver)
    await receiver.stop()
  },
})

describe('two api nodes and two worker nodes', { timeout: 120_000 }, () => {
  test('start at once on an empty database', verifiesOnPostgres('config.postgres'), async ({ nodes }) => {
    const { rows } = await nodes.db.query<{ name: string }>('select name from migrations order by name')
    const applied = nodes.all.flatMap(({ output }) =>
      [...output.matchAll(/"migration":"([^"]+)"/g)].map(([, name]) => name),
    )
    expect(applied.sort()).toEqual(rows.map(({ name }) => name))
  })

  test('share an agent session', verifiesOnPostgres(), async ({ nodes, company, receiver }) => {
    const [one, two] = company.at
    const { appUserId, headers, webhookSecret } = await install(nodes.proxy.url, company.person, receiver.url)
    const app = callerAt(nodes.apis[1].url, headers)
    const issue = (await one('POST', '/issues', { title: 'Login fails', team_id: company.teamId })).body
    const arriving = receiver.next()
    await one('PUT', `/issues/${issue.id}`, { delegate_id: appUserId })
    const created = await arriving
    expect(isSigned(created, webhookSecret)).toBe(true)
    const session = `/agent-sessions/${created.body.data.agent_session.id}`

    const posted = await app('POST', `${session}/activities`, { content: { type: 'elicitation', body: 'Which one?' } })
    expect(posted.status).toBe(201)
    expect((await one('GET', session)).body.state).toBe('awaitingInput')
    const prompting = receiver.next()
    await one('POST', `${session}/activities`, { content: { type: 'prompt', body: 'That one' } })
    expect((await prompting).body.data.agent_activity.content.body).toBe('That one')
    expect((await two('GET', session)).body.state).toBe('pending')
    expect((await app('GET', `${session}/activities`)).body.data.map(({ seq }: Json) => seq)).toEqual([1, 2])
  })

  test('show each other’s changes at once', verifiesOnPostgres(), async ({ nodes, company }) => {
    const watch = await Watch.open({ rootUrl: nodes.apis[0].url, headers: company.headers })
    const { id } = (await company.at[1]('POST', '/issues', { title: 'Made elsewhere' })).body
    const isOfIssue = (received: StreamEvent) => JSON.stringify(received).includes(id)
    for (let received = await watch.next(); !received || !isOfIssue(received); received = await watch.next()) {
      expect(received, 'the stream has ended').toBeDefined()
    }
  })

  test('relay to a listener on another node', verifiesOnPostgres('listen.across-nodes'), async ({ nodes, company }) => {
    const { appId, appUserId } = await install(nodes.proxy.url, company.person, 'https://listen.invalid/')
    const path = `/agent-apps/${appId}`
    const watch = await Watch.open({ rootUrl: nodes.apis[0].url, path: `${path}/listen`, headers: company.headers })
    expect(watch.status).toBe(200)
    const elsewhere = company.at[1]
    await elsewhere('POST', '/issues', { title: 'On another node', team_id: company.teamId, delegate_id: appUserId })
    let received = await watch.next()
    while (received && !('event' in received && received.event === 'attempt')) received = await watch.next()
    const { attempt_id } = (received as { data: RelayedAttempt }).data
    expect((await elsewhere('POST', `${path}/listen/${attempt_id}`, { status: 200 })).status).toBe(204)
    await until(async () => (await elsewhere('GET', `${path}/deliveries`)).body.data[0].status === 'succeeded')
  })

  test('count calls together', verifiesOnPostgres('config.api-rate'), async ({ nodes, company, receiver }) => {
    const { app } = await install(nodes.proxy.url, company.person, receiver.url)
    const calls = Array.from({ length: callsPerMinute + 20 }, () => app('GET', '/issues?limit=1'))
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBe(callsPerMinute)
    expect(statuses.filter((status) => status === 429).length).toBe(20)
  })

  test('store each due session transition once', verifiesOnPostgres(), async ({ nodes, company, receiver }) => {
    const { app } = await install(nodes.proxy.url, company.person, receiver.url)
    const { id: issue_id } = (await company.person('POST', '/issues', { title: 'Slow', team_id: company.teamId })).body
    const opened = await Promise.all(Array.from({ length: 40 }, () => app('POST', '/agent-sessions', { issue_id })))
    const ids: string[] = opened.map(({ body }) => body.id)
    await Promise.all(ids.slice(20).map((id) => company.person('POST', `/agent-sessions/${id}/stop`)))
    const versions = async () =>
      (await nodes.db.query('select id, version, state, ended_at from agent_sessions where id = any($1)', [ids])).rows
    const before = new Map((await versions()).map(({ id, version }) => [id, version]))
    // As if half an hour had passed.
    await nodes.db.query(
      `update agent_sessions set quiet_since = quiet_since - interval '30 min', due_at = due_at - interval '30 min',
         stopping_since = stopping_since - interval '30 min' where id = any($1)`,
      [ids],
    )
    const isDone = ({ state, ended_at }: Json) => state === 'stale' || ended_at !== null
    await until(async () => (await versions()).every(isDone))
    const after = await versions()
    expect(after.map(({ id, version }) => version - before.get(id))).toEqual(ids.map(() => 1))
    expect(after.filter(({ state }) => state === 'stale').length).toBe(20)
  })

  test(
    'deliver everything once, within the limit of attempts in flight',
    verifiesOnPostgres(),
    async ({ nodes, company, receiver }) => {
      const most = new Map<unknown, number>()
      const underWay = new Map<unknown, number>()
      receiver.answer = (response: ServerResponse, { body: { webhook_id } }) => {
        const now = (underWay.get(webhook_id) ?? 0) + 1
        underWay.set(webhook_id, now)
        most.set(webhook_id, Math.max(now, most.get(webhook_id) ?? 0))
        setTimeout(() => {
          underWay.set(webhook_id, (underWay.get(webhook_id) ?? 0) - 1)
          response.end()
        }, 30)
      }
      for (const label of ['one', 'two']) {
        await company.person('POST', '/webhooks', {
          label,
          url: receiver.url,
          all_teams: true,
          resource_types: ['Issue'],
        })
      }
      const before = await attemptsOf(nodes)
      const made = async () => (await attemptsOf(nodes)).map((count, index) => count - (before[index] ?? 0))
      const ids: string[] = []
      // Several rounds, because on a busy machine one worker may claim all deliveries of a round.
      for (let round = 0; round < 5 && !(await made()).slice(2).every(Boolean); round++) {
        const issues = Array.from({ length: 60 }, () => company.person('POST', '/issues', { title: 'One of many' }))
        for (const { body } of await Promise.all(issues)) ids.push(body.id)
        await until(async () => sum(await made()) >= 2 * ids.length)
      }

      const by = await made()
      expect(by.slice(0, 2), 'api nodes deliver nothing').toEqual([0, 0])
      expect(Math.min(...by.slice(2)), 'both workers deliver').toBeGreaterThan(0)
      expect(receiver.received.length).toBe(2 * ids.length)
      expect(new Set(receiver.received.map(({ headers }) => headers['svc-delivery'])).size).toBe(2 * ids.length)
      expect(new Set(receiver.received.map(({ body }) => body.data.id))).toEqual(new Set(ids))
      expect(Math.max(...most.values())).toBeLessThanOrEqual(8)
    },
  )

  test('run the built-in agent on a worker node', verifiesOnPostgres(), async ({ company }) => {
    const [one, two] = company.at
    const [agent] = (await one('GET', '/agents?include_deployment=true')).body.data
    await one('POST', '/issues', { title: 'It breaks', type: 'bug', delegate_id: agent.id })
    const [session] = (await one('GET', '/agent-sessions')).body.data
    const path = `/agent-sessions/${session.id}`
    await until(async () => (await two('GET', path)).body.state === 'complete')
    const { data } = (await two('GET', `${path}/activities`)).body
    expect(data.at(-1).type).toBe('response')
    expect(new Set(data.map(({ content }: Json) => JSON.stringify(content))).size).toBe(data.length)
  })

  test('keep working while a newer version migrates the database and each is restarted', {
    timeout: 300_000, // eight starts, possibly on a slow machine
    ...verifiesOnPostgres(),
  }, async ({ nodes, company, receiver }) => {
    await company.person('POST', '/webhooks', {
      label: 'All',
      url: receiver.url,
      all_teams: true,
      resource_types: ['Issue'],
    })
    const { app } = await install(nodes.proxy.url, company.person, 'https://listen.invalid/')
    const load = new Load(company.person, company.teamId, app)
    await load.until(50)
    await addColumnsOfTheFuture(nodes)
    await load.until(100)
    expect(await nodes.restartEach()).toEqual([0, 0, 0, 0])
    await load.until(50)
    await load.stop()
    expect([...load.failures]).toEqual([])

    await until(async () => receiver.received.length >= load.issueIds.length)
    const created = receiver.received.filter(({ body }) => body.action === 'create').map(({ body }) => body.data.id)
    expect(created.sort()).toEqual(load.issueIds.sort())
  })
})

/** The most that a migration may do to tables in use (docs/guides/postgres.md). */
async function addColumnsOfTheFuture({ db }: Nodes) {
  const { rows } = await db.query(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  for (const { name } of rows) {
    await db.query(
      `alter table ${name} add column from_the_future text, add column always_there int not null default 1`,
    )
  }
}

/** The number of attempts made by each process. */
async function attemptsOf({ all }: Nodes): Promise<number[]> {
  const texts = await Promise.all(all.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()))
  return texts.map((text) =>
    sum(
      [...text.matchAll(/^baton_delivery_attempt_duration_seconds_count\S* (\d+)/gm)].map(([, count]) => Number(count)),
    ),
  )
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

async function until(reached: () => Promise<boolean>) {
  while (!(await reached())) await sleep(50)
}
