import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test, verifies } from '../../server/test/harness.ts'
import { installedLinearApp } from '../../server/test/linear.ts'
import { freePort } from '../../server/test/service-process.ts'
import { Shell } from '../test/baton.ts'

test('registers an app for Linear', verifies('linear.cli-register'), async ({ app }) => {
  const { owner } = await app.workspace()
  const shell = await Shell.of(owner, app.rootUrl)
  const args = [
    'linear',
    'register',
    '--name',
    'Robot',
    '--webhook-url',
    'https://robots.example.com/hook',
    '--write',
    '.env',
  ]
  const registered = await shell.run([...args, '--redirect-uri', 'http://localhost:3979/cb', '--json'])
  expect(registered.code).toBe(0)
  expect(registered.stdout + registered.stderr).not.toMatch(/svc_sk_|pwhsec_/)
  expect(registered.json().app).toMatchObject({ compat: 'linear', redirect_uris: ['https://localhost:3979/cb'] })
  const env = await readFile(join(shell.cwd, '.env'), 'utf8')
  expect(env).toMatch(/^LINEAR_CLIENT_ID=cli_.*\nLINEAR_CLIENT_SECRET=svc_sk_.*\nLINEAR_WEBHOOK_SECRET=pwhsec_.*\n/)
  expect(env).toContain(`LINEAR_API_URL=${app.rootUrl}/linear/graphql`)
  expect((await stat(join(shell.cwd, '.env'))).mode & 0o777).toBe(0o600)
  expect((await shell.run(['linear', 'register'])).code).not.toBe(0)
  expect((await shell.run(['linear', '--'])).code).not.toBe(0)
})

/** Asks for the viewer by fetch and by node:https, redirects a browser, and asks another host. */
const agent = `
import { createServer, get } from 'node:http'
import https, { request } from 'node:https'
const [token, other] = process.argv.slice(2)
const body = JSON.stringify({ query: '{viewer{id}}' })
const headers = { authorization: token, 'content-type': 'application/json' }
const byFetch = await (await fetch('https://api.linear.app/graphql', { method: 'POST', headers, body })).json()
const byRequest = (send, ...args) => new Promise((resolve, reject) => {
  const sent = send(...args, (response) => {
    let text = ''
    response.on('data', (chunk) => { text += chunk }).on('end', () => resolve(JSON.parse(text)))
  })
  sent.on('error', reject).end(body)
})
const byHttps = await byRequest(https.request, { hostname: 'api.linear.app', path: '/graphql', method: 'POST', headers: { ...headers, Host: 'api.linear.app' } })
const byNamed = await byRequest(request, 'https://api.linear.app/graphql', { method: 'POST', headers })
const server = createServer((_, response) => response.writeHead(302, { Location: 'https://linear.app/oauth/authorize?client_id=1' }).end())
await new Promise((resolve) => server.listen(0, resolve))
const location = await new Promise((resolve) => get({ port: server.address().port }, ({ headers }) => resolve(headers.location)))
server.close()
const elsewhere = await (await fetch(other)).json()
console.log(JSON.stringify({ ids: [byFetch, byHttps, byNamed].map(({ data }) => data.viewer.id), location, elsewhere }))
console.log('Open https://linear.app/oauth/authorize?client_id=1')
`

test(
  'runs a program whose calls of Linear reach Baton',
  verifies('linear.cli-preload', 'linear.cli-authorize-address'),
  async ({ app }) => {
    const { owner } = await app.workspace()
    const robot = await installedLinearApp(app, owner)
    const shell = await Shell.of(owner, app.rootUrl)
    await writeFile(join(shell.cwd, 'agent.mjs'), agent)
    const other = `${app.rootUrl}/healthz`
    const ended = await shell.run(['linear', '--', process.execPath, 'agent.mjs', robot.token, other])
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' })
    const [first = '', second] = ended.stdout.trim().split('\n')
    const page = `${app.rootUrl}/linear/oauth/authorize?client_id=1`
    expect(JSON.parse(first)).toEqual({
      ids: [robot.viewerId, robot.viewerId, robot.viewerId],
      location: page,
      elsewhere: expect.anything(),
    })
    expect(second).toBe(`Open ${page}`)
    expect((await shell.run(['linear', '--', process.execPath, '-e', 'process.exit(3)'])).code).toBe(3)
  },
)

const receiver = `
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray())
  const expected = createHmac('sha256', process.env.LINEAR_WEBHOOK_SECRET).update(body).digest('hex')
  const verified = request.headers['linear-signature'] === expected
  console.log(JSON.parse(body).type, verified ? 'verified' : 'not verified')
  response.end()
})
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('Receiving as', process.env.NAMED))
`

test(
  'runs the program with the settings in .env, forwards deliveries to it, and ends with it',
  verifies('linear.cli-register'),
  async ({ app }) => {
    const { owner } = await app.workspace()
    const shell = await Shell.of(owner, app.rootUrl)
    const port = await freePort()
    const url = `http://localhost:${port}/hook`
    const register = ['linear', 'register', '--name', 'Robot', '--webhook-url', url, '--write', '.env', '--json']
    await writeFile(join(shell.cwd, '.env'), 'NAMED=file\n')
    const { app: robot } = (await shell.run(register)).json()
    await writeFile(join(shell.cwd, 'agent.mjs'), receiver)
    const program = [process.execPath, 'agent.mjs', String(port)]
    const running = shell.start(['linear', '--forward-to', url, '--', ...program], { env: { NAMED: 'environment' } })
    // What is set already wins.
    await running.says(/Receiving as environment/)
    await running.says(/Ready/)
    const test = { type: 'AgentSessionEvent', action: 'created' }
    expect((await owner.post(`/agent-apps/${robot.id}/webhook/test`, test)).body).toMatchObject({ ok: true })
    await running.says(/AgentSessionEvent verified/)
    await running.interrupt()
    expect((await owner.get(`/agent-apps/${robot.id}`)).body.listener).toBeNull()
    await expect(fetch(url)).rejects.toThrow()
  },
)
