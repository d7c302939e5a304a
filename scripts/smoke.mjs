// A short use of the built service with the Node that runs this: starts it on an empty directory, signs up, creates an
// issue, receives its webhook, stops it, and asks the CLI for help.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyWebhook } from '../sdk/dist/index.js'
import { freePort, root } from './setup.mjs'

const dataDir = mkdtempSync(join(tmpdir(), 'baton-smoke-'))
const port = await freePort()
const base = `http://127.0.0.1:${port}`
const { DATABASE_URL: _, ...inherited } = process.env
const service = spawn(process.execPath, ['server/bundle/main.js'], {
  cwd: root,
  env: {
    ...inherited,
    PORT: String(port),
    BATON_DATA_DIR: dataDir,
    BATON_DEMO: '0',
    BATON_WEBHOOK_ALLOW: 'localhost',
  },
  stdio: ['ignore', 'pipe', 'pipe'],
})
let output = ''
for (const stream of [service.stdout, service.stderr]) {
  stream.on('data', (text) => {
    output += text
  })
}
const ended = once(service, 'close')
const received = []
const receiver = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    received.push({ headers: request.headers, rawBody: Buffer.concat(chunks) })
    response.end()
    receiver.emit('delivery')
  })
})

try {
  receiver.listen(0, 'localhost')
  await once(receiver, 'listening')
  await ready()
  await useService()
  const isEnded = process.versions.node.startsWith('20.')
  assert.equal(output.split('the Node 20 line ended').length - 1, isEnded ? 1 : 0, 'one warning on Node 20, else none')
  const help = spawnSync(process.execPath, ['cli/bin/baton.mjs', '--help'], { cwd: root, encoding: 'utf8' })
  assert.equal(help.status, 0, help.stderr)
  assert.match(help.stdout, /Commands:/)
  service.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null], 'the service must end with code 0 after SIGTERM')
} catch (error) {
  console.error(output)
  throw error
} finally {
  service.kill('SIGKILL')
  await ended
  receiver.close()
  receiver.closeAllConnections()
  rmSync(dataDir, { recursive: true, force: true })
}

async function ready() {
  while (!(await fetch(`${base}/readyz`).catch(() => null))?.ok) {
    assert.equal(service.exitCode, null, 'the service ended')
    await sleep(50)
  }
}

async function useService() {
  const delivered = once(receiver, 'delivery')
  const person = { name: 'Ann', email: 'ann@example.com', password: 'correct horse' }
  const { token } = await post('/auth/sign-up', person)
  const login = { authorization: `Bearer ${token}` }
  const workspace = await post('/workspaces', { name: 'Acme' }, login)
  const headers = { ...login, 'x-workspace-id': workspace.id }
  const team = await post('/teams', { name: 'Engineering', key: 'ENG' }, headers)
  const webhook = { label: 'Chat', url: `http://localhost:${receiver.address().port}/hook`, all_teams: true }
  const { secret } = await post('/webhooks', { ...webhook, resource_types: ['Issue'] }, headers)
  const issue = await post('/issues', { title: 'It starts', team_id: team.id }, headers)
  assert.equal(issue.code, 'ENG-1')
  await delivered
  const verified = verifyWebhook({ ...received[0], secret })
  assert.deepEqual([verified.ok, verified.event?.data.id], [true, issue.id])
}

async function post(path, body, headers = {}) {
  const response = await fetch(`${base}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  assert.equal(response.status, 201, `${path}: ${await response.clone().text()}`)
  return response.json()
}
