import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { findPostgres, postgresUser } from '../../scripts/postgres.mjs'
import { freePort } from './service-process.ts'

const run = promisify(execFile)

/** A PostgreSQL server on a loopback port that can be a primary or follow one. */
class ReplicaServer {
  readonly #bin: string
  readonly #dir: string
  readonly #port: number
  #process: ChildProcess | undefined

  constructor(bin: string, dir: string, port: number) {
    this.#bin = bin
    this.#dir = dir
    this.#port = port
  }

  get url() {
    return `postgres://baton@127.0.0.1:${this.#port}/postgres`
  }

  get #data() {
    return join(this.#dir, String(this.#port))
  }

  create() {
    return this.#run('initdb', ['-D', this.#data, '-U', 'baton', '-A', 'trust', '-E', 'UTF8', '--no-sync'])
  }

  copyOf(primary: ReplicaServer) {
    return this.#run('pg_basebackup', ['-D', this.#data, '-d', primary.url, '-R', '-c', 'fast', '--no-sync'])
  }

  /** For a server that was stopped. */
  follow(primary: ReplicaServer) {
    const { port } = new URL(primary.url)
    const connection = `host=127.0.0.1 port=${port} user=baton`
    appendFileSync(join(this.#data, 'postgresql.auto.conf'), `\nprimary_conninfo = '${connection}'\n`)
    writeFileSync(join(this.#data, 'standby.signal'), '')
  }

  async start() {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: this.#port,
      unix_socket_directories: this.#dir,
      fsync: 'off',
      max_connections: 150,
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const options = { ...postgresUser(), stdio: 'ignore' as const, cwd: this.#dir }
    this.#process = spawn(join(this.#bin, 'postgres'), ['-D', this.#data, ...flags], options)
    while (!(await this.#answers())) {
      if (this.#process.exitCode !== null) throw new Error('PostgreSQL did not start')
      await sleep(50)
    }
  }

  /** `fast` sends everything to the followers first. */
  async stop(how: 'fast' | 'immediate' = 'fast') {
    if (!this.#process || this.#process.exitCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await ended
  }

  /** Resolves when it accepts writes. */
  async promote() {
    await this.query('select pg_promote()')
  }

  async query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.url })
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  /** Number of connections of the service. */
  async connections() {
    const rows = await this.query<{ name: string }>(
      `select application_name as name from pg_stat_activity where application_name in ('baton', 'baton listener')`,
    )
    return rows.length
  }

  async #answers() {
    return this.query('select 1').then(
      () => true,
      () => false,
    )
  }

  #run(program: string, args: string[]) {
    return run(join(this.#bin, program), args, { ...postgresUser(), env: { ...process.env, LC_ALL: 'C.UTF-8' } })
  }
}

/** A primary and a standby that follows it. `switchOver` exchanges them. */
export class Replicas {
  readonly #dir: string
  primary: ReplicaServer
  standby: ReplicaServer

  private constructor(dir: string, primary: ReplicaServer, standby: ReplicaServer) {
    this.#dir = dir
    this.primary = primary
    this.standby = standby
  }

  static async start(): Promise<Replicas> {
    const bin = await findPostgres()
    const dir = mkdtempSync(join(tmpdir(), 'baton-replicas-'))
    const { uid, gid } = postgresUser()
    if (uid !== undefined && gid !== undefined) chownSync(dir, uid, gid)
    const [primary, standby] = [
      new ReplicaServer(bin, dir, await freePort()),
      new ReplicaServer(bin, dir, await freePort()),
    ]
    const replicas = new Replicas(dir, primary, standby)
    await primary.create()
    await primary.start()
    await standby.copyOf(primary)
    await standby.start()
    return replicas
  }

  /** Stops the primary, and promotes the standby. */
  async failOver() {
    const old = this.primary
    await old.stop('fast')
    await this.standby.promote()
    this.primary = this.standby
    this.standby = old
  }

  /** The old primary comes back as the standby. */
  async rejoin() {
    this.standby.follow(this.primary)
    await this.standby.start()
  }

  async stop() {
    await Promise.all([this.primary.stop('immediate'), this.standby.stop('immediate')])
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}

/** A URL with the hosts of several. */
export function withHosts(...urls: string[]): string {
  const [first, ...others] = urls.map((url) => new URL(url)) as [URL, ...URL[]]
  return first.href.replace(first.host, [first, ...others].map(({ host }) => host).join(','))
}
