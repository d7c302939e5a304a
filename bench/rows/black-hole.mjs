// Delay at healthy endpoints while another one never answers and has 10,000 due, compared with the delay without it.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { addEndpoints, percentile, sampleEvent } from '../setting.mjs'

const healthy = 10
/** Not measured: first connections and code that is not compiled yet. */
const warmUps = 20
const events = 200
const everyMs = 30
const due = 10_000

export const rows = [
  {
    name: 'p99 of healthy endpoints while another never answers',
    unit: 'ms',
    better: 'less',
    target: 2,
    floorIs: 'the same without that endpoint, which has 10,000 due',
  },
]

export const run = async (setting) => [{ ours: await measure(setting, true), floor: await measure(setting, false) }]

async function measure(setting, withHole) {
  const { db, sql, ctx, record } = setting
  const took = []
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      if (request.url === '/black-hole') return
      took.push(performance.now() - Number(JSON.parse(Buffer.concat(chunks)).data.title))
      response.end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${server.address().port}`
  const worker = setting.startWorker()
  try {
    if (withHole) {
      const hole = await addEndpoints(setting, [`${url}/black-hole`])
      const many = Array.from({ length: 100 }, () => sampleEvent())
      for (let made = 0; made < due; made += many.length) {
        await db.tx((tx) =>
          record({ tx, now: ctx.clock.now(), caller: { id: null, workspaceId: hole.workspaceId } }, many),
        )
      }
    }
    const { workspaceId } = await addEndpoints(
      setting,
      Array.from({ length: healthy }, (_, index) => `${url}/${index}`),
    )
    const recordEvents = async (times) => {
      const all = took.length + times * healthy
      for (let n = 0; n < times; n++) {
        await sleep(everyMs)
        // The event carries the time of its commit.
        const event = sampleEvent(String(performance.now()))
        await db.tx((tx) => record({ tx, now: ctx.clock.now(), caller: { id: null, workspaceId } }, [event]))
      }
      while (took.length < all) await sleep(10)
    }
    await recordEvents(warmUps)
    took.length = 0
    await recordEvents(events)
    return percentile(took, 0.99)
  } finally {
    await db.run(sql`update endpoints set deleted_at = ${ctx.clock.now()}, next_due_at = null`)
    server.closeAllConnections()
    await worker.stop()
    server.close()
  }
}
