import { setTimeout as sleep } from 'node:timers/promises'
import { Middleman } from '../middleman.mjs'
import { underLoad } from '../stage.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

/** Ten seconds for a connection, thirty for a statement, and some for a busy machine. */
const longestAnswerMs = 48_000
const silentMs = 33_000

export const links = {
  name: 'links',
  says: 'connections to PostgreSQL are cut, refused, and go silent without a word',
  withinMs: 300_000,
  async run({ url, options }) {
    const middleman = await Middleman.start(url)
    try {
      return await underLoad(options, {
        start: (journal) => startRoles(['api', 'worker'], journal, postgresEnv(middleman.urlOf(url))),
        strike: (company) => breakLinks(company, middleman),
      })
    } finally {
      middleman.stop()
    }
  },
}

async function breakLinks(company, middleman) {
  middleman.cut()
  await sleep(2000)
  middleman.refuse(true)
  middleman.cut()
  await sleep(3000)
  middleman.refuse(false)
  await sleep(2000)
  company.slowestMs = 0
  middleman.silence({ also: true })
  await sleep(silentMs)
  middleman.hearAgain()
  await sleep(2000)
  const slowest = Math.round(company.slowestMs / 1000)
  const problems = company.slowestMs > longestAnswerMs ? [`a request was answered after ${slowest} s`] : []
  return { problems, notes: `while silent the slowest answer took ${slowest} s` }
}
