import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect } from 'vitest'
import { duplicatesOf, type Evidence, problemsOf } from '../../faults/check.mjs'
import { filledDataDir } from './empty-databases.ts'
import { test as base, verifies } from './harness.ts'
import { withDatabase } from './postgres.ts'
import { isSigned, type Received, type Receiver } from './receiver.ts'
import { ServiceProcess } from './service-process.ts'

// The short version of `npm run faults`. On PostgreSQL the first kill ends both processes, the second one of them.
const kills = process.env.BATON_LONG ? 4 : 2
const issues = 15 * kills
const retryDelaysMs = [1000, 1000, 1000]

type Env = Record<string, string>

/** The processes of one service: one on the embedded database, two on PostgreSQL. Killed ones are replaced. */
class Cluster {
  readonly #env: Env
  readonly #services: ServiceProcess[] = []
  #headers: Env = {}
  #turn = 0

  constructor(env: Env) {
    this.#env = env
  }

  async start(processes: number) {
    for (let index = 0; index < processes; index++) this.#services.push(await ServiceProcess.start(this.#env))
    const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
    const { token } = await this.call('POST', '/auth/sign-up', ann)
    this.#headers = { authorization: `Bearer ${token}` }
    const { id } = await this.call('POST', '/workspaces', { name: 'Acme' })
    this.#headers = { ...this.#headers, 'x-workspace-id': id }
  }

  /** Calls the processes in turn, possibly one that is dead. */
  call(method: string, path: string, body?: unknown) {
    const service = this.#services[this.#turn++ % this.#services.length] as ServiceProcess
    return service.call(method, path, body, this.#headers)
  }

  async list(path: string) {
    const all = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await this.call('GET', `${path}?limit=100${cursor && `&cursor=${cursor}`}`)
      all.push(...page.data)
      cursor = page.next_cursor
    }
    return all
  }

  /** Kills all processes in every other round, else one. Returns a function that starts replacements. */
  async kill(round: number): Promise<() => Promise<void>> {
    const all = [...this.#services.keys()]
    const dead = round % 2 === 0 ? all : [round % all.length]
    await Promise.all(dead.map((index) => this.#services[index]?.kill('SIGKILL')))
    return async () => {
      for (const index of dead) this.#services[index] = await ServiceProcess.start(this.#env)
    }
  }

  async stop() {
    for (const service of this.#services) await service.kill('SIGKILL')
  }
}

async function onEmbedded(use: (env: Env) => Promise<void>) {
  const dir = await filledDataDir()
  await use({ BATON_DATA_DIR: dir })
  rmSync(dir, { recursive: true, force: true })
}

async function onPostgres(url: string, use: (env: Env) => Promise<void>) {
  const name = `baton_crash_${randomBytes(6).toString('hex')}`
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`create database ${name}`)
  await use({ DATABASE_URL: withDatabase(url, name), BATON_SECRET_KEY: randomBytes(32).toString('base64') })
  await admin.query(`drop database ${name} with (force)`)
  await admin.end()
}

const test = base.extend<{ cluster: Cluster }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
  cluster: async ({}, use) => {
    const url = process.env.DATABASE_URL
    const work = async (env: Env) => {
      const retries = { BATON_RETRY_DELAYS: retryDelaysMs.map((ms) => ms / 1000).join() }
      const cluster = new Cluster({ ...env, ...retries, BATON_WEBHOOK_ALLOW: 'localhost' })
      await cluster.start(url ? 2 : 1)
      await use(cluster)
      await cluster.stop()
    }
    await (url ? onPostgres(url, work) : onEmbedded(work))
  },
})

/** Refuses some deliveries always and some only at the first attempt. The ids decide which. */
class MoodyAnswers {
  readonly given: number[] = []
  readonly #seen = new Set<string>()
  #withheld: ((send: () => void) => void) | undefined

  readonly answer = (response: ServerResponse, { headers }: Received) => {
    const id = String(headers['svc-delivery'])
    const refused = /0$/.test(id) || (/[12]$/.test(id) && !this.#seen.has(id))
    this.#seen.add(id)
    this.given.push(refused ? 500 : 200)
    const send = () => response.writeHead(refused ? 500 : 200).end()
    if (this.#withheld) this.#withheld(send)
    else setTimeout(send, 30) // a delay, so that more requests are in progress at a kill
    this.#withheld = undefined
  }

  /** Resolves when the next request arrives, with a function that sends its answer. */
  withheldNext() {
    return new Promise<() => void>((resolve) => {
      this.#withheld = resolve
    })
  }
}

async function addWebhooks(cluster: Cluster, { url }: Receiver): Promise<Map<string, string>> {
  const secrets = new Map<string, string>()
  for (const label of ['one', 'two']) {
    const webhook = { label, url, all_teams: true, resource_types: ['Issue'] }
    const { id, secret } = await cluster.call('POST', '/webhooks', webhook)
    secrets.set(id, secret)
  }
  return secrets
}

/** Creates issues in rounds, and kills processes during each. Returns the ids of the acknowledged issues. */
async function createAmidKills(cluster: Cluster, answers: MoodyAnswers): Promise<string[]> {
  const acknowledged: string[] = []
  const post = async (until: number) => {
    while (acknowledged.length < until) {
      const issue = await cluster.call('POST', '/issues', { title: 'Found by chance' }).catch(() => sleep(20))
      if (issue) acknowledged.push(issue.id)
    }
  }
  for (let round = 0; round < kills; round++) {
    const before = acknowledged.length
    const posting = Array.from({ length: 4 }, () => post(before + issues / kills))
    while (acknowledged.length < before + issues / kills / 2) await sleep(1)
    const sendAnswer = await answers.withheldNext()
    const startOthers = await cluster.kill(round)
    sendAnswer()
    await startOthers()
    await Promise.all(posting)
  }
  return acknowledged
}

/** Waits until no delivery is pending, and returns all. */
async function settledDeliveries(cluster: Cluster, webhookIds: string[]) {
  const deliveries: Evidence['deliveries'] = []
  for (const webhookId of webhookIds) {
    const path = `/webhooks/${webhookId}/deliveries`
    while ((await cluster.call('GET', `${path}?status=pending&limit=1`)).data.length > 0) await sleep(250)
    for (const delivery of await cluster.list(path)) deliveries.push({ ...delivery, webhookId })
  }
  return deliveries
}

test('nothing is lost when processes are killed during their work', {
  timeout: 150_000, // a lease outlives its process by half a minute
  ...verifies('delivery.at-least-once', 'delivery.svc-delivery-stable'),
}, async ({ cluster, receiver }) => {
  const answers = new MoodyAnswers()
  receiver.answer = answers.answer
  const secrets = await addWebhooks(cluster, receiver)
  const webhookIds = [...secrets.keys()]

  const acknowledged = await createAmidKills(cluster, answers)
  const deliveries = await settledDeliveries(cluster, webhookIds)

  const issueIds = (await cluster.list('/issues')).map(({ id }) => id)
  const requests = receiver.received.map((received, index) => ({
    webhookId: received.body.webhook_id,
    deliveryId: String(received.headers['svc-delivery']),
    issueId: received.body.data.id,
    signed: isSigned(received, secrets.get(received.body.webhook_id) ?? ''),
    answer: answers.given[index] as number,
  }))
  // Some processes were killed before they could write an answer, so those deliveries were sent again.
  expect(duplicatesOf({ deliveries, requests })).toBeGreaterThan(0)
  expect(acknowledged.length).toBeGreaterThanOrEqual(issues)
  expect(problemsOf({ acknowledged, issueIds, webhookIds, deliveries, requests, retryDelaysMs })).toEqual([])
})
