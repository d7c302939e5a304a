// Time from process start to ready on an existing database, and memory when idle, compared with a bare Fastify that
// opens the same database.
import { setTimeout as sleep } from 'node:timers/promises'
import { environmentOf, percentile, serviceProgram, startProgram } from '../setting.mjs'

const starts = 5
const restMs = 3000

export const rows = [
  { name: 'cold start', unit: 'ms', better: 'less', floorIs: 'a bare Fastify that opens the same database' },
  { name: 'memory at rest', unit: 'MB', better: 'less', floorIs: 'the bare Fastify' },
]

export const ownDatabase = true
/** One round is enough: it measures several starts. */
export const once = true

export async function run(where) {
  const env = environmentOf(where)
  await (await startProgram(serviceProgram, env)).stop() // migrates
  const ours = await measure(serviceProgram, env)
  const floor = await measure(new URL('../bare-service.mjs', import.meta.url), env)
  return [
    { ours: ours.readyMs, floor: floor.readyMs },
    { ours: ours.memory, floor: floor.memory },
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
  return { readyMs: percentile(readyMs, 0.5), memory }
}
