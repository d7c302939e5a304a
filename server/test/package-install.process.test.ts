import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { packPackages } from '../../scripts/packages.mjs'
import { filledDataDir } from './empty-databases.ts'
import { type Registry, startRegistry } from './registry.ts'
import { freePort } from './service-process.ts'

const run = promisify(execFile)
const maxServerBytes = 4_000_000
const onPostgres = Boolean(process.env.DATABASE_URL)

describe.skipIf(onPostgres)('the packages', { timeout: 300_000 }, () => {
  let dir: string
  let tarballs: Record<'protocol' | 'sdk' | 'cli' | 'server', string>
  let registry: Registry
  const started: ChildProcess[] = []

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'baton-packages-'))
    tarballs = await packPackages(join(dir, 'tarballs'))
    registry = await startRegistry(Object.values(tarballs))
  }, 300_000)
  afterAll(() => {
    for (const { pid } of started) {
      try {
        process.kill(-(pid as number), 'SIGKILL')
      } catch {}
    }
    registry?.close()
    rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  })

  const emptyDir = (name: string) => {
    const path = join(dir, name)
    mkdirSync(path)
    return path
  }
  /** Without the settings of this run, which has an npm of its own around it. */
  const env = (more: Record<string, string> = {}) => ({
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(BATON_|DATABASE_URL$|npm_)/.test(name))),
    npm_config_registry: registry.url,
    npm_config_prefer_offline: 'true',
    npm_config_yes: 'true',
    ...more,
  })
  const npm = (cwd: string, ...args: string[]) => run('npm', args, { cwd, env: env() })
  /** In a process group of its own: npx starts a shell, and that the service. */
  const serve = (cwd: string, command: string, args: string[], more: Record<string, string>) => {
    const child = spawn(command, args, { cwd, env: env(more), stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        output += text
      })
    }
    started.push(child)
    return { child, output: () => output, ended: once(child, 'exit') }
  }
  const status = (url: string) =>
    fetch(url).then(
      (response) => response.status,
      () => 0,
    )
  const soon = { timeout: 120_000, interval: 200 }

  test(
    'are four, none is private, and each installs alone and can be imported',
    verifies('package.four-tarballs'),
    async () => {
      const cwd = emptyDir('four')
      writeFileSync(join(cwd, 'package.json'), '{}')
      const { stdout } = await npm(cwd, 'install', '@baton/protocol', '@baton/sdk', '@baton/cli', '@baton/server')
      expect(stdout).toContain('added')
      for (const name of ['protocol', 'sdk', 'cli', 'server']) {
        const manifest = JSON.parse(readFileSync(join(cwd, 'node_modules/@baton', name, 'package.json'), 'utf8'))
        expect(manifest).toMatchObject({ name: `@baton/${name}`, license: 'Apache-2.0', engines: { node: '>=20.19' } })
        expect(manifest).not.toHaveProperty('private')
        expect(manifest).not.toHaveProperty('devDependencies')
        expect(readdirSync(join(cwd, 'node_modules/@baton', name), { recursive: true }).join('\n')).not.toMatch(
          /\.test\.|\.map$|\.tsbuildinfo/m,
        )
      }
      const script = `import { api } from '@baton/protocol'
      import { routes } from '@baton/protocol/routes'
      import { BatonClient } from '@baton/sdk'
      console.log(typeof api.createIssue, typeof routes.createIssue, typeof BatonClient)`
      const { stdout: imported } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd })
      expect(imported.trim()).toBe('object object function')
      expect(readdirSync(join(cwd, 'node_modules/.bin')).sort()).toEqual(
        expect.arrayContaining(['baton', 'baton-server']),
      )
    },
  )

  test('the server is at most 4 MB', verifies('package.server-size'), () => {
    expect(statSync(tarballs.server).size).toBeLessThanOrEqual(maxServerBytes)
  })

  test(
    'the server, installed from its tarball, needs no file of the repository',
    verifies('package.server-stands-alone'),
    async () => {
      const cwd = emptyDir('alone')
      writeFileSync(join(cwd, 'package.json'), '{}')
      await npm(cwd, 'install', tarballs.server)
      // npx @baton/server below creates a database.
      renameSync(await filledDataDir(), join(cwd, 'data'))
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      const command = join(cwd, 'node_modules/.bin/baton-server')
      const settings = { PORT: String(port), BATON_DATA_DIR: join(cwd, 'data'), BATON_DEMO: '0' }
      const { child, output, ended } = serve(cwd, command, [], settings)
      await expect.poll(() => status(`${url}/readyz`), soon).toBe(200)
      const page = await (await fetch(url)).text()
      const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1]
      expect(await status(url + script)).toBe(200)
      for (const path of [
        '/docs',
        '/docs/running',
        '/docs/sdk',
        '/llms.txt',
        '/packages/cli.tgz',
        '/packages/sdk.tgz',
      ]) {
        expect([path, await status(url + path)]).toEqual([path, 200])
      }
      const openapi = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as { paths: object }
      expect(Object.keys(openapi.paths)).toContain('/issues')
      const health = (more = {}) => run(command, ['health'], { cwd, env: env({ ...settings, ...more }) })
      expect((await health()).stderr).toBe('')
      const { stdout: version } = await run(command, ['--version'], { cwd, env: env() })
      expect(version.trim()).toBe(JSON.parse(readFileSync('server/package.json', 'utf8')).version)
      await expect(run(command, ['operate'], { cwd, env: env() })).rejects.toMatchObject({ code: 2 })
      await expect(run(command, ['strat'], { cwd, env: env() })).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Unknown command: strat'),
      })
      // The files that the process has open or mapped, except those of Node itself.
      const maps = readFileSync(`/proc/${child.pid}/maps`, 'utf8')
      expect(maps).not.toContain(process.cwd())
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
      expect(output()).not.toContain(process.cwd())
      await expect(health()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('Not ready') })
    },
  )

  test('npx @baton/server starts on ./.baton in an empty directory', verifies('package.npx-server'), async () => {
    const cwd = emptyDir('npx-server')
    const port = await freePort()
    const { child, ended } = serve(cwd, 'npx', ['@baton/server'], { PORT: String(port), BATON_DEMO: '0' })
    await expect.poll(() => status(`http://127.0.0.1:${port}/readyz`), soon).toBe(200)
    expect(readdirSync(cwd)).toEqual(['.baton'])
    child.kill('SIGTERM')
    await ended
    // The service ends in order with npx, and releases the directory.
    await expect.poll(() => existsSync(join(cwd, '.baton/lock')), soon).toBe(false)
    expect(await status(`http://127.0.0.1:${port}/readyz`)).toBe(0)
  })

  test('npx @baton/cli --help prints the commands in an empty directory', verifies('package.npx-cli'), async () => {
    const cwd = emptyDir('npx-cli')
    const { stdout } = await run('npx', ['@baton/cli', '--help'], { cwd, env: env() })
    expect(stdout).toMatch(/Commands:\n[\s\S]*login[\s\S]*dev/)
    expect(readdirSync(cwd)).toEqual([])
  })
})
