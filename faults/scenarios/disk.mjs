import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { send } from '../api.mjs'
import { loadEnv } from '../company.mjs'
import { Service } from '../processes.mjs'
import { underLoad } from '../stage.mjs'

const megabyte = 1024 * 1024
const size = 320 * megabyte
/** Less than the service keeps free. */
const left = 40 * megabyte

export const disk = {
  name: 'disk',
  says: 'the disk of the embedded database fills up, and has room again',
  withinMs: 300_000,
  async run({ options }) {
    const dir = mkdtempSync(join(tmpdir(), 'baton-faults-disk-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir], { stdio: 'ignore' })
    } catch {
      rmdirSync(dir)
      return { problems: [], skipped: 'a disk of its own needs root' }
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
        strike: (company, { services: [service] }) => fill(company, service, dir),
      })
    } finally {
      process.off('exit', unmount)
      unmount()
    }
  },
}

async function fill(company, service, dir) {
  const problems = []
  const ballast = join(dir, 'ballast')
  const { bavail, bsize } = statfsSync(dir)
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - left))
  await sleep(1000)
  company.answers.clear()
  const { writes } = await company.measure(4)
  if (writes > 0) problems.push(`${writes} writes a second were acknowledged on a full disk`)
  for (const why of company.answers.keys()) {
    if (why !== 'answered 503') problems.push(`on a full disk somebody was ${why}; only 503 is honest`)
  }
  const said = await company.call('POST', '/teams', { name: 'Late', key: 'LATE' }).catch(({ message }) => message)
  if (!/disk is full/.test(said)) problems.push(`a refusal does not name the cause: ${JSON.stringify(said)}`)
  const [issueId] = company.issueIds
  for (const path of [`/issues/${issueId}`, '/issues?limit=5', '/auth/me']) {
    await company.call('GET', path).catch(({ message }) => problems.push(`on a full disk: ${message}`))
  }
  // Nor is it worse when it is killed now: it says why it does not start, and starts when there is room.
  rmSync(ballast)
  await company.measure(3)
  writeFileSync(ballast, Buffer.alloc(freeOf(dir) - left))
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
