import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { underLoad } from '../stage.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

const hour = 3_600_000
const jump = fileURLToPath(new URL('../jump.mjs', import.meta.url))
/** What is under way at a jump may be sent again: at most what a worker has in its hands. */
const mostRepeats = 256

export const clock = {
  name: 'clock',
  says: 'the clock jumps forwards and backwards by an hour, while it runs and while a worker is dead',
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
        strike: (company, scene) => setClock(company, scene, set),
      })
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  },
}

/** It was an hour ahead from the beginning, so that nothing lies before the time at which the tokens were made. */
async function setClock(company, { before, ledger, services: [, worker] }, set) {
  const problems = []
  for (const hours of [0, 1]) {
    set(hours)
    await sleep(1000)
    const { writes, deliveries } = await company.measure(5)
    if (writes < 0.9 * before.writes || deliveries < 0.8 * before.deliveries)
      problems.push(`set to ${hours}: ${writes} writes, ${deliveries} deliveries a second`)
  }
  // The claims of the dead end an hour later than they should.
  await worker.kill()
  set(0)
  await worker.untilReady()
  await sleep(3000)
  for (const id of company.sessionIds) {
    const { state, ended_at } = await company.call('GET', `/agent-sessions/${id}`)
    if (ended_at || state === 'stale') problems.push(`session ${id}, which speaks all the time, is ${state}`)
  }
  if (ledger.repeats > mostRepeats) problems.push(`${ledger.repeats} deliveries were sent more than once`)
  return { problems, notes: 'back, forwards and back by an hour' }
}
