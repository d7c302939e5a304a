// Time from process start to ready on an existing database, and memory when idle, compared with a bare Fastify that
// opens the same database.
import { setTimeout as sleep } from 'node:timers/promises'
import { environmentOf, percentile, serviceProgram, startProgram } from '../setting.mjs'

const starts = 5
const restMs = 3000

export const rows = [
  {
    name: 'cold start',
    unit: 'ms',
    better: 'less',
    target: 2.5,
    embeddedTarget: 2.5,
    floorIs: 'a bare Fastify that opens the same database',
  },
  { name: 'memory at rest', unit: 'MB', better: 'less', target: 1.6, floorIs: 'the bare Fastify' },
  { name: 'second start', unit: 'ms', better: 'less', embeddedTarget: 1, floorIs: 'an absolute limit' },
]

export const ownDatabase = true
/** For the start after the one that creates the embedded database. */
const secondStartWithinMs = 2000

export async function run(where) {
  const env = environmentOf(where)
  await (await startProgram(serviceProgram, env)).stop() // migrates
  const ours = await measure(serviceProgram, env)
  const floor = await measure(new URL('../bare-service.mjs', import.meta.url), env)
  return [
    { ours: ours.readyMs, floor: floor.readyMs },
    { ours: ours.memory, floor: floor.memory },
    where.startsWith('postgres') ? undefined : { ours: ours.firstMs, floor: secondStartWithinMs },
  ]
}

async function measure(program, env) {
  const readyMs = []
  let memory
  for (let start = 1; start <= starts; start++) {
    const running = await startProgram(program, env)
    readyMs.push(running.readyMs)
    if (start === starts) {
      await sleep(restMs)
      memory = running.memory()
    }
    await running.stop()
  }
  return { readyMs: percentile(readyMs, 0.5), firstMs: readyMs[0], memory }
}
