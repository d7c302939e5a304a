// Time from the commit of a change to the arrival of its webhook, on an idle service, compared with one INSERT and one POST.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { addEndpoints, percentile, sampleEvent } from '../setting.mjs'

const samples = 200

export const rows = [
  {
    name: 'commit to first byte, idle, p50',
    unit: 'ms',
    better: 'less',
    target: 2,
    embeddedTarget: 2.5,
    floorIs: 'one INSERT and one bare POST in sequence',
  },
]

export async function run(setting) {
  let arrived
  // In this process, so that both times are from one clock.
  const server = createServer((request, response) => {
    arrived?.(performance.now())
    request.resume().on('end', () => response.end())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${server.address().port}`
  const arrival = () =>
    new Promise((resolve) => {
      arrived = resolve
    })
  try {
    return [{ ours: await ours(setting, url, arrival), floor: await floor(setting, url, arrival) }]
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function ours(setting, url, arrival) {
  const { db, ctx, record } = setting
  const { workspaceId } = await addEndpoints(setting, [`${url}/hook`])
  const worker = setting.startWorker()
  const took = []
  for (let sample = 0; sample < samples; sample++) {
    await sleep(10)
    const arriving = arrival()
    await db.tx((tx) => record({ tx, now: ctx.clock.now(), caller: { id: null, workspaceId } }, [sampleEvent()]))
    const committed = performance.now()
    took.push((await arriving) - committed)
  }
  await worker.stop()
  return percentile(took, 0.5)
}

async function floor({ db, sql }, url, arrival) {
  const agent = new Agent()
  await db.run(sql`create table if not exists bench_notes (id bigserial primary key, body json)`)
  const body = JSON.stringify(sampleEvent())
  const took = []
  for (let sample = 0; sample < samples; sample++) {
    await sleep(10)
    const arriving = arrival()
    const started = performance.now()
    await db.run(sql`insert into bench_notes (body) values (${body}::json)`)
    const answer = await agent.request({ origin: url, path: '/', method: 'POST', body })
    took.push((await arriving) - started)
    await answer.body.dump()
  }
  await agent.close()
  return percentile(took, 0.5)
}
