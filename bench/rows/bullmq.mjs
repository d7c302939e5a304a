// The same deliveries as jobs of a BullMQ worker on a Redis that survives a crash. A peer, not a floor: it stores no
// attempts, has no fair sharing and tracks no receiver's health.
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once as happened } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Agent } from 'undici'
import { freePort, step } from '../../scripts/setup.mjs'
import { sampleEvent, startReceiver } from '../setting.mjs'
import { concurrency, count, drain, endpoints } from './deliveries-drained.mjs'

/** Not a dependency of Baton: only this row uses it. */
const version = '6.7.0'
const peers = fileURLToPath(new URL('../../node_modules/.cache/bench-peers', import.meta.url))

export const rows = [
  {
    name: 'deliveries drained, against BullMQ on Redis',
    unit: 'a second',
    better: 'more',
    floorIs: 'a BullMQ worker of the same concurrency, appendfsync everysec',
  },
]

export function missing() {
  const found = process.env.PATH.split(delimiter).some((dir) => existsSync(join(dir, 'redis-server')))
  return found ? undefined : 'redis-server is not installed'
}

export async function run(setting) {
  const receiver = await startReceiver()
  try {
    return [{ ours: await drain(setting, receiver), floor: await withRedis((port) => drainJobs(port, receiver)) }]
  } finally {
    receiver.stop()
  }
}

async function drainJobs(port, receiver) {
  const { Queue, Worker } = await loadBullmq()
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null }
  const queue = new Queue('deliveries', { connection })
  const envelope = { ...sampleEvent(), created_at: new Date(), workspace_id: 'wsp_bench' }
  for (let added = 0; added < count; added += 1000) {
    await queue.addBulk(
      Array.from({ length: 1000 }, (_, n) => ({
        name: 'deliver',
        data: { endpoint: (added + n) % endpoints, envelope },
        opts: { attempts: 4, removeOnComplete: 1000 },
      })),
    )
  }
  const agent = new Agent({ connections: concurrency })
  await receiver.ask('reset')
  const started = performance.now()
  const worker = new Worker('deliveries', ({ data }) => send(agent, receiver.url, data), { connection, concurrency })
  let done = 0
  await new Promise((resolve, reject) => {
    worker.on('completed', () => ++done === count && resolve())
    worker.on('failed', (_, error) => reject(error))
  })
  const seconds = (performance.now() - started) / 1000
  await worker.close()
  await queue.close()
  await agent.close()
  return count / seconds
}

async function send(agent, origin, { endpoint, envelope }) {
  const at = Date.now()
  const body = Buffer.from(JSON.stringify({ ...envelope, webhook_id: 'whk_bench', webhook_timestamp: at }))
  const signature = createHmac('sha256', 'pwhsec_bench').update(body).digest('hex')
  const answer = await agent.request({
    origin,
    path: `/hook/${endpoint}`,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'svc-signature': signature, 'svc-timestamp': String(at) },
    body,
  })
  await answer.body.dump()
  if (answer.statusCode >= 300) throw new Error(String(answer.statusCode))
}

async function loadBullmq() {
  if (!existsSync(join(peers, 'node_modules', 'bullmq'))) {
    await step('Installing BullMQ for this row', 'npm', ['install', '--prefix', peers, `bullmq@${version}`, 'ioredis'])
  }
  const entry = createRequire(join(peers, 'package.json')).resolve('bullmq')
  const { default: bullmq } = await import(pathToFileURL(entry))
  return bullmq
}

async function withRedis(work) {
  const [dir, port] = [mkdtempSync(join(tmpdir(), 'baton-redis-')), await freePort()]
  const settings = { port, bind: '127.0.0.1', dir, save: '', appendonly: 'yes', appendfsync: 'everysec' }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const redis = spawn('redis-server', flags, { stdio: 'ignore' })
  try {
    await sleep(500)
    return await work(port)
  } finally {
    const end = happened(redis, 'exit')
    redis.kill()
    await end
    rmSync(dir, { recursive: true, force: true })
  }
}
