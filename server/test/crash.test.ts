import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect } from 'vitest'
import { duplicatesOf, type Evidence, problemsOf } from '../../faults/check.mjs'
import { filledDataDir } from './empty-databases.ts'
import { test as base, verifies } from './harness.ts'
import { isSigned, type Received, type Receiver } from './receiver.ts'
import { ServiceProcess } from './service-process.ts'
import { withDatabase } from './template.ts'

// The short version of `npm run faults`.
const kills = 4
const issues = 60
const retryDelaysMs = [1000, 1000, 1000]

type Env = Record<string, string>

/** The processes of one service: one on the embedded database, two on PostgreSQL. Others take the places of the dead. */
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

  /** By each of the processes in turn, and so perhaps by one that is dead. */
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

  async killOne(round: number) {
    const index = round % this.#services.length
    await this.#services[index]?.kill('SIGKILL')
    this.#services[index] = await ServiceProcess.start(this.#env)
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

/** Some deliveries are never accepted, some not the first time; which ones follows from their ids. */
function moodyAnswers() {
  const given: number[] = []
  const seen = new Set<unknown>()
  const answer = (response: ServerResponse, { headers }: Received) => {
    const id = String(headers['svc-delivery'])
    const refused = /0$/.test(id) || (/[12]$/.test(id) && !seen.has(id))
    seen.add(id)
    given.push(refused ? 500 : 200)
    // Slowly, so that every kill finds some under way.
    setTimeout(() => response.writeHead(refused ? 500 : 200).end(), 30)
  }
  return { given, answer }
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

/** Creates issues in rounds, and kills a process in the midst of each. Returns the ids of those that were acknowledged. */
async function createAmidKills(cluster: Cluster): Promise<string[]> {
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
    await cluster.killOne(round)
    await Promise.all(posting)
  }
  return acknowledged
}

/** Every delivery, once none is pending. */
async function settledDeliveries(cluster: Cluster, webhookIds: string[]) {
  const deliveries: Evidence['deliveries'] = []
  for (const webhookId of webhookIds) {
    const path = `/webhooks/${webhookId}/deliveries`
    while ((await cluster.call('GET', `${path}?status=pending&limit=1`)).data.length > 0) await sleep(250)
    for (const delivery of await cluster.list(path)) deliveries.push({ ...delivery, webhookId })
  }
  return deliveries
}

test('processes are killed in the midst of their work, and nothing is lost', {
  timeout: 150_000, // a lease outlives its process by half a minute
  ...verifies('delivery.at-least-once', 'delivery.svc-delivery-stable'),
}, async ({ cluster, receiver }) => {
  const { given, answer } = moodyAnswers()
  receiver.answer = answer
  const secrets = await addWebhooks(cluster, receiver)
  const webhookIds = [...secrets.keys()]

  const acknowledged = await createAmidKills(cluster)
  const deliveries = await settledDeliveries(cluster, webhookIds)

  const issueIds = (await cluster.list('/issues')).map(({ id }) => id)
  const requests = receiver.received.map((received, index) => ({
    webhookId: received.body.webhook_id,
    deliveryId: String(received.headers['svc-delivery']),
    issueId: received.body.data.id,
    signed: isSigned(received, secrets.get(received.body.webhook_id) ?? ''),
    answer: given[index] as number,
  }))
  // The kills struck: some requests were answered and nobody was left to write it down.
  expect(duplicatesOf({ deliveries, requests })).toBeGreaterThan(0)
  expect(acknowledged.length).toBeGreaterThanOrEqual(issues)
  expect(problemsOf({ acknowledged, issueIds, webhookIds, deliveries, requests, retryDelaysMs })).toEqual([])
})
