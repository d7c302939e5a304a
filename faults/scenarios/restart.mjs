import { setTimeout as sleep } from 'node:timers/promises'
import { underLoad } from '../stage.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

const apartMs = 2000
const patienceMs = 2000

export const restart = {
  name: 'restart',
  says: 'PostgreSQL crashes, and is stopped fast and smartly; the service is left running',
  withinMs: 300_000,
  run: ({ url, database, options }) =>
    underLoad(options, {
      start: (journal) => startRoles(['api', 'worker'], journal, postgresEnv(url)),
      async strike() {
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

/** A smart stop waits for those who are connected, and we never leave: whoever asks for it asks for a fast one later. */
async function stop(database, how) {
  if (how !== 'smart') return database.stop(how)
  const stopped = database.stop('smart')
  await sleep(patienceMs)
  void database.stop('fast')
  await stopped
}
