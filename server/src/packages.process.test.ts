import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished } from 'vitest'
import { type TestApp, test } from '../test/harness.ts'

const run = promisify(execFile)
const setup = new URL('../../scripts/setup.mjs', import.meta.url)

beforeAll(async () => {
  // In another process, because its output belongs to a terminal.
  const build = `import { buildPackages } from ${JSON.stringify(setup.href)}; await buildPackages()`
  await run(process.execPath, ['--input-type=module', '-e', build])
})

/** An empty directory with its own npm cache, where no registry answers. */
async function emptyDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'baton-packages-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const env = {
    PATH: process.env.PATH,
    HOME: directory,
    npm_config_cache: join(directory, '.npm'),
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_fetch_retries: '0',
    npm_config_update_notifier: 'false',
  }
  return { directory, run: (program: string, ...args: string[]) => run(program, args, { cwd: directory, env }) }
}

const urlOf = (app: TestApp, name: string) => `${app.rootUrl}/packages/${name}.tgz`

// The CLI contains the SDK and the library of the Agent Client Protocol.
test.for([
  ['sdk', 100_000],
  ['cli', 220_000],
] as const)('serves %s.tgz to anyone, and 304 to those who have it', async ([name, mostBytes], { app }) => {
  const first = await fetch(urlOf(app, name))
  expect(first.status).toBe(200)
  expect(Object.fromEntries(first.headers)).toMatchObject({
    'content-type': 'application/gzip',
    'cache-control': 'public, no-cache',
    'x-content-type-options': 'nosniff',
  })
  const bytes = Buffer.from(await first.arrayBuffer())
  const onDisk = await readFile(fileURLToPath(new URL(`../dist/packages/${name}.tgz`, import.meta.url)))
  expect(bytes.equals(onDisk)).toBe(true)
  expect(bytes.length).toBeLessThan(mostBytes)

  const etag = first.headers.get('etag') ?? ''
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await fetch(urlOf(app, name), { headers: { 'if-none-match': known } })
    expect(again).toMatchObject({ status: 304 })
    expect(again.headers.get('etag')).toBe(etag)
    expect(await again.text()).toBe('')
  }
  const other = await fetch(urlOf(app, name), { headers: { 'if-none-match': '"other"' } })
  expect(other.status).toBe(200)
  expect((await fetch(urlOf(app, name), { method: 'HEAD' })).headers.get('content-length')).toBe(String(bytes.length))
})

test('serves no other file', async ({ app }) => {
  for (const path of ['protocol.tgz', 'sdk', '.sources', '..%2f.tsbuildinfo', '..%2fpackages%2fsdk.tgz', 'SDK.tgz']) {
    const { status, body } = await app.anonymous.getRoot(`/packages/${path}`)
    expect({ path, status, code: body.code }).toEqual({ path, status: 404, code: 'RESOURCE_NOT_FOUND' })
  }
})

test('npm installs the SDK from the instance alone, and an agent imports it', async ({ app }) => {
  const { directory, run } = await emptyDirectory()
  await writeFile(join(directory, 'package.json'), '{"name":"my-agent","private":true,"type":"module"}')
  await run('npm', 'install', '--no-audit', '--no-fund', urlOf(app, 'sdk'))
  expect(await readdir(join(directory, 'node_modules'))).toEqual(['.package-lock.json', '@baton'])
  expect(await readdir(join(directory, 'node_modules', '@baton'))).toEqual(['sdk'])
  const agent = `
    import { createAgent, memoryTokens, signWebhook } from '@baton/sdk'
    const secret = 'pwhsec_x'
    const agent = createAgent({
      baseUrl: '${app.rootUrl}', clientId: 'a', clientSecret: 'b', webhookSecret: secret, store: memoryTokens(),
      onPing: ({ data }) => console.log(data.label),
    })
    const ping = { type: 'Ping', action: 'create', data: { webhook_id: 'w', label: 'hello' } }
    const { body, headers } = signWebhook(ping, { secret })
    const { status } = await agent.receive({ rawBody: body, headers })
    await agent.settled()
    console.log(status)`
  await writeFile(join(directory, 'agent.js'), agent)
  expect((await run(process.execPath, 'agent.js')).stdout).toBe('hello\n200\n')
})

test('npx runs the CLI from the instance alone', async ({ app }) => {
  const { directory, run } = await emptyDirectory()
  const { version } = JSON.parse(await readFile(new URL('../../cli/package.json', import.meta.url), 'utf8'))
  const npx = (...args: string[]) => run('npx', '--yes', urlOf(app, 'cli'), ...args)
  expect((await npx('--version')).stdout).toBe(`${version}\n`)
  expect((await npx('--help')).stdout).toContain('Commands:')
  const refused = await npx('apps', '--json').catch((error: { stdout: string }) => error)
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'NOT_LOGGED_IN' } })
  expect((await readdir(directory)).sort()).toEqual(['.npm'])
})
