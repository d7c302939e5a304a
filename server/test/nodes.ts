import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { RoundRobin } from './round-robin.ts'
import { freePort, ServiceProcess } from './service-process.ts'

const roles = ['api', 'api', 'worker', 'worker'] as const

/** A service of four processes on one PostgreSQL, two with the role api and two workers, behind a proxy. */
export class Nodes {
  readonly proxy: RoundRobin
  readonly db: pg.Client
  readonly #env: Record<string, string>
  readonly #processes: ServiceProcess[] = []

  private constructor(proxy: RoundRobin, databaseUrl: string, env: Record<string, string>) {
    this.proxy = proxy
    this.db = new pg.Client({ connectionString: databaseUrl })
    this.#env = {
      DATABASE_URL: databaseUrl,
      BATON_SECRET_KEY: randomBytes(32).toString('base64'),
      BATON_ROOT_URL: proxy.url,
      BATON_WEBHOOK_ALLOW: 'localhost',
      // Forty times as long as the proxy's check interval.
      BATON_STOP_DELAY: '2',
      ...env,
    }
  }

  /** Starts all processes at once, as on a first deployment. */
  static async start(databaseUrl: string, env: Record<string, string>): Promise<Nodes> {
    const nodes = new Nodes(await RoundRobin.start(), databaseUrl, env)
    await nodes.db.connect()
    for (const role of roles) nodes.#processes.push(await nodes.#begin(role))
    await Promise.all(nodes.#processes.map((node) => node.ready()))
    await Promise.all(nodes.apis.map(({ url }) => nodes.proxy.add(url)))
    return nodes
  }

  get all(): readonly ServiceProcess[] {
    return this.#processes
  }

  get apis() {
    return this.#processes.slice(0, 2) as [ServiceProcess, ServiceProcess]
  }

  get workers() {
    return this.#processes.slice(2) as [ServiceProcess, ServiceProcess]
  }

  /** Restarts an api and a worker process at a time, as if they shared a machine. Returns the exit codes. */
  async restartEach() {
    const exitCodes: (number | null)[] = []
    for (const machine of [0, 1]) {
      exitCodes.push(...(await Promise.all([this.#restart(machine), this.#restart(machine + 2)])))
      await this.proxy.until(() => this.proxy.ready.length === 2)
    }
    return exitCodes
  }

  async #restart(index: number) {
    const old = this.#processes[index] as ServiceProcess
    const exitCode = await old.kill('SIGTERM')
    const fresh = await this.#begin(roles[index] as string, Number(new URL(old.url).port))
    this.#processes[index] = fresh
    await fresh.ready()
    return exitCode
  }

  async stop() {
    await Promise.all(this.#processes.map((node) => node.kill('SIGKILL')))
    this.proxy.stop()
    await this.db.end()
  }

  async #begin(role: string, port?: number) {
    return new ServiceProcess(port ?? (await freePort()), { ...this.#env, BATON_ROLE: role })
  }
}
