// Runs a temporary PostgreSQL server on a free loopback port, and removes it afterwards.
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, run, StepFailed, step } from './setup.mjs'

const debian = '/usr/lib/postgresql'
const isRoot = process.getuid?.() === 0

const signals = ['SIGTERM', 'SIGINT']

/**
 * `work` gets the server's URL and functions to stop, start and restart it, to create databases and to cut connections.
 * `serverBin` is the folder of another server's programs than those of the installed one.
 */
export async function withPostgres(work, { fsync = false, serverBin } = {}) {
  const bin = await findPostgres()
  const dir = mkdtempSync(join(tmpdir(), 'baton-postgres-'))
  const as = postgresUser()
  if (isRoot) chownSync(dir, as.uid, as.gid)
  const server = new Server({ server: serverBin ?? bin, client: bin }, dir, as, await freePort(), fsync)
  const remove = () => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  const abandon = () => {
    server.quit()
    remove()
  }
  process.once('exit', abandon)
  const leave = () => process.exit(1)
  for (const signal of signals) process.once(signal, leave)
  try {
    await server.create()
    await server.start()
    return await work(server.url, {
      async restart() {
        await server.stop()
        await server.start()
      },
      stop: (how) => server.stop(how),
      start: () => server.start(),
      create: (name) => server.createDatabase(name),
      cutConnections: () => server.cutConnections(),
    })
  } finally {
    await server.stop()
    process.off('exit', abandon)
    for (const signal of signals) process.off(signal, leave)
    remove()
  }
}

class Server {
  #bin
  #dir
  #as
  #port
  #flags
  #process
  #ended

  constructor(bin, dir, as, port, fsync) {
    this.#bin = bin
    this.#dir = dir
    this.#as = as
    this.#port = port
    const settings = {
      listen_addresses: '127.0.0.1',
      port,
      unix_socket_directories: dir,
      fsync: fsync ? 'on' : 'off',
      max_connections: 200,
    }
    this.#flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  }

  get url() {
    return `postgres://baton@127.0.0.1:${this.#port}/postgres`
  }

  get #data() {
    return join(this.#dir, 'data')
  }

  create() {
    const args = ['-D', this.#data, '-U', 'baton', '-A', 'trust', '-E', 'UTF8', '--no-sync']
    const options = { as: this.#as, env: { LC_ALL: 'C.UTF-8' } }
    return step('Creating a PostgreSQL server', join(this.#bin.server, 'initdb'), args, options)
  }

  /** Resolves when it accepts connections. */
  async start() {
    const server = spawn(join(this.#bin.server, 'postgres'), ['-D', this.#data, ...this.#flags], {
      ...this.#as,
      stdio: 'ignore',
      cwd: this.#dir,
    })
    this.#process = server
    this.#ended = new Promise((resolve) => server.once('exit', resolve))
    const ready = ['-q', '-h', '127.0.0.1', '-p', this.#port]
    for (let tries = 0; (await run(join(this.#bin.client, 'pg_isready'), ready)).code !== 0; tries++) {
      if (tries > 100 || server.exitCode !== null) throw new StepFailed('PostgreSQL did not start')
      await sleep(100)
    }
  }

  /** Immediately and without a checkpoint, as in a crash. */
  quit() {
    this.#process?.kill('SIGQUIT')
  }

  /** `fast` ends connections and writes a checkpoint; `smart` waits until all clients have disconnected. */
  async stop(how = 'immediate') {
    this.#process?.kill({ immediate: 'SIGQUIT', fast: 'SIGINT', smart: 'SIGTERM' }[how])
    await this.#ended
  }

  async createDatabase(name) {
    await this.#psql(`create database ${name}`)
    return this.url.replace(/[^/]*$/, name)
  }

  async cutConnections() {
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`
    await this.#psql(cut)
  }

  async #psql(statement) {
    const { code, output } = await run(join(this.#bin.client, 'psql'), ['-q', '-d', this.url, '-c', statement])
    if (code !== 0) throw new StepFailed(`psql failed: ${output}`)
  }
}

/** The folder of its programs. Installs it if it is missing. */
export async function findPostgres() {
  if (!installedPostgres() && isRoot && existsSync('/usr/bin/apt-get')) {
    await step('Reading package lists', 'apt-get', ['update', '-qq'])
    await step('Installing PostgreSQL', 'apt-get', ['install', '-y', '-qq', 'postgresql'], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    })
  }
  const dir = installedPostgres()
  if (!dir)
    throw new StepFailed(
      'PostgreSQL is not installed (looked for initdb); install it or run the tests without --postgres',
    )
  return dir
}

/** The folder of its programs, if there is one. */
export function installedPostgres() {
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => b - a) : []
  const folders = [...versions.map((version) => join(debian, version, 'bin')), ...(process.env.PATH ?? '').split(':')]
  return folders.find((dir) => existsSync(join(dir, 'initdb')))
}

/** PostgreSQL refuses to run as root, so root runs it as Debian's user postgres. */
export const postgresUser = () => (isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {})

const idOf = (flag) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim())
