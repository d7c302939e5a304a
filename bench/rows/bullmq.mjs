// The same deliveries as jobs of BullMQ on a Redis that survives a crash. It stores no attempts.
import { spawn } from 'node:child_process'
import { once as happened } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../scripts/setup.mjs'
import { against, jobs, loadPeer, missingPackages } from '../peers.mjs'
import { concurrency, timeDrain } from './deliveries-drained.mjs'

const queueName = 'deliveries'

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
  return found ? missingPackages() : 'redis-server is not installed'
}

export const run = (setting) =>
  against(setting, (_, receiver, post) => withRedis((port) => drainJobs(port, receiver, post)))

async function drainJobs(port, receiver, post) {
  const { Queue, Worker } = await loadPeer('bullmq')
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null }
  const queue = new Queue(queueName, { connection })
  const opts = { attempts: 4, removeOnComplete: 1000 }
  for (const some of jobs()) await queue.addBulk(some.map((data) => ({ name: 'deliver', data, opts })))
  let worker
  const perSecond = await timeDrain(
    receiver,
    () => {
      worker = new Worker(queueName, ({ data }) => post(data), { connection, concurrency })
    },
    async () => (await queue.getJobCountByTypes('waiting', 'active')) > 0,
  )
  await worker.close()
  await queue.close()
  return perSecond
}

async function withRedis(work) {
  const [dir, port] = [mkdtempSync(join(tmpdir(), 'baton-redis-')), await freePort()]
  const settings = { port, bind: '127.0.0.1', dir, save: '', appendonly: 'yes', appendfsync: 'everysec' }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const redis = spawn('redis-server', flags, { stdio: 'ignore' })
  // If the bench is killed, it cannot stop it in the normal way.
  const abandon = () => redis.kill()
  process.once('exit', abandon)
  try {
    await sleep(500)
    return await work(port)
  } finally {
    const end = happened(redis, 'exit')
    redis.kill()
    await end
    process.off('exit', abandon)
    rmSync(dir, { recursive: true, force: true })
  }
}
