// A PostgreSQL server of our own on a free loopback port, in a temporary directory, gone when the work is done.
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, StepFailed, step } from './setup.mjs'

const debian = '/usr/lib/postgresql'
const isRoot = process.getuid?.() === 0

export async function withPostgres(work, { fsync = false } = {}) {
  const bin = await findPostgres()
  const dir = mkdtempSync(join(tmpdir(), 'baton-postgres-'))
  const data = join(dir, 'data')
  const port = await freePort()
  // PostgreSQL refuses to run as root, so root hands it to the user that Debian made for it.
  const as = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {}
  if (isRoot) chownSync(dir, as.uid, as.gid)

  const initdb = ['-D', data, '-U', 'baton', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  await step('Creating a PostgreSQL server', join(bin, 'initdb'), initdb, { as, env: { LC_ALL: 'C.UTF-8' } })
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: dir,
    fsync: fsync ? 'on' : 'off',
    max_connections: 200,
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...flags], { ...as, stdio: 'ignore', cwd: dir })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  const quit = () => server.kill('SIGQUIT') // at once: nothing of it is kept
  process.once('exit', quit)
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(1))
  const isReady = () => spawnSync(join(bin, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', port]).status === 0
  try {
    for (let tries = 0; !isReady(); tries++) {
      if (tries > 100 || server.exitCode !== null) throw new StepFailed('PostgreSQL did not start')
      await sleep(100)
    }
    return await work(`postgres://baton@127.0.0.1:${port}/postgres`)
  } finally {
    quit()
    await ended
    process.off('exit', quit)
    rmSync(dir, { recursive: true, force: true })
  }
}

async function findPostgres() {
  const installed = () =>
    existsSync(debian)
      ? readdirSync(debian)
          .sort((a, b) => b - a)
          .map((version) => join(debian, version, 'bin'))
      : []
  const found = () =>
    [...installed(), ...(process.env.PATH ?? '').split(':')].find((dir) => existsSync(join(dir, 'initdb')))
  if (!found() && isRoot && existsSync('/usr/bin/apt-get')) {
    await step('Reading package lists', 'apt-get', ['update', '-qq'])
    await step('Installing PostgreSQL', 'apt-get', ['install', '-y', '-qq', 'postgresql'], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    })
  }
  const dir = found()
  if (!dir)
    throw new StepFailed(
      'PostgreSQL is not installed (looked for initdb); install it or run the tests without --postgres',
    )
  return dir
}

const idOf = (flag) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim())
