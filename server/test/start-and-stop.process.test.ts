import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test as base, describe, expect, onTestFinished } from 'vitest'
import { verifies, verifiesOnPostgres } from '../../conformance/requirements.ts'
import { filledDataDir, withEmptyDatabase } from './empty-databases.ts'
import { isSigned, type Received, Receiver } from './receiver.ts'
import { freePort, newDataDir, ServiceProcess } from './service-process.ts'

const onPostgres = Boolean(process.env.DATABASE_URL)
const kills = process.env.BATON_LONG ? 5 : 1

const test = base.extend<{
  /** Contains an empty, migrated database. */
  dir: string
  emptyDir: string
  start: (env?: Record<string, string>) => Promise<ServiceProcess>
}>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
  dir: async ({}, use) => {
    const dir = await filledDataDir()
    await use(dir)
    rmSync(dir, { recursive: true, force: true })
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above
  emptyDir: async ({}, use) => {
    const dir = newDataDir()
    await use(dir)
    rmSync(dir, { recursive: true, force: true })
  },
  start: async ({ dir }, use) => {
    const started: ServiceProcess[] = []
    await use(async (env) => {
      const service = await ServiceProcess.start({ BATON_DATA_DIR: dir, ...env })
      started.push(service)
      return service
    })
    for (const service of started) await service.kill('SIGKILL')
  },
})

const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }

async function signUp(service: ServiceProcess) {
  const { token } = await service.call('POST', '/auth/sign-up', ann)
  const headers = { authorization: `Bearer ${token}` }
  const { id } = await service.call('POST', '/workspaces', { name: 'Acme' }, headers)
  return { token, headers: { ...headers, 'x-workspace-id': id } }
}

const answers = async (url: string) => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200

/** Starts a process that must fail to start, and returns its output. */
async function refusedStart(env: Record<string, string>) {
  const service = new ServiceProcess(await freePort(), env)
  expect(await service.ended()).toBe(1)
  return service.output
}

/** Registers, approves and revokes an app. Returns every secret that was sent. */
async function useApp(service: ServiceProcess, headers: Record<string, string>): Promise<string[]> {
  const redirect_uri = 'https://robots.example.com/callback'
  const manifest = {
    schemaVersion: '1.0.0',
    name: 'Robot',
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: [redirect_uri], scopes: ['read'] },
  }
  const registered = await service.call('POST', '/agent-apps', manifest, headers)
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id: registered.client_id,
    redirect_uri,
    response_type: 'code',
    actor: 'app',
    state: 'a-secret-state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const asked = await fetch(`${service.url}/api/v1/oauth/authorize?${query}`, { headers, redirect: 'manual' })
  const request = new URL(asked.headers.get('location') ?? '').searchParams.get('request')
  const approved = await service.call('POST', `/oauth/requests/${request}/approve`, { all_teams: true }, headers)
  const code = new URL(approved.redirect_to).searchParams.get('code') ?? ''
  const client = { client_id: registered.client_id, client_secret: registered.client_secret }
  const post = async (path: string, form: Record<string, string>): Promise<Record<string, string>> => {
    const response = await fetch(`${service.url}/api/v1${path}`, { method: 'POST', body: new URLSearchParams(form) })
    return (await response.json()) as Record<string, string>
  }
  const exchange = { grant_type: 'authorization_code', code, redirect_uri, code_verifier: verifier, ...client }
  const tokens = await post('/oauth/token', exchange)
  expect(tokens.access_token).toMatch(/^svc_at_/)
  const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '', ...client }
  const refreshed = await post('/oauth/token', refresh)
  await post('/oauth/revoke', { token: refreshed.refresh_token ?? '', ...client })
  await post('/oauth/token', { ...exchange, client_secret: 'svc_sk_wrong' })
  await fetch(`${service.url}/api/v1/auth/me?access_token=${tokens.access_token}`)
  const long = Object.values({ ...tokens, ...refreshed }).filter((value) => value.length > 40)
  return [registered.client_secret, registered.webhook_secret, code, verifier, ...long]
}

/** Stops the service during 12 requests, and expects that each is answered. */
async function stopDuringRequests(service: ServiceProcess) {
  // Browsers keep unused connections open.
  const unused = connect(Number(new URL(service.url).port), '127.0.0.1')
  unused.on('error', () => {})
  // Hashing is slow: when the first request is answered, the others are in progress.
  const requests = Array.from({ length: 12 }, (_, i) =>
    service.call('POST', '/auth/sign-up', { ...ann, email: `ann-${i}@example.com` }),
  )
  await Promise.race(requests)
  const started = performance.now()
  const stopped = service.kill('SIGTERM')
  service.child.kill('SIGTERM') // npm sends the signal a second time
  for (const { token } of await Promise.all(requests)) expect(token).toMatch(/^psn_/)
  expect(await stopped).toBe(0)
  // Requests would be aborted after ten seconds.
  expect(performance.now() - started).toBeLessThan(8000)
}

describe.skipIf(onPostgres)('on the embedded database', { timeout: 180_000 }, () => {
  test(
    'a stop waits for requests and deliveries, data and key survive it, and no secret is logged',
    verifies(
      'config.embedded-database',
      'config.secret-key-generated',
      'config.listen-address-default',
      'config.demo-on-empty-database',
      'config.wrong-key-stops-start',
    ),
    async ({ dir, start }) => {
      const receiver = await Receiver.start()
      const allowed = { BATON_WEBHOOK_ALLOW: 'localhost' }
      const first = await start(allowed)
      // BATON_DEMO is 0.
      const demo = { email: 'ada@demo.example', password: 'baton-demo' }
      await expect(first.call('POST', '/auth/sign-in', demo)).rejects.toThrow('401')
      const { token, headers } = await signUp(first)
      await first.call('POST', '/auth/sign-in', { email: ann.email, password: ann.password })
      const secrets = await useApp(first, headers)
      const hook = { label: 'Chat', url: receiver.url, all_teams: true, resource_types: ['Issue'] }
      const { id, secret } = await first.call('POST', '/webhooks', hook, headers)

      // An event is delivered at once, and a stop waits for the attempt.
      let answer = () => {}
      receiver.answer = (response) => {
        answer = () => response.end()
      }
      const arrived = receiver.next()
      await first.call('POST', '/issues', { title: 'One' }, headers)
      expect((await arrived).body.data.title).toBe('One')
      const stopped = first.kill('SIGTERM')
      while (await answers(first.url)) await sleep(10)
      expect(first.child.exitCode).toBeNull()
      answer()
      expect(await stopped).toBe(0)
      receiver.answer = 200
      receiver.take()
      const key = readFileSync(join(dir, 'secret.key'), 'utf8')
      expect(statSync(join(dir, 'secret.key')).mode & 0o777).toBe(0o600)
      expect(Buffer.from(key, 'base64')).toHaveLength(32)

      const second = await start(allowed)
      expect(await second.call('GET', '/workspaces/me', undefined, headers)).toMatchObject({ name: 'Acme' })
      const { data } = await second.call('GET', `/webhooks/${id}/deliveries`, undefined, headers)
      expect(data).toMatchObject([{ status: 'succeeded', attempts: [{ number: 1 }] }])
      expect(await (await fetch(`${second.url}/metrics`)).text()).toContain('baton_delivery_attempt_duration_seconds')
      expect(readFileSync(join(dir, 'secret.key'), 'utf8')).toBe(key)
      await stopDuringRequests(second)

      const log = first.output + second.output
      expect(log).toContain(`Baton is ready at http://localhost:${new URL(second.url).port}`)
      expect(log).toContain('"route":"/api/v1/auth/sign-in","status":200')
      expect(log).toContain('/api/v1/oauth/token')
      for (const one of [token, ann.password, key.trim(), secret, ...secrets]) expect(log).not.toContain(one)
      expect(log).not.toMatch(/svc_(at|sk|ac)_|prt_|pwhsec_|psn_|a-secret-state/)

      // Another key stops the start, unless the one before is given too.
      const old = key.trim()
      const fresh = randomBytes(32).toString('base64')
      const output = await refusedStart({ BATON_DATA_DIR: dir, BATON_SECRET_KEY: fresh })
      expect(output).toMatch(/^BATON_SECRET_KEY is not the key.*\n$/)
      for (const previous of [{ BATON_SECRET_KEY_PREVIOUS: old }, {}]) {
        const service = await start({ ...allowed, BATON_SECRET_KEY: fresh, ...previous })
        expect(await service.call('POST', `/webhooks/${id}/test`, undefined, headers)).toMatchObject({ ok: true })
        expect(isSigned(receiver.take()[0] as Received, secret)).toBe(true)
        await service.kill('SIGTERM')
        // From the first start on, the current key alone is enough.
        expect(await refusedStart({ BATON_DATA_DIR: dir, BATON_SECRET_KEY: old })).toMatch(/^BATON_SECRET_KEY is not/)
      }
      await receiver.stop()
    },
  )

  test(
    'listens on HOST and PORT; a second process with its directory or port is refused',
    verifies('config.listen-address-default', 'config.second-process-refused'),
    async ({ dir }) => {
      const host = { HOST: '127.0.0.9' }
      const service = new ServiceProcess(await freePort(), { BATON_DATA_DIR: dir, ...host })
      onTestFinished(async () => void (await service.kill('SIGKILL')))
      const elsewhere = service.url.replace('127.0.0.1', '127.0.0.9')
      while (!(await answers(elsewhere))) await sleep(50)
      expect(await answers(service.url)).toBe(false)

      expect(await refusedStart({ BATON_DATA_DIR: dir })).toMatch(
        new RegExp(`^BATON_DATA_DIR .*in use by process ${service.child.pid};.*\\n$`),
      )
      const { port } = new URL(service.url)
      const other = newDataDir()
      expect(await refusedStart({ BATON_DATA_DIR: other, PORT: port, ...host })).toContain(
        `PORT ${port} on 127.0.0.9 is in use by another program; stop it or set PORT to another number\n`,
      )
      expect(existsSync(join(other, 'lock'))).toBe(false)
      rmSync(other, { recursive: true })
      expect(await answers(elsewhere)).toBe(true)
      expect(existsSync(join(dir, 'lock'))).toBe(true)
    },
  )

  test(
    'an incomplete database is created again, and what was in its place is kept',
    verifies('config.half-initialised-directory-rebuilt'),
    async ({ emptyDir: dir, start }) => {
      const killed = new ServiceProcess(await freePort(), { BATON_DATA_DIR: dir })
      while (!existsSync(join(dir, 'db.unfinished', 'base'))) await sleep(5)
      await killed.kill('SIGKILL')
      expect(existsSync(join(dir, 'db'))).toBe(false)
      mkdirSync(join(dir, 'db', 'base'), { recursive: true })
      writeFileSync(join(dir, 'db', 'PG_VERSION'), '17\n')
      writeFileSync(join(dir, 'db', 'base', 'user.sql'), 'precious')

      const service = await start({ BATON_DATA_DIR: dir })
      await signUp(service)
      expect(existsSync(join(dir, 'db.unfinished'))).toBe(false)
      const [kept = ''] = readdirSync(dir).filter((name) => /^db\.\d+$/.test(name))
      expect(readFileSync(join(dir, kept, 'base', 'user.sql'), 'utf8')).toBe('precious')
    },
  )

  test('a bad value stops the start with one line', verifies('config.bad-value-stops-start'), async ({ dir }) => {
    const output = await refusedStart({ BATON_DATA_DIR: dir, BATON_SESSION_RATE: 'abc' })
    expect(output).toBe('BATON_SESSION_RATE must be a whole number from 1 to 1000000\n')
    expect(existsSync(join(dir, 'lock'))).toBe(false)
  })

  test('a kill during writes loses nothing that was acknowledged', async ({ start }) => {
    let service = await start()
    const { headers } = await signUp(service)
    const acknowledged: string[] = []
    for (let round = 0; round < kills; round++) {
      const before = acknowledged.length
      const writing = Promise.all(
        Array.from({ length: 4 }, async () => {
          for (;;) {
            const body = { email: 'new@example.com', role: 'member' }
            const answer = await service
              .call('POST', '/workspaces/me/invitations', body, headers)
              .catch(() => undefined)
            if (!answer) return
            acknowledged.push(answer.invitation.id)
          }
        }),
      )
      while (acknowledged.length < before + 20 + round * 7) await sleep(1)
      await service.kill('SIGKILL')
      await writing
      service = await start()
    }
    const stored = new Set<string>()
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/workspaces/me/invitations?limit=100${cursor && `&cursor=${cursor}`}`
      const page = await service.call('GET', path, undefined, headers)
      for (const { id } of page.data) stored.add(id)
      cursor = page.next_cursor
    }
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
  })
})

describe('on PostgreSQL', { timeout: 180_000 }, () => {
  const key = randomBytes(32).toString('base64')

  test(
    'two processes start at once on an empty database and share it',
    verifiesOnPostgres('config.postgres'),
    async ({ start }) => {
      await withEmptyDatabase(async (url) => {
        const env = { DATABASE_URL: url, BATON_SECRET_KEY: key }
        const [one, two] = (await Promise.all([start(env), start(env)])) as [ServiceProcess, ServiceProcess]
        const { headers } = await signUp(one)
        expect(await two.call('GET', '/workspaces/me', undefined, headers)).toMatchObject({ name: 'Acme' })
        expect(await one.kill('SIGTERM')).toBe(0)
        expect(await two.kill('SIGTERM')).toBe(0)
        const again = await start(env)
        expect(await again.call('GET', '/workspaces/me', undefined, headers)).toMatchObject({ name: 'Acme' })
        await again.kill('SIGTERM')
      })
    },
  )

  test(
    'nothing is delivered without a worker; one on the same database delivers at once',
    verifiesOnPostgres('config.roles'),
    async ({ start }) => {
      await withEmptyDatabase(async (url) => {
        const receiver = await Receiver.start()
        const env = { DATABASE_URL: url, BATON_SECRET_KEY: key, BATON_WEBHOOK_ALLOW: 'localhost' }
        const front = await start({ ...env, BATON_ROLE: 'api' })
        const { headers } = await signUp(front)
        const hook = { label: 'Chat', url: receiver.url, all_teams: true, resource_types: ['Issue'] }
        const { id } = await front.call('POST', '/webhooks', hook, headers)
        await front.call('POST', '/issues', { title: 'Waits' }, headers)
        const { data } = await front.call('GET', `/webhooks/${id}/deliveries`, undefined, headers)
        expect(data).toMatchObject([{ status: 'pending', attempts: [] }])
        expect(receiver.received).toEqual([])

        const waited = receiver.next()
        const worker = await start({ ...env, BATON_ROLE: 'worker' })
        expect((await waited).body.data.title).toBe('Waits')
        expect((await fetch(`${worker.url}/healthz`)).status).toBe(200)
        expect((await fetch(`${worker.url}/metrics`)).status).toBe(200)
        const refused = await fetch(`${worker.url}/api/v1/workspaces/me`, { headers })
        expect(refused.status).toBe(404)

        // Woken by notifications: five polls of the worker would take more than twenty seconds.
        const started = performance.now()
        for (let sent = 0; sent < 5; sent++) {
          const next = receiver.next()
          await front.call('POST', '/issues', { title: `Now ${sent}` }, headers)
          await next
        }
        expect(performance.now() - started).toBeLessThan(15_000)
        for (const service of [front, worker]) expect(await service.kill('SIGTERM')).toBe(0)
        await receiver.stop()
      })
    },
  )

  test('requires the secret key', verifies('config.secret-key-required-with-database-url'), async () => {
    const output = await refusedStart({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' })
    expect(output).toMatch(/^BATON_SECRET_KEY is required with DATABASE_URL.*\n$/)
  })
})
