// Two PostgreSQL servers with Patroni and three members of etcd, set up with the files of deploy/patroni.
import { spawn } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { findProgram } from '../../scripts/debian.mjs'
import { findPostgres, postgresUser } from '../../scripts/postgres.mjs'
import { freePort, root, StepFailed } from '../../scripts/setup.mjs'
import { Network } from './network.mjs'

const servers = ['db1', 'db2']
const machines = [...servers, 'witness']
const readyWithinMs = 90_000
const queryTimeoutMs = 10_000
const password = 'secret-of-baton'

const template = (name) => readFileSync(join(root, 'deploy', 'patroni', name), 'utf8')
const passwordIn = (part) => template('patroni.yml').match(new RegExp(`change-this-${part}-password`))[0]

export class Cluster {
  #network
  #dir
  #bin
  #haproxy
  #port

  static async start() {
    const cluster = new Cluster()
    cluster.#bin = await findPostgres()
    cluster.#dir = mkdtempSync(join(tmpdir(), 'baton-failover-'))
    own(cluster.#dir)
    process.once('exit', () => cluster.#remove())
    cluster.#network = new Network(machines)
    cluster.#port = await freePort()
    for (const name of machines) cluster.startMachine(name)
    cluster.#startHaproxy()
    await cluster.untilHealthy()
    const leader = await cluster.leader()
    await cluster.query(leader, `create role baton login password '${password}'`)
    await cluster.query(leader, 'create table written (text text)')
    return cluster
  }

  /** For a service that connects through HAProxy, and for one that knows both hosts, the standby first. */
  async createDatabases(name) {
    const leader = await this.leader()
    for (const route of ['proxy', 'hosts']) await this.query(leader, `create database ${name}_${route} owner baton`)
    const hosts = servers.map((server) => `${this.addressOf(server)}:5432`).join(',')
    return {
      proxy: `postgres://baton:${password}@127.0.0.1:${this.#port}/${name}_proxy`,
      hosts: `postgres://baton:${password}@${hosts}/${name}_hosts`,
    }
  }

  addressOf(name) {
    return this.#network.addressOf(name)
  }

  other(name) {
    return servers.find((server) => server !== name)
  }

  startMachine(name) {
    const own = this.addressOf(name)
    // The files are those of db1. ETCD_INITIAL_CLUSTER and the like are the same everywhere.
    const env = template('etcd.env')
      .replaceAll(/^(ETCD_NAME=).*/gm, `$1${name}`)
      .replaceAll(/^(ETCD_(?!INITIAL_CLUSTER).*?)10\.0\.0\.1/gm, `$1${own}`)
      .replace('/var/lib/etcd/baton', join(this.#folderOf(name), 'etcd'))
    const settings = this.#addresses(env)
      .split('\n')
      .filter((line) => line.startsWith('ETCD_'))
    this.#spawn(name, 'etcd', [], Object.fromEntries(settings.map((line) => line.split(/=(.*)/s).slice(0, 2))))
    if (servers.includes(name)) this.startPatroni(name)
  }

  startPatroni(name) {
    const config = template('patroni.yml')
      .replace('name: db1', `name: ${name}`)
      .replaceAll(/(listen|connect_address): 10\.0\.0\.1/g, `$1: ${this.addressOf(name)}`)
      .replace('/usr/lib/postgresql/15/bin', this.#bin)
      .replace('/var/lib/postgresql/15/baton', this.#dataOf(name))
      .replace('/var/lib/postgresql/patroni.pgpass', join(this.#folderOf(name), 'pgpass'))
      .replace('/run/postgresql', this.#folderOf(name))
    const file = join(this.#folderOf(name), 'patroni.yml')
    writeFileSync(file, this.#addresses(config))
    this.#spawn(name, 'patroni', [file])
  }

  /** Its power fails. */
  killMachine(name) {
    this.#network.cutOff(name)
    this.#network.killAll(name)
  }

  killPostgres(name) {
    process.kill(Number(readFileSync(join(this.#dataOf(name), 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL')
  }

  cutOff(name, peers) {
    this.#network.cutOff(name, peers)
  }

  reconnect(name) {
    this.#network.reconnect(name)
  }

  async switchOver(leader) {
    const response = await fetch(`http://${this.addressOf(leader)}:8008/switchover`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`patroni:${passwordIn('rest')}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ leader, candidate: this.other(leader) }),
    })
    if (!response.ok) throw new StepFailed(`the switchover was refused: ${response.status} ${await response.text()}`)
  }

  /** Resolves when one server is the primary and the other its synchronous standby. */
  async untilHealthy() {
    const deadline = Date.now() + readyWithinMs
    for (;;) {
      const members = await this.#members()
      const roles = members.map(({ role }) => role).sort()
      const isRunning = members.every(({ state }) => ['running', 'streaming'].includes(state))
      if (roles.join() === 'leader,sync_standby' && isRunning) return
      if (Date.now() > deadline) throw new StepFailed(`the cluster is not healthy: ${JSON.stringify(members)}`)
      await sleep(250)
    }
  }

  async leader() {
    return (await this.#members()).find(({ role }) => role === 'leader')?.name
  }

  async #members() {
    for (const server of servers) {
      const response = await fetch(`http://${this.addressOf(server)}:8008/cluster`, {
        signal: AbortSignal.timeout(2000),
      }).catch(() => undefined)
      if (response?.ok) return (await response.json()).members
    }
    return []
  }

  /** As the superuser. */
  async query(name, text) {
    const client = await this.connect(name)
    try {
      return (await client.query(text)).rows
    } finally {
      client.end().catch(() => {})
    }
  }

  async connect(name) {
    const client = new pg.Client({
      host: this.addressOf(name),
      port: 5432,
      user: 'postgres',
      database: 'postgres',
      password: passwordIn('superuser'),
      connectionTimeoutMillis: queryTimeoutMs,
      query_timeout: queryTimeoutMs,
    })
    client.on('error', () => {})
    await client.connect()
    return client
  }

  /** Tries to write on the machine itself, without waiting for the standby. Returns whether the server accepted it. */
  async acceptsWrites(name) {
    const url = `postgres://postgres:${passwordIn('superuser')}@${this.addressOf(name)}/postgres?connect_timeout=2`
    const args = [
      ...['netns', 'exec', this.#network.spaceOf(name), join(this.#bin, 'psql'), '-X', '-q', '-d', url],
      ...['-c', 'set synchronous_commit = local', '-c', `insert into written values ('${name}')`],
    ]
    const child = spawn('ip', args, { stdio: 'ignore', timeout: 5000 })
    return new Promise((resolve) => child.once('exit', (code) => resolve(code === 0)))
  }

  stop() {
    this.#remove()
  }

  #startHaproxy() {
    const file = join(this.#dir, 'haproxy.cfg')
    writeFileSync(
      file,
      this.#addresses(template('haproxy.cfg')).replaceAll('127.0.0.1:5000', `127.0.0.1:${this.#port}`),
    )
    this.#haproxy = spawn(findProgram('haproxy'), ['-db', '-f', file], { stdio: 'ignore' })
  }

  /** Debian's user postgres runs everything on a machine. */
  #spawn(name, program, args, env = {}) {
    const { uid, gid } = postgresUser()
    mkdirSync(this.#folderOf(name), { recursive: true, mode: 0o700 })
    own(this.#folderOf(name))
    const as = ['setpriv', '--reuid', uid, '--regid', gid, '--clear-groups', findProgram(program), ...args]
    const log = join(this.#dir, `${name}-${program}.log`)
    const command = ['netns', 'exec', this.#network.spaceOf(name), 'sh', '-c', `exec "$@" >>${log} 2>&1`, 'sh', ...as]
    spawn('ip', command.map(String), {
      stdio: 'ignore',
      cwd: this.#dir,
      env: { PATH: process.env.PATH, HOME: this.#folderOf(name), LC_ALL: 'C.UTF-8', ...env },
    })
  }

  #addresses(text) {
    return text.replaceAll('10.0.0.', `${this.#network.prefix}.`)
  }

  #folderOf(name) {
    return join(this.#dir, name)
  }

  #dataOf(name) {
    return join(this.#folderOf(name), 'data')
  }

  #remove() {
    this.#haproxy?.kill('SIGKILL')
    this.#network?.remove()
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}

function own(path) {
  const { uid, gid } = postgresUser()
  chownSync(path, uid, gid)
}
