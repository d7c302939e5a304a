import { randomBytes } from 'node:crypto'
import { chromium } from '@playwright/test'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { browser } from '../../scripts/browser.mjs'
import { TestAuthority } from '../../server/test/certificates.ts'
import { callerAt, install, type Json, newcomer } from '../../server/test/outside.ts'
import { Receiver } from '../../server/test/receiver.ts'
import { agentFrom, isFromBaton, Stream, TestClient } from './client.ts'
import { host, Proxied, type ProxyName, proxies } from './proxy.ts'

const names = Object.keys(proxies) as ProxyName[]
const email = 'ada@example.com'
const signInRoute = '/api/v1/auth/sign-in'

const authority = new TestAuthority()
const clients: TestClient[] = []
const running = new Map<ProxyName, { proxied: Proxied; ada: Awaited<ReturnType<typeof newcomer>> }>()
let receiver: Receiver

/** A client at an address that no other test has used. */
function newClient() {
  const client = new TestClient(`127.0.0.${clients.length + 2}`, authority.ca)
  clients.push(client)
  return client
}

const at = (name: ProxyName) => running.get(name) as NonNullable<ReturnType<typeof running.get>>

beforeAll(async () => {
  const before = getGlobalDispatcher()
  setGlobalDispatcher(agentFrom('127.0.0.1', authority.ca))
  receiver = await Receiver.start()
  for (const name of names) {
    const proxied = await Proxied.start(name, authority)
    running.set(name, { proxied, ada: await newcomer(proxied.url, email) })
  }
  return () => setGlobalDispatcher(before)
})

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await Promise.all([...running.values()].map(({ proxied }) => proxied.stop()))
  await receiver.stop()
  authority.remove()
})

test('a stream shows changes within a second, and outlives a minute', verifies('deploy.proxy-sse'), async () => {
  await Promise.all(names.map((name) => watchForAMinute(name)))
})

async function watchForAMinute(name: ProxyName) {
  const { proxied, ada } = at(name)
  const open = async (url: string) => {
    const stream = await Stream.open(newClient(), url, ada.headers)
    expect((await stream.next()).name).toBe('ready')
    return stream
  }
  const [stream, direct] = [await open(proxied.url), await open(proxied.service.url)]
  for (let change = 0; change < 5; change++) {
    const { body } = await ada.person('POST', '/issues', { title: 'Watched', team_id: ada.teamId })
    await shows(direct, body.id)
    // From here on only the proxy can hold it back; a machine that is busy delays both streams.
    const since = performance.now()
    await shows(stream, body.id)
    expect(performance.now() - since, name).toBeLessThan(1000)
  }
  // Every 15 seconds.
  for (let beat = 0; beat < 5; beat++) await stream.until('beat')
  const { body } = await ada.person('POST', '/issues', { title: 'Watched', team_id: ada.teamId })
  await shows(stream, body.id)
}

async function shows(stream: Stream, id: string) {
  while (JSON.parse((await stream.until('change')).data).id !== id);
}

describe.each(names)('behind %s', (name) => {
  test('an app is installed and refreshes its token', verifies('deploy.proxy-oauth'), async () => {
    const { proxied, ada } = at(name)
    const { url } = proxied
    const metadata: Json = await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()
    expect(metadata).toMatchObject({ issuer: url, token_endpoint: `${url}/api/v1/oauth/token` })
    const installed = await install(url, ada.person, receiver.url)
    const created = await installed.app('POST', '/issues', { title: 'By the app', team_id: ada.teamId })
    expect(created.status).toBe(201)
    const form = { grant_type: 'refresh_token', refresh_token: installed.refreshToken, ...installed.client }
    const refreshed = await fetch(`${url}/api/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    expect(refreshed.status).toBe(200)
    const { access_token }: Json = await refreshed.json()
    const app = callerAt(url, { ...installed.headers, authorization: `Bearer ${access_token}` })
    expect((await app('GET', `/issues/${created.body.id}`)).body).toMatchObject({ title: 'By the app' })
  })

  test("a browser's cookie can write, and nothing can without it", verifies('deploy.proxy-oauth'), async () => {
    const { proxied, ada } = at(name)
    const opened = await chromium.launch({
      executablePath: await browser(),
      args: [`--host-resolver-rules=MAP ${host} 127.0.0.1`, '--no-sandbox'],
    })
    try {
      // The authority of the test is not one that the browser knows.
      const context = await opened.newContext({ ignoreHTTPSErrors: true })
      const page = await context.newPage()
      await page.goto(`${proxied.url}/docs`)
      const post = (path: string, body: object) =>
        page.evaluate(
          async ({ path, body, workspace }) => {
            const headers = { 'content-type': 'application/json', 'x-workspace-id': workspace }
            const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
            return { status: response.status, body: (await response.json()) as Json }
          },
          { path: `/api/v1${path}`, body, workspace: ada.headers['x-workspace-id'] },
        )
      const issue = { title: 'By cookie', team_id: ada.teamId }
      expect((await post('/issues', issue)).status).toBe(401)
      expect((await post('/auth/sign-in', { email, password: 'a password' })).status).toBe(200)
      const written = await post('/issues', issue)
      expect(written.status).toBe(201)
      const [cookie] = await context.cookies()
      expect(cookie).toMatchObject({ name: 'baton_session', domain: host, secure: true, httpOnly: true })
      expect((await ada.person('GET', `/issues/${written.body.id}`)).body).toMatchObject(issue)
    } finally {
      await opened.close()
    }
  })

  test('a file larger than the usual limit of proxies arrives whole', async () => {
    const { proxied, ada } = at(name)
    const bytes = randomBytes(3 * 1024 * 1024)
    const sent = await fetch(`${proxied.url}/api/v1/files?name=a.bin`, {
      method: 'POST',
      headers: ada.headers,
      body: bytes,
    })
    expect(sent.status).toBe(201)
    const { id }: Json = await sent.json()
    const read = await fetch(`${proxied.url}/api/v1/files/${id}/content`, { headers: ada.headers })
    expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true)
  })

  test('limits of sign-in count the address of the client', verifies('deploy.proxy-client-address'), async () => {
    const { url } = at(name).proxied
    const [guesser, owner] = [newClient(), newClient()]
    const guess = (headers = {}) => guesser.patiently(() => guesser.signIn(url, email, 'a wrong password', headers))
    for (let failure = 0; failure < 10; failure++) expect((await guess()).status).toBe(401)
    expect((await guess()).status).toBe(429)
    // A client cannot choose its address.
    const forged = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7', 'x-real-ip': '203.0.113.7' }
    expect((await guess(forged)).status).toBe(429)
    const own = await owner.patiently(() => owner.signIn(url, email, 'a password'))
    expect(own.status).toBe(200)
  })

  test('metrics are hidden', verifies('deploy.proxy-hides-metrics'), async () => {
    const { proxied } = at(name)
    const direct = await fetch(`${proxied.service.url}/metrics`)
    expect([direct.status, await direct.text()]).toEqual([200, expect.stringContaining('baton_')])
    for (const path of ['/metrics', '/metrics?a=1', '/%6detrics', '/metric%73']) {
      expect((await fetch(`${proxied.url}${path}`)).status, path).toBe(404)
    }
    for (const path of ['//metrics', '/metrics/', '/METRICS', '/metrics%2f', '/metrics;a']) {
      expect(await (await fetch(`${proxied.url}${path}`)).text(), path).not.toContain('baton_')
    }
    expect((await fetch(`${proxied.url}/healthz`)).status).toBe(200)
  })

  test(
    'ten sign-ins at once pass, and others at the same time from elsewhere',
    verifies('deploy.proxy-limits-sign-in'),
    async () => {
      const { url } = at(name).proxied
      const client = newClient()
      const ten = await Promise.all(
        Array.from({ length: 10 }, (_, index) => client.signIn(url, `${index}@ten.example`, 'x')),
      )
      expect(ten.map(({ status }) => status)).toEqual(Array(10).fill(401))
      expect((await newClient().signIn(url, 'other@ten.example', 'x')).status).toBe(401)
    },
  )

  test('the proxy refuses more than ten sign-ins a second', verifies('deploy.proxy-limits-sign-in'), async () => {
    const { proxied } = at(name)
    const [client, neighbour] = [newClient(), newClient()]
    // When its line is in the log, so are those of the requests of other tests.
    const last = await neighbour.signIn(proxied.url, 'last@many.example', 'x')
    await expect.poll(() => proxied.service.output).toContain(last.headers.get('x-request-id'))
    const before = proxied.answered(signInRoute)
    const sent = 50
    const responses = await Promise.all(
      Array.from({ length: sent }, (_, index) => client.signIn(proxied.url, `${index}@many.example`, 'x')),
    )
    const refused = responses.filter((response) => !isFromBaton(response))
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThanOrEqual(sent - 10)
    for (const response of refused) {
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
      expect(await response.json()).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', details: {} })
    }
    expect((await neighbour.signIn(proxied.url, 'neighbour@many.example', 'x')).status).toBe(401)
    // What the proxy refused did not reach Baton.
    await expect.poll(() => proxied.answered(signInRoute) - before).toBe(sent - refused.length + 1)
  })

  test('the same limit applies to tokens, and to nothing else', verifies('deploy.proxy-limits-sign-in'), async () => {
    const { url } = at(name).proxied
    const refusedOf = async (path: string, init: { method: string; body?: URLSearchParams }) => {
      const client = newClient()
      const all = await Promise.all(Array.from({ length: 50 }, () => client.fetch(`${url}${path}`, init)))
      return all.filter((response) => response.status === 429 && !isFromBaton(response)).length
    }
    const form = () => ({ method: 'POST', body: new URLSearchParams({ grant_type: 'refresh_token' }) })
    expect(await refusedOf('/api/v1/oauth/token', form())).toBeGreaterThan(0)
    expect(await refusedOf('/api/v1/auth/me', { method: 'GET' })).toBeGreaterThan(0)
    expect(await refusedOf('/api/v1/issues', { method: 'GET' })).toBe(0)
    expect(await refusedOf('/healthz', { method: 'GET' })).toBe(0)
  })

  test('the port without TLS sends browsers to https', async () => {
    const { proxied } = at(name)
    const response = await newClient().fetch(`${proxied.plainUrl}/issues?a=1`)
    expect([response.status, response.headers.get('location')]).toEqual([
      308,
      expect.stringMatching(new RegExp(`^https://${host}(:\\d+)?/issues\\?a=1$`)),
    ])
  })
})

test('without the limiter, Caddy sends sign-ins to Baton', async () => {
  const { proxied } = at('caddy')
  await proxied.stopLimiter()
  // Caddy notices it within ten seconds.
  await expect
    .poll(
      () =>
        newClient()
          .signIn(proxied.url, email, 'a password')
          .then(({ status }) => status),
      { timeout: 30_000, interval: 500 },
    )
    .toBe(200)
})
