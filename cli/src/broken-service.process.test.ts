import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listen } from '../../server/test/loopback-server.ts'
import { Shell } from '../test/baton.ts'
import { forward } from './forward.ts'

const json = (response: ServerResponse, body: unknown) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const page: RequestListener = (_, response) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome to nginx!</h1>')

const at = async (answer: RequestListener) => `http://127.0.0.1:${await listen(createServer(answer))}`

/** As after a login at this URL. */
const loggedInAt = (url: string) =>
  Shell.of({ token: 'psn_x', user: { email: 'ann@example.com' }, workspaceId: 'wsp_x' } as never, url)

test.each<[string, RequestListener, RegExp]>([
  ['a page', page, /not a response of Baton[\s\S]*a proxy or another program/],
  ['the JSON of another program', (_, response) => json(response, { ok: true }), /is not Baton/],
])('does not log in at a service that answers %s', async (_, answer, message) => {
  const shell = await Shell.open()
  const args = ['login', '--url', await at(answer), '--email', 'ann@example.com', '--password-stdin']
  expect(await shell.run(args, { input: 'secret' })).toMatchObject({ code: 1, stderr: expect.stringMatching(message) })
  expect(await readdir(shell.home)).toEqual([])
})

test('stops reading an endless list, and reports a response of another shape', async () => {
  let asked = 0
  const turning = await loggedInAt(
    await at((_, response) => {
      asked++
      json(response, { data: [], next_cursor: 'again' })
    }),
  )
  expect(await turning.run(['apps'])).toMatchObject({ code: 1, stderr: expect.stringContaining('same page') })
  expect(asked).toBe(2)
  const odd = await loggedInAt(await at((_, response) => json(response, { data: 5 })))
  expect(await odd.run(['apps'])).toMatchObject({ code: 1, stderr: expect.stringContaining('URL is that of Baton') })
})

test('exits with 130 on Ctrl-C while waiting for a response', async () => {
  const server = createServer(() => {})
  const asked = once(server, 'request')
  const shell = await Shell.open()
  const url = `http://127.0.0.1:${await listen(server)}`
  const waiting = shell.start(['login', '--url', url, '--email', 'ann@example.com', '--password-stdin'])
  waiting.child.stdin?.end('secret')
  await asked
  expect(await waiting.interrupt()).toMatchObject({ code: 130 })
})

test('reports invalid deliveries and forwards the following ones', async () => {
  const got: string[] = []
  const program = createServer((request, response) => {
    got.push(request.headers['svc-event'] as string)
    response.end('fine')
  })
  const forwardTo = `http://127.0.0.1:${await listen(program)}/`
  const body = Buffer.from('{"type":"Ping","action":"create"}').toString('base64')
  const attempts = [
    'not json',
    'null',
    '{}',
    JSON.stringify({ attempt_id: 'att_1', delivery_id: 'dlv_1', body: 5, headers: {} }),
    JSON.stringify({ attempt_id: 'att_2', delivery_id: 'dlv_2', body, headers: { 'svc-event': 'Ping' } }),
  ]
  let streams = 0
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url?.endsWith('/listen')) return json(response, { id: 'app_1', name: 'Robot' })
    if (++streams === 1) return page(request, response)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: ready\ndata: {}\n\n')
    for (const data of attempts) response.write(`event: attempt\ndata: ${data}\n\n`)
  }
  const shell = await loggedInAt(await at(answer))
  const listening = shell.start(['listen', '--app', 'app_1', '--forward-to', forwardTo])
  await listening.says(/200 Ping create/)
  expect(listening.stderr).toContain('not an event stream of Baton')
  expect(listening.stderr.match(/could not be forwarded/g)).toHaveLength(4)
  expect(got).toEqual(['Ping'])
  expect(await listening.interrupt()).toMatchObject({ code: 0 })
})

test('forwards the status even if the body is truncated or endless', async () => {
  const broken = await at((_, response) => void response.writeHead(202).write('work', () => response.destroy()))
  const attempt = { attempt_id: 'att_1', delivery_id: 'dlv_1', url: '', headers: {}, body: '' }
  expect(await forward(attempt, broken)).toMatchObject({ answer: { status: 202 }, problem: null })
  const endless = await at((_, response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    }
    response.on('drain', more)
    more()
  })
  const { answer } = await forward(attempt, endless)
  expect(answer).toEqual({ status: 200, body: 'x'.repeat(2000) })
})

test('does not let the service inject settings into .env', async () => {
  const made = { app: { id: 'app_1', name: 'Robot' }, client_id: 'c', webhook_secret: 'pwhsec_1' }
  const client_secret = 'svc_sk_1\nNODE_OPTIONS=--import=data:text/javascript,'
  const shell = await loggedInAt(await at((_, response) => json(response, { ...made, client_secret })))
  await writeFile(join(shell.cwd, 'manifest.json'), '{"name":"Robot"}')
  await writeFile(join(shell.cwd, '.env'), 'PORT=4000\n')
  expect(await shell.run(['apps', 'register', 'manifest.json', '--env', '.env'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('CLIENT_SECRET cannot be written'),
  })
  expect(await readFile(join(shell.cwd, '.env'), 'utf8')).toBe('PORT=4000\n')
})

test('names invalid files, and passes arguments after -- to the agent', async () => {
  const shell = await loggedInAt(await at(page))
  const write = (name: string, text: string) => writeFile(join(shell.cwd, name), text)
  await write('package.json', '{"main":')
  expect(await shell.run(['dev'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('package.json is not valid JSON'),
  })
  await write('package.json', '[]')
  expect(await shell.run(['dev'])).toMatchObject({ code: 1, stderr: expect.stringContaining('not a JSON object') })
  await write('manifest.json', 'null')
  const args = ['dev', '--', 'node', 'agent.js', '--json']
  expect(await shell.run(args)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('manifest.json is not a JSON object'),
  })
})
