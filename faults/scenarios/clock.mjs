import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { underLoad } from '../under-load.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

const hour = 3_600_000
const jump = fileURLToPath(new URL('../jump.mjs', import.meta.url))
/** Deliveries in flight at a jump may be sent again: at most the slots of a worker. */
const maxRepeats = 256

export const clock = {
  name: 'clock',
  summary: 'the clock jumps forwards and backwards by an hour, while it runs and while a worker is dead',
  withinMs: 300_000,
  async run({ url, options }) {
    const dir = mkdtempSync(join(tmpdir(), 'baton-faults-clock-'))
    const file = join(dir, 'offset')
    const set = (hours) => writeFileSync(file, String(hours * hour))
    set(1)
    try {
      const env = { ...postgresEnv(url), NODE_OPTIONS: `--import=${jump}`, FAULTS_CLOCK: file }
      return await underLoad(options, {
        start: (journal) => startRoles(['api', 'worker'], journal, env),
        inject: (workload, scene) => setClock(workload, scene, set),
      })
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  },
}

/** The clock starts an hour ahead, so that it is never set before the creation of the tokens. */
async function setClock(workload, { before, ledger, services: [, worker] }, set) {
  const problems = []
  for (const hours of [0, 1]) {
    set(hours)
    await sleep(1000)
    const { writes, deliveries } = await workload.measure(5)
    if (writes < 0.9 * before.writes || deliveries < 0.8 * before.deliveries)
      problems.push(`set to ${hours}: ${writes} writes, ${deliveries} deliveries per second`)
  }
  // The leases of the dead worker expire an hour too late.
  await worker.kill()
  set(0)
  await worker.untilReady()
  await sleep(3000)
  for (const id of workload.sessionIds) {
    const { state, ended_at } = await workload.call('GET', `/agent-sessions/${id}`)
    if (ended_at || state === 'stale') problems.push(`session ${id} posts all the time and is ${state}`)
  }
  if (ledger.repeats > maxRepeats) problems.push(`${ledger.repeats} deliveries were sent more than once`)
  return { problems, notes: 'back, forwards and back by an hour' }
}
