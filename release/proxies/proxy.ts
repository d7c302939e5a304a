import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { debianProgram } from '../../scripts/debian.mjs'
import type { TestAuthority } from '../../server/test/certificates.ts'
import { freePort, newDataDir, ServiceProcess } from '../../server/test/service-process.ts'
import { ForeignProcess } from './foreign-process.ts'

/** The name in the shipped configurations. */
export const host = 'baton.example'

interface Ports {
  http: number
  https: number
  baton: number
  /** Of the limiter beside Caddy. */
  limiter: number
}

/** Starts a proxy with the shipped configuration in a directory, which has `certificate.pem` and `key.pem`. */
type Start = (dir: string, ports: Ports) => Promise<ForeignProcess[]>

const shipped = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../deploy/proxies/${name}`, import.meta.url)), 'utf8')

/** Replaces each address and path; one that is missing is an error, because the test would run another configuration. */
function replaced(text: string, changes: [string, string][]) {
  return changes.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`the configuration has no ${from}`)
    return changed.replaceAll(from, to)
  }, text)
}

async function program(name: string) {
  const path = await debianProgram(name)
  if (!path) throw new Error(`${name} is not installed`)
  return path
}

async function startHaproxy(dir: string, name: string, port: number, changes: [string, string][]) {
  const file = join(dir, name)
  writeFileSync(file, replaced(shipped(name), changes))
  return ForeignProcess.start(await program('haproxy'), ['-db', '-f', file], port)
}

export const proxies = {
  caddy: async (dir, { http, https, baton, limiter }) => {
    const file = join(dir, 'Caddyfile')
    const site = replaced(shipped('Caddyfile'), [
      ['# tls /etc/ssl/baton/certificate.pem /etc/ssl/baton/key.pem', `tls ${dir}/certificate.pem ${dir}/key.pem`],
      ['127.0.0.1:3000', `127.0.0.1:${baton}`],
      ['127.0.0.1:3010', `127.0.0.1:${limiter}`],
    ])
    const options = ['admin off', `http_port ${http}`, `https_port ${https}`, 'default_bind 127.0.0.1']
    writeFileSync(file, `{\n${options.map((option) => `\t${option}\n`).join('')}}\n${site}`)
    const limiting = await startHaproxy(dir, 'sign-in-limit.cfg', limiter, [
      ['127.0.0.1:3000', `127.0.0.1:${baton}`],
      ['127.0.0.1:3010', `127.0.0.1:${limiter}`],
    ])
    const home = { HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir }
    return [await ForeignProcess.start(await program('caddy'), ['run', '--config', file], https, home), limiting]
  },

  nginx: async (dir, { http, https, baton }) => {
    const site = replaced(shipped('nginx.conf'), [
      ['listen [::]:80;', ''],
      ['listen [::]:443 ssl http2;', ''],
      ['listen 80;', `listen 127.0.0.1:${http};`],
      ['listen 443 ', `listen 127.0.0.1:${https} `],
      ['/etc/ssl/baton/', `${dir}/`],
      ['server 127.0.0.1:3000;', `server 127.0.0.1:${baton};`],
    ])
    writeFileSync(join(dir, 'site.conf'), site)
    const isRoot = process.getuid?.() === 0
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${dir}/${name};`,
    )
    const main = [
      // Other users cannot read the directory of the test.
      ...(isRoot ? ['user root;'] : []),
      `daemon off; pid ${dir}/pid; error_log stderr; events {}`,
      `http { access_log off; ${temporary.join(' ')} include ${dir}/site.conf; }`,
    ]
    writeFileSync(join(dir, 'nginx.conf'), main.join('\n'))
    return [await ForeignProcess.start(await program('nginx'), ['-c', join(dir, 'nginx.conf'), '-e', 'stderr'], https)]
  },

  haproxy: async (dir, { http, https, baton }) => {
    const both = readFileSync(join(dir, 'certificate.pem'), 'utf8') + readFileSync(join(dir, 'key.pem'), 'utf8')
    writeFileSync(join(dir, 'haproxy.pem'), both)
    return [
      await startHaproxy(dir, 'haproxy.cfg', https, [
        ['bind :80', `bind 127.0.0.1:${http}`],
        ['bind :443', `bind 127.0.0.1:${https}`],
        ['/etc/ssl/baton/', `${dir}/`],
        ['127.0.0.1:3000', `127.0.0.1:${baton}`],
      ]),
    ]
  },
} satisfies Record<string, Start>

export type ProxyName = keyof typeof proxies

/** A service behind a proxy, whose root URL is the address of the proxy. */
export class Proxied {
  readonly name: ProxyName
  readonly url: string
  readonly service: ServiceProcess
  readonly #dirs: string[]
  readonly #processes: ForeignProcess[]
  readonly #httpPort: number

  private constructor(
    name: ProxyName,
    ports: Ports,
    service: ServiceProcess,
    dirs: string[],
    processes: ForeignProcess[],
  ) {
    this.name = name
    this.url = rootUrl(ports)
    this.service = service
    this.#dirs = dirs
    this.#processes = processes
    this.#httpPort = ports.http
  }

  static async start(name: ProxyName, authority: TestAuthority): Promise<Proxied> {
    const dir = mkdtempSync(join(tmpdir(), `baton-${name}-`))
    const { key, cert } = authority.issue(`DNS:${host}`)
    writeFileSync(join(dir, 'certificate.pem'), cert)
    writeFileSync(join(dir, 'key.pem'), key, { mode: 0o600 })
    const [http, https, limiter] = [await freePort(), await freePort(), await freePort()]
    const dataDir = newDataDir()
    const service = await ServiceProcess.start({
      BATON_DATA_DIR: dataDir,
      BATON_ROOT_URL: rootUrl({ https }),
      BATON_TRUST_PROXY: '127.0.0.1',
      BATON_WEBHOOK_ALLOW: 'localhost',
    })
    const ports = { http, https, limiter, baton: Number(new URL(service.url).port) }
    const processes = await proxies[name](dir, ports)
    return new Proxied(name, ports, service, [dir, dataDir], processes)
  }

  /** Where the proxy listens without TLS. */
  get plainUrl() {
    return `http://${host}:${this.#httpPort}`
  }

  /** How many requests to this route the service has answered. */
  answered(route: string) {
    return this.service.output.split('\n').filter((line) => line.includes(`"route":"${route}"`)).length
  }

  /** Ends the limiter beside Caddy. */
  async stopLimiter() {
    await this.#processes[1]?.stop()
  }

  async stop() {
    await Promise.all(this.#processes.map((running) => running.stop()))
    await this.service.kill('SIGTERM')
    for (const dir of this.#dirs) rmSync(dir, { recursive: true, force: true })
  }
}

const rootUrl = ({ https }: { https: number }) => `https://${host}:${https}`
