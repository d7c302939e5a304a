import { setTimeout as sleep } from 'node:timers/promises'
import { underLoad } from '../under-load.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

const apartMs = 2000
const patienceMs = 2000

export const restart = {
  name: 'restart',
  summary: 'PostgreSQL crashes, and is stopped in fast and smart mode; the service keeps running',
  withinMs: 300_000,
  run: ({ url, database, options }) =>
    underLoad(options, {
      start: (journal) => startRoles(['api', 'worker', 'worker'], journal, postgresEnv(url)),
      async inject() {
        for (const how of ['immediate', 'fast', 'smart', 'immediate']) {
          await stop(database, how)
          await sleep(apartMs / 2)
          await database.start()
          await sleep(apartMs)
        }
        return { notes: 'immediate, fast, smart and immediate stop' }
      },
    }),
}

/** A smart stop waits for clients to disconnect, and the service does not. So a fast stop follows. */
async function stop(database, how) {
  if (how !== 'smart') return database.stop(how)
  const stopped = database.stop('smart')
  await sleep(patienceMs)
  void database.stop('fast')
  await stopped
}
