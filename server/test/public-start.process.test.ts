import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { filledDataDir } from './empty-databases.ts'
import { freePort, newDataDir, ServiceProcess } from './service-process.ts'

const onPostgres = Boolean(process.env.DATABASE_URL)

const test = base.extend<{
  /** A data directory with an empty, migrated database. */
  dir: string
  start: (env: Record<string, string>) => Promise<ServiceProcess>
}>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
  dir: async ({}, use) => {
    const dir = await filledDataDir()
    await use(dir)
    rmSync(dir, { recursive: true, force: true })
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above
  start: async ({}, use) => {
    const started: ServiceProcess[] = []
    await use(async (env) => {
      // An empty value is the same as none; the default of ServiceProcess is 0.
      const service = await ServiceProcess.start({ BATON_DEMO: '', ...env })
      started.push(service)
      return service
    })
    for (const service of started) await service.kill('SIGKILL')
  },
})

const demo = { email: 'ada@demo.example', password: 'baton-demo' }
const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
const bob = { ...ann, email: 'bob@example.com' }
const loginOf = ({ email, password }: typeof ann) => ({ email, password })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const publicHost = { HOST: '0.0.0.0' }
const publicRoot = { BATON_ROOT_URL: 'https://baton.example' }

describe.skipIf(onPostgres)('a service that is not for loopback', { timeout: 300_000 }, () => {
  test(
    'disables the demo accounts of its data directory before it listens, and no others',
    verifies('demo.passwords-disabled'),
    async ({ dir, start }) => {
      const first = await start({ BATON_DATA_DIR: dir })
      const { token } = await first.call('POST', '/auth/sign-in', demo)
      const { token: others } = await first.call('POST', '/auth/sign-up', ann)
      expect(first.output).not.toContain('Disabled')
      await first.kill('SIGTERM')

      for (const env of [publicHost, publicRoot, { BATON_DEMO: '0' }]) {
        const copy = newDataDir()
        cpSync(dir, copy, { recursive: true })
        const service = await start({ BATON_DATA_DIR: copy, ...env })
        await expect.poll(() => service.output).toContain('The API is described')
        const told = service.output.match(/^.*demo.*$/gm)
        expect(told).toEqual([
          'Disabled 5 demo accounts (@demo.example) and ended their logins, because their passwords are public',
        ])
        expect(service.output.includes('until BATON_ROOT_URL')).toBe(env === publicHost)
        expect(service.output.indexOf('Disabled')).toBeLessThan(service.output.indexOf('Baton is ready'))
        for (const name of ['ada', 'tomas', 'mei', 'jonas', 'priya']) {
          const login = { ...demo, email: `${name}@demo.example` }
          await expect(service.call('POST', '/auth/sign-in', login)).rejects.toThrow('401')
        }
        await expect(service.call('GET', '/auth/me', undefined, bearer(token))).rejects.toThrow('401')
        expect(await service.call('GET', '/instance')).toMatchObject({ demo: null })
        expect((await service.call('GET', '/auth/me', undefined, bearer(others))).user.email).toBe(ann.email)
        expect((await service.call('POST', '/auth/sign-in', loginOf(ann))).token).toBeTruthy()
        await service.kill('SIGTERM')
        rmSync(copy, { recursive: true })
      }
    },
  )

  test(
    'creates no demo, and lets only the first account sign up unless BATON_SIGNUP=open',
    verifies('demo.loopback-only', 'signup.closed-off-loopback'),
    async ({ dir, start }) => {
      const service = await start({ BATON_DATA_DIR: dir, ...publicHost })
      await expect(service.call('POST', '/auth/sign-in', demo)).rejects.toThrow('401')
      await expect.poll(() => service.output).toMatch(/^.*cannot sign in until BATON_ROOT_URL.*$/m)
      expect(await service.call('GET', '/instance')).toMatchObject({ demo: null, sign_up: true })
      await service.call('POST', '/auth/sign-up', ann)
      await expect(service.call('POST', '/auth/sign-up', bob)).rejects.toThrow('403')
      await expect(service.call('POST', '/auth/sign-in', loginOf(bob))).rejects.toThrow('401')
      expect(await service.call('GET', '/instance')).toMatchObject({ sign_up: false })
      await service.kill('SIGTERM')
      const open = await start({ BATON_DATA_DIR: dir, ...publicHost, BATON_SIGNUP: 'open' })
      expect((await open.call('POST', '/auth/sign-up', bob)).token).toBeTruthy()
    },
  )

  test('refuses BATON_DEMO=1 with one line', verifies('demo.loopback-only'), async ({ dir }) => {
    for (const env of [publicHost, publicRoot]) {
      const service = new ServiceProcess(await freePort(), { BATON_DATA_DIR: dir, BATON_DEMO: '1', ...env })
      expect(await service.ended()).toBe(1)
      expect(service.output).toMatch(/^BATON_DEMO=1 requires a loopback HOST and BATON_ROOT_URL.*\n$/)
      expect(existsSync(join(dir, 'lock'))).toBe(false)
    }
  })
})

describe.skipIf(onPostgres)('the start', { timeout: 60_000 }, () => {
  test(
    'with PORT=0 takes a free port, prints its address and accepts writes from there',
    verifies('config.port-zero'),
    async ({ dir }) => {
      const service = new ServiceProcess(0, { BATON_DATA_DIR: dir })
      try {
        const printed = () => /Baton is ready at (http:\/\/localhost:[1-9]\d*)\n/.exec(service.output)?.[1]
        await expect.poll(printed, { timeout: 30_000 }).toBeTruthy()
        const url = printed() as string
        const post = (path: string, body: object, headers = {}) =>
          fetch(`${url}/api/v1${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...headers },
            body: JSON.stringify(body),
          })
        const cookie = (await post('/auth/sign-up', ann)).headers.get('set-cookie')?.split(';')[0] ?? ''
        const write = (origin: string) => post('/workspaces', { name: 'Acme' }, { cookie, origin })
        expect((await write(url)).status).toBe(201)
        expect((await write('http://localhost:0')).status).toBe(403)
        const { servers } = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as { servers: { url: string }[] }
        expect(servers[0]?.url).toBe(`${url}/api/v1`)
      } finally {
        await service.kill('SIGKILL')
      }
    },
  )

  test(
    'names unknown BATON_ variables in one line, without their values',
    verifies('config.unknown-variable-warns'),
    async ({ dir, start }) => {
      const env = { BATON_DATA_DIR: dir, BATON_SIGN_UP: 'a-secret', BATON_HOST: '0.0.0.0', BATON_STALE_AFTER: '60' }
      const { output } = await start({ ...env, BATON_DEMO: '0' })
      const lines = output.split('\n').filter((line) => line.includes('BATON_SIGN_UP'))
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatch(/^Unknown settings are ignored: .*BATON_HOST, .*BATON_SIGN_UP/)
      expect(lines[0]).not.toContain('BATON_STALE_AFTER')
      expect(output).not.toContain('a-secret')
    },
  )
})
