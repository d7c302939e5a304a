import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Service } from '../processes.mjs'
import { underLoad } from '../under-load.mjs'
import { loadEnv } from '../workload.mjs'

const rounds = 2
const pauseMs = 800

async function killEach(services) {
  for (let round = 0; round < rounds; round++) {
    for (const service of services) {
      await service.untilReady()
      await sleep(pauseMs * Math.random())
      await service.kill()
    }
  }
  for (const service of services) await service.untilReady()
  return { notes: `${rounds * services.length} kills` }
}

export const killsOnEmbedded = {
  name: 'kills-embedded',
  summary: 'the only process is killed while it writes, delivers and runs agents',
  withinMs: 300_000,
  async run({ options }) {
    const dir = mkdtempSync(join(tmpdir(), 'baton-faults-'))
    const env = { ...loadEnv, BATON_DATA_DIR: dir }
    try {
      return await underLoad(options, {
        start: async (journal) => [await Service.start('all', 1, journal, env)],
        inject: (_workload, { services }) => killEach(services),
      })
    } finally {
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
    }
  },
}

export const postgresEnv = (url) => ({
  ...loadEnv,
  DATABASE_URL: url,
  BATON_SECRET_KEY: randomBytes(32).toString('base64'),
})

export const killsOnPostgres = {
  name: 'kills',
  summary: 'an api, a worker and a process of all roles are killed in turn under load',
  withinMs: 300_000,
  run: ({ url, options }) =>
    underLoad(options, {
      start: (journal) => startRoles(['api', 'worker', 'all'], journal, postgresEnv(url)),
      inject: (_workload, { services }) => killEach(services),
    }),
}

export async function startRoles(roles, journal, env) {
  const services = []
  for (const role of roles) services.push(await Service.start(role, services.length + 1, journal, env))
  return services
}
