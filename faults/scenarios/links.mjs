import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseProxy } from '../database-proxy.mjs'
import { underLoad } from '../under-load.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

/** Ten seconds for a connection, thirty for a statement, and a margin for a busy machine. */
const longestAnswerMs = 48_000
const silentMs = 33_000

export const links = {
  name: 'links',
  summary: 'connections to PostgreSQL are cut, refused and silenced',
  withinMs: 300_000,
  async run({ url, options }) {
    const proxy = await DatabaseProxy.start(url)
    try {
      return await underLoad(options, {
        start: (journal) => startRoles(['api', 'worker'], journal, postgresEnv(proxy.urlOf(url))),
        inject: (workload) => breakLinks(workload, proxy),
      })
    } finally {
      proxy.stop()
    }
  },
}

async function breakLinks(workload, proxy) {
  proxy.cut()
  await sleep(2000)
  proxy.refuse(true)
  proxy.cut()
  await sleep(3000)
  proxy.refuse(false)
  await sleep(2000)
  workload.slowestMs = 0
  proxy.silence({ includingNew: true })
  await sleep(silentMs)
  proxy.resume()
  await sleep(2000)
  const slowest = Math.round(workload.slowestMs / 1000)
  const problems = workload.slowestMs > longestAnswerMs ? [`a request was answered after ${slowest} s`] : []
  return { problems, notes: `while silent the slowest answer took ${slowest} s` }
}
