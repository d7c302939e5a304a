import { Hostiles } from '../hostile.mjs'
import { underLoad } from '../stage.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

const mostMegabytesMore = 200

export const receivers = {
  name: 'receivers',
  says: 'a dozen receivers are silent, slow, endless or talk nonsense; the others get theirs',
  withinMs: 300_000,
  async run({ url, options }) {
    const hostiles = new Hostiles()
    try {
      return await underLoad(options, {
        start: (journal) => startRoles(['api', 'worker'], journal, postgresEnv(url)),
        strike: (company, { services: [, worker] }) => invite(company, hostiles, worker),
      })
    } finally {
      hostiles.stop()
    }
  },
}

/** They stay: recovery means that the others have the pace they had without them. */
async function invite(company, hostiles, worker) {
  const before = worker.megabytes
  for (const hostile of await hostiles.start()) await company.addWebhook(hostile)
  let most = before
  for (let round = 0; round < 4; round++) {
    await company.measure(3)
    most = Math.max(most, worker.megabytes)
  }
  const problems = []
  if (most - before > mostMegabytesMore) problems.push(`the worker grew from ${before} MB to ${most} MB`)
  if (hostiles.connections < 24) problems.push(`only ${hostiles.connections} connections were made to the hostile ones`)
  return {
    problems,
    notes: `${hostiles.connections} connections to hostile receivers, ${before} MB before, ${most} MB with them`,
  }
}
