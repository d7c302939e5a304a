import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { send } from '../api.mjs'
import { Service } from '../processes.mjs'
import { underLoad } from '../under-load.mjs'
import { loadEnv } from '../workload.mjs'

const megabyte = 1024 * 1024
const size = 320 * megabyte
/** Less than the service keeps free. */
const bytesLeft = 40 * megabyte

export const disk = {
  name: 'disk',
  summary: 'the disk of the embedded database fills up and is freed again',
  withinMs: 300_000,
  async run({ options }) {
    const dir = mkdtempSync(join(tmpdir(), 'baton-faults-disk-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir], { stdio: 'ignore' })
    } catch {
      rmdirSync(dir)
      return { problems: [], skipped: 'mounting a disk needs root' }
    }
    const unmount = () => {
      execFileSync('umount', ['-l', dir])
      rmdirSync(dir)
    }
    process.once('exit', unmount)
    try {
      const env = { ...loadEnv, BATON_DATA_DIR: join(dir, 'data') }
      return await underLoad(options, {
        start: async (journal) => [await Service.start('all', 1, journal, env)],
        inject: (workload, { services: [service] }) => fill(workload, service, dir),
      })
    } finally {
      process.off('exit', unmount)
      unmount()
    }
  },
}

async function fill(workload, service, dir) {
  const problems = []
  const ballast = join(dir, 'ballast')
  const { bavail, bsize } = statfsSync(dir)
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - bytesLeft))
  await sleep(1000)
  workload.answers.clear()
  const { writes } = await workload.measure(4)
  if (writes > 0) problems.push(`${writes} writes per second were acknowledged on a full disk`)
  for (const why of workload.answers.keys()) {
    if (why !== 'answered 503') problems.push(`on a full disk a write was ${why}; expected 503`)
  }
  const refusal = await workload.call('POST', '/teams', { name: 'Late', key: 'LATE' }).catch(({ message }) => message)
  if (!/disk is full/.test(refusal)) problems.push(`a refusal does not name the cause: ${JSON.stringify(refusal)}`)
  const [issueId] = workload.issueIds
  for (const path of [`/issues/${issueId}`, '/issues?limit=5', '/auth/me']) {
    await workload.call('GET', path).catch(({ message }) => problems.push(`on a full disk: ${message}`))
  }
  // Killed on a full disk, it does not start until the disk is freed.
  rmSync(ballast)
  await workload.measure(3)
  writeFileSync(ballast, Buffer.alloc(freeOf(dir) - bytesLeft))
  await sleep(500)
  await service.kill()
  await sleep(2500)
  const up = await send(service, 'GET', '/issues', undefined, {}).catch(({ status }) => status)
  if (up !== undefined) problems.push('it started on a full disk')
  rmSync(ballast)
  await service.untilReady()
  return { problems, notes: '503 and reads while full, no start while full' }
}

function freeOf(dir) {
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}
