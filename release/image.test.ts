import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifies } from '../conformance/requirements.ts'
import { ImageEngine } from '../scripts/image.mjs'
import { freePort } from '../server/test/service-process.ts'

const run = promisify(execFile)
/** Those that podman sets by default can be above what a container of this machine is allowed. */
const ulimits = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096']
const maxAddedBytes = 100_000_000
const buildArgs = { REVISION: 'a1b2c3', SOURCE: 'https://git.example/baton' }
const { version } = JSON.parse(readFileSync('server/package.json', 'utf8')) as { version: string }

describe('the image', () => {
  let engine: ImageEngine
  beforeAll(async () => {
    engine = await ImageEngine.open()
    await engine.makeBases()
    await engine.build('one', buildArgs)
  }, 600_000)
  afterAll(() => engine?.close(), 60_000)

  /** Starts a container that can write to /data only. Returns when it is ready. */
  async function start(env: Record<string, string> = {}) {
    const port = await freePort()
    const name = `baton-${port}`
    const settings = Object.entries({ PORT: String(port), ...env }).flatMap(([key, value]) => ['-e', `${key}=${value}`])
    await engine.podman(
      ...['run', '--detach', '--name', name, '--network', 'host', '--ipc', 'none', '--no-healthcheck'],
      ...['--read-only', '--read-only-tmpfs=false', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
      ...ulimits,
      ...settings,
      'localhost/one',
    )
    const url = `http://127.0.0.1:${port}`
    const logs = async () => {
      const { stdout, stderr } = await engine.podman('logs', name)
      return stdout + stderr
    }
    const answer = () => fetch(`${url}/readyz`).then(({ status }) => status, logs)
    await expect.poll(answer, { timeout: 120_000, interval: 200 }).toBe(200)
    return {
      url,
      logs,
      /** The code and output of a command in the container. */
      exec: (...command: string[]) => ended(engine.podman('exec', name, ...command)),
      stop: () => engine.podman('kill', '--signal', 'TERM', name),
      exitCode: async () => Number((await engine.podman('wait', name)).stdout),
      pid: async () => Number((await engine.podman('inspect', '--format', '{{.State.Pid}}', name)).stdout),
      call: async (method: string, path: string, body?: object) => {
        const response = await fetch(`${url}/api/v1${path}`, {
          method,
          headers: { 'content-type': 'application/json' },
          ...(body ? { body: JSON.stringify(body) } : {}),
        })
        return { status: response.status, body: (await response.json()) as Record<string, unknown> }
      },
    }
  }
  const ended = (running: Promise<{ stdout: string; stderr: string }>) =>
    running.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code: code as number, stdout: stdout as string, stderr: stderr as string }),
    )

  test(
    'is built without network on a base of Debian and the Node of this machine',
    verifies('container.builds-on-local-base'),
    async () => {
      await engine.withFiles('one', (dir) => {
        expect(readFileSync(join(dir, 'usr/local/bin/node')).equals(readFileSync(process.execPath))).toBe(true)
        expect(existsSync(join(dir, 'etc/debian_version'))).toBe(true)
        expect(existsSync(join(dir, 'app/bin/baton-server.mjs'))).toBe(true)
      })
    },
  )

  test('has labels and lists its packages', verifies('container.labels-and-sbom'), async () => {
    const { Docker } = await engine.inspect('one')
    expect(Docker.config.Labels).toMatchObject({
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': buildArgs.REVISION,
      'org.opencontainers.image.source': buildArgs.SOURCE,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    })
    expect(Docker.config).toMatchObject({
      User: '10001:10001',
      Volumes: { '/data': {} },
      ExposedPorts: { '3000/tcp': {} },
      StopSignal: 'SIGTERM',
      Healthcheck: { Test: ['CMD', 'baton-server', 'health'], Timeout: 3e9 },
    })
    await engine.withFiles('one', (dir) => {
      const { components } = JSON.parse(readFileSync(join(dir, 'app/sbom.cdx.json'), 'utf8'))
      const listed = components.map((one: { name: string; version: string }) => `${one.name}@${one.version}`)
      const installed = packagesIn(join(dir, 'app/node_modules'))
      expect(installed.length).toBeGreaterThan(1)
      expect(installed.filter((one) => !listed.includes(one))).toEqual([])
    })
  })

  test('has no build tools and no tests', verifies('container.no-build-tools'), async () => {
    await engine.withFiles('one', async (dir) => {
      const { stdout } = await run('find', [dir, '-xdev', '-not', '-type', 'd'], { maxBuffer: 2 ** 26 })
      const files = stdout.split('\n').map((file) => file.slice(dir.length))
      expect(files).toContain('/app/dist/run.js')
      expect(files.filter((file) => /(^|\/)(npm|npx|corepack|tsc|yarn)$|node_modules\/npm\//.test(file))).toEqual([])
      expect(files.filter((file) => file.startsWith('/app/') && /\.test\.|\.ts$|\/src\//.test(file))).toEqual([])
      const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
      const installed = packagesIn(join(dir, 'app/node_modules')).map((one) => one.replace(/@[^@]*$/, ''))
      expect(installed.filter((name) => packages[`node_modules/${name}`]?.dev !== undefined)).toEqual([])
      expect(installed).not.toContain('typescript')
    })
  })

  test('adds at most 100 MB to its base', verifies('container.size'), async () => {
    const bytes = async (name: string) =>
      Number((await engine.podman('image', 'inspect', '--format', '{{.Size}}', `localhost/${name}`)).stdout)
    const added = (await bytes('one')) - (await bytes('base'))
    console.log(`The image adds ${(added / 1e6).toFixed(1)} MB to its base`)
    expect(added).toBeGreaterThan(10_000_000)
    expect(added).toBeLessThanOrEqual(maxAddedBytes)
  })

  test(
    'runs as 10001 with a read-only root, passes the commands of the README, and can write to /data only',
    verifies('container.read-only-root', 'container.user-not-root'),
    async () => {
      const service = await start({ HOST: '127.0.0.1', BATON_DEMO: '1' })
      const status = readFileSync(`/proc/${await service.pid()}/status`, 'utf8')
      for (const kind of ['Uid', 'Gid']) expect(status).toMatch(new RegExp(`^${kind}:(\\s+10001){4}$`, 'm'))
      expect(status).toMatch(/^CapEff:\s+0+$/m)
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m)

      const blocks = [...readFileSync('README.md', 'utf8').matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map(
        ([, one]) => one,
      )
      expect(blocks.length).toBeGreaterThan(0)
      const script = ['set -euo pipefail', ...blocks].join('\n').replaceAll('http://localhost:3000', service.url)
      expect(JSON.parse((await run('bash', ['-c', script])).stdout)).toHaveProperty('token')
      for (const path of ['/', '/docs', '/api/v1/openapi.json', '/packages/cli.tgz']) {
        expect([path, (await fetch(service.url + path)).status]).toEqual([path, 200])
      }
      for (const path of ['/x', '/tmp/x', '/app/x', '/var/tmp/x', '/dev/shm/x', '/home/x']) {
        expect([path, (await service.exec('touch', path)).code]).toEqual([path, 1])
      }
      expect((await service.exec('touch', '/data/x')).code).toBe(0)
      const mounts = readFileSync(`/proc/${await service.pid()}/mounts`, 'utf8').split('\n')
      expect(
        mounts.filter((line) => line.includes(' tmpfs rw') && !/ \/(dev|sys\/fs\/cgroup|proc\/\S+) /.test(line)),
      ).toEqual([])
    },
  )

  test(
    'creates no demo and closes the sign-up, even on loopback',
    verifies('container.demo-off-by-default'),
    async () => {
      for (const env of [{}, { HOST: '127.0.0.1' }]) {
        const service = await start(env)
        expect((await service.call('GET', '/instance')).body).toMatchObject({ demo: null, sign_up: true })
        const demo = { email: 'ada@demo.example', password: 'baton-demo' }
        expect((await service.call('POST', '/auth/sign-in', demo)).status).toBe(401)
        const ann = { email: 'ann@example.com', password: 'correct horse', name: 'Ann' }
        expect((await service.call('POST', '/auth/sign-up', ann)).status).toBe(201)
        expect((await service.call('GET', '/instance')).body).toMatchObject({ sign_up: false })
        expect((await service.call('POST', '/auth/sign-up', { ...ann, email: 'bob@example.com' })).status).toBe(403)
      }
    },
  )

  test(
    'is healthy while it is ready, unhealthy while it stops, and ends with 0',
    verifies('container.healthcheck', 'container.stops-on-sigterm'),
    async () => {
      // Longer than Fastify by itself lets a stop take.
      const delaySeconds = 12
      const service = await start({ BATON_STOP_DELAY: String(delaySeconds) })
      expect(await service.exec('baton-server', 'health')).toMatchObject({ code: 0 })
      const asked = performance.now()
      await service.stop()
      await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(503)
      expect(await service.exec('baton-server', 'health')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('/readyz answers 503'),
      })
      expect(await service.exitCode()).toBe(0)
      expect((performance.now() - asked) / 1000).toBeLessThan(delaySeconds + 15)
    },
  )

  test('is unhealthy within 3 seconds if nothing listens or answers', verifies('container.healthcheck'), async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const health = (port: number) => {
      const timed = ['-c', 'date +%s%N; baton-server health; code=$?; date +%s%N; exit $code']
      const options = ['--rm', ...ulimits, '--network', 'host', '-e', `PORT=${port}`, '--entrypoint', 'sh']
      return ended(engine.podman('run', ...options, 'localhost/one', ...timed))
    }
    try {
      for (const port of [await freePort(), (silent.address() as AddressInfo).port]) {
        const { code, stdout, stderr } = await health(port)
        expect(code).toBe(1)
        expect(stderr).toContain('Not ready')
        const [from = 0, to = 0] = stdout.trim().split('\n').map(Number)
        expect((to - from) / 1e9).toBeLessThan(3)
      }
    } finally {
      silent.close()
    }
  })

  test('has the commands of the operator', async () => {
    const service = await start()
    expect(await service.exec('baton-server', '--version')).toMatchObject({ code: 0, stdout: `${version}\n` })
    const { stdout, stderr } = await service.exec('baton-server', 'operate')
    const usage = stdout + stderr
    expect(usage).toContain('reset-link')
    if (!usage.includes('doctor')) return console.log('operate has no doctor: not run')
    const doctor = await service.exec('baton-server', 'operate', 'doctor')
    expect(doctor.code, doctor.stdout + doctor.stderr).toBe(0)
  })

  test('has the same layers if it is built again', verifies('container.reproducible'), async () => {
    await engine.build('two', buildArgs)
    const layers = async (name: string) => (await engine.inspect(name)).Docker.rootfs.diff_ids
    const first = await layers('one')
    expect(first.length).toBeGreaterThan(1)
    expect(await layers('two')).toEqual(first)
  })
})

/** The packages of a node_modules folder, as name@version. */
function packagesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(@[^/]+\/)?[^/]+\/package\.json$/.test(file))
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
    .map((one: { name: string; version: string }) => `${one.name}@${one.version}`)
}
