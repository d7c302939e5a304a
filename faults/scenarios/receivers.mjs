import { Hostiles } from '../hostile.mjs'
import { underLoad } from '../under-load.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

const maxGrowthMb = 200

export const receivers = {
  name: 'receivers',
  summary: 'a dozen receivers are silent, slow, endless or send garbage; the others are not affected',
  withinMs: 300_000,
  async run({ url, options }) {
    const hostiles = new Hostiles()
    try {
      return await underLoad(options, {
        start: (journal) => startRoles(['api', 'worker'], journal, postgresEnv(url)),
        inject: (workload, { services: [, worker] }) => addHostiles(workload, hostiles, worker),
      })
    } finally {
      hostiles.stop()
    }
  },
}

/** The hostile receivers stay: recovery means that the others are as fast as without them. */
async function addHostiles(workload, hostiles, worker) {
  const before = worker.megabytes
  for (const hostile of await hostiles.start()) await workload.addWebhook(hostile)
  let most = before
  for (let round = 0; round < 4; round++) {
    await workload.measure(3)
    most = Math.max(most, worker.megabytes)
  }
  const problems = []
  if (most - before > maxGrowthMb) problems.push(`the worker grew from ${before} MB to ${most} MB`)
  if (hostiles.connections < 24) problems.push(`only ${hostiles.connections} connections to the hostile receivers`)
  return {
    problems,
    notes: `${hostiles.connections} connections to hostile receivers, ${before} MB before, ${most} MB with them`,
  }
}
