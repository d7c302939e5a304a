import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, describe, expect } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { filledDataDir } from './empty-databases.ts'
import { freePort, ServiceProcess } from './service-process.ts'

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

// server/src/config.unit.test.ts covers the other settings that make a service public, and the demo off.
describe.skipIf(onPostgres)('the demo', { timeout: 300_000 }, () => {
  test(
    'is created on an empty database, stays, and is disabled before a public service listens, but no other account',
    verifies(
      'config.demo-on-empty-database',
      'config.demo-not-on-used-database',
      'config.port-zero',
      'config.unknown-variable-warns',
      'demo.passwords-disabled',
      'signup.closed-off-loopback',
    ),
    async ({ dir, start }) => {
      const first = await start({ BATON_DATA_DIR: dir })
      await expect
        .poll(() => first.output)
        .toContain(`Sign in to the demo as ${demo.email} with the password ${demo.password}`)
      const { token, user } = await first.call('POST', '/auth/sign-in', demo)
      expect(first.output).not.toContain('Disabled')
      for (const line of ['Unknown settings', 'until BATON_ROOT_URL']) expect(first.output).not.toContain(line)
      await first.kill('SIGTERM')

      const unknown = { BATON_SIGN_UP: 'a-secret', BATON_HOST: '0.0.0.0', BATON_STALE_AFTER: '60' }
      const others = await onFreePort({ BATON_DATA_DIR: dir, BATON_DEMO: '1', ...unknown }, async (service, url) => {
        const post = (path: string, body: object, headers = {}) =>
          fetch(`${url}/api/v1${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...headers },
            body: JSON.stringify(body),
          })
        const signedIn = await post('/auth/sign-in', demo)
        expect(((await signedIn.json()) as { user: object }).user).toEqual(user)
        const signedUp = await post('/auth/sign-up', ann)
        const cookie = signedUp.headers.get('set-cookie')?.split(';')[0] ?? ''
        const write = (origin: string) => post('/workspaces', { name: 'Acme' }, { cookie, origin })
        expect((await write(url)).status).toBe(201)
        expect((await write('http://localhost:0')).status).toBe(403)
        const { servers } = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as { servers: { url: string }[] }
        expect(servers[0]?.url).toBe(`${url}/api/v1`)

        const lines = service.output.split('\n').filter((line) => line.includes('BATON_SIGN_UP'))
        expect(lines).toHaveLength(1)
        expect(lines[0]).toMatch(/^Unknown settings are ignored: .*BATON_HOST, .*BATON_SIGN_UP/)
        expect(lines[0]).not.toContain('BATON_STALE_AFTER')
        expect(service.output).not.toContain('a-secret')
        return ((await signedUp.json()) as { token: string }).token
      })

      const service = await start({ BATON_DATA_DIR: dir, ...publicHost, BATON_SIGNUP: 'open' })
      await expect.poll(() => service.output).toContain('The API is described')
      expect(service.output.match(/^.*demo.*$/gm)).toEqual([
        'Disabled 5 demo accounts (@demo.example) and ended their logins, because their passwords are public',
      ])
      expect(service.output).toContain('until BATON_ROOT_URL')
      expect(service.output.indexOf('Disabled')).toBeLessThan(service.output.indexOf('Baton is ready'))
      for (const name of ['ada', 'tomas', 'mei', 'jonas', 'priya']) {
        const login = { ...demo, email: `${name}@demo.example` }
        await expect(service.call('POST', '/auth/sign-in', login)).rejects.toThrow('401')
      }
      await expect(service.call('GET', '/auth/me', undefined, bearer(token))).rejects.toThrow('401')
      expect(await service.call('GET', '/instance')).toMatchObject({ demo: null })
      expect((await service.call('GET', '/auth/me', undefined, bearer(others))).user.email).toBe(ann.email)
      expect((await service.call('POST', '/auth/sign-in', loginOf(ann))).token).toBeTruthy()
      // Open, although there are accounts.
      expect((await service.call('POST', '/auth/sign-up', bob)).token).toBeTruthy()
    },
  )

  test(
    'is not created by a public service, which lets only the first account sign up',
    verifies('demo.loopback-only', 'signup.closed-off-loopback'),
    async ({ dir, start }) => {
      const refused = new ServiceProcess(await freePort(), { BATON_DATA_DIR: dir, BATON_DEMO: '1', ...publicHost })
      expect(await refused.ended()).toBe(1)
      expect(refused.output).toMatch(/^BATON_DEMO=1 requires a loopback HOST and BATON_ROOT_URL.*\n$/)
      expect(existsSync(join(dir, 'lock'))).toBe(false)

      const service = await start({ BATON_DATA_DIR: dir, ...publicHost })
      await expect(service.call('POST', '/auth/sign-in', demo)).rejects.toThrow('401')
      await expect.poll(() => service.output).toMatch(/^.*cannot sign in until BATON_ROOT_URL.*$/m)
      expect(await service.call('GET', '/instance')).toMatchObject({ demo: null, sign_up: true })
      await service.call('POST', '/auth/sign-up', ann)
      await expect(service.call('POST', '/auth/sign-up', bob)).rejects.toThrow('403')
      await expect(service.call('POST', '/auth/sign-in', loginOf(bob))).rejects.toThrow('401')
      expect(await service.call('GET', '/instance')).toMatchObject({ sign_up: false })
    },
  )
})

/** Starts a service with PORT=0, and stops it after the work at the address that it prints. */
async function onFreePort<T>(env: Record<string, string>, work: (service: ServiceProcess, url: string) => Promise<T>) {
  const service = new ServiceProcess(0, env)
  try {
    const printed = () => /Baton is ready at (http:\/\/localhost:[1-9]\d*)\n/.exec(service.output)?.[1]
    await expect.poll(printed, { timeout: 30_000 }).toBeTruthy()
    return await work(service, printed() as string)
  } finally {
    await service.kill('SIGTERM')
  }
}
