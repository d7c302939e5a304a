import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { test as base, describe, expect } from 'vitest'
import { filledDataDir } from './empty-databases.ts'
import { freePort } from './service-process.ts'

const onPostgres = Boolean(process.env.DATABASE_URL)
const root = fileURLToPath(new URL('../..', import.meta.url))
const built = join(root, 'server', process.env.BATON_TEST_BUNDLE ? 'bundle' : 'dist')

/** A package whose `npm start` runs the service as scripts/start.mjs does, but installs and builds nothing. */
const test = base.extend<{ dir: string; dataDir: string; port: number; run: (command: string[]) => ChildProcess }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
  dir: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'baton-npm-'))
    writeFileSync(join(dir, 'package.json'), JSON.stringify({ scripts: { start: 'node start.mjs' } }))
    writeFileSync(
      join(dir, 'start.mjs'),
      `import { endWithNpm } from ${JSON.stringify(join(root, 'scripts/end-with-npm.mjs'))}
      endWithNpm()
      await import(${JSON.stringify(join(built, 'main.js'))})`,
    )
    await use(dir)
    rmSync(dir, { recursive: true, force: true })
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above
  dataDir: async ({}, use) => {
    const dir = await filledDataDir()
    await use(dir)
    rmSync(dir, { recursive: true, force: true })
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above
  port: async ({}, use) => use(await freePort()),
  run: async ({ dir, dataDir, port }, use) => {
    const { npm_lifecycle_event: _, npm_lifecycle_script: __, ...env } = process.env
    const started: ChildProcess[] = []
    await use(([command = '', ...args]) => {
      const child = spawn(command, args, {
        cwd: dir,
        env: { ...env, PORT: String(port), BATON_DATA_DIR: dataDir, BATON_DEMO: '0' },
        stdio: 'ignore',
        detached: true,
      })
      started.push(child)
      return child
    })
    for (const { pid } of started) {
      try {
        process.kill(-(pid as number), 'SIGKILL') // what is left of its process group
      } catch {}
    }
  },
})

const answers = (port: number) =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const soon = { timeout: 30_000, interval: 100 }

describe.skipIf(onPostgres)('the service of npm start', { timeout: 120_000 }, () => {
  test.for([
    ['npm alone gets', 'SIGTERM', (pid: number) => pid],
    ['npm alone gets', 'SIGKILL', (pid: number) => pid],
    // As by Ctrl+C: npm, its shell and the service.
    ['the process group gets', 'SIGINT', (pid: number) => -pid],
  ] as const)(
    'stops in order when %s %s, and releases port and data directory',
    async ([, signal, target], { run, port, dataDir }) => {
      const npm = run(['npm', 'start'])
      await expect.poll(() => answers(port), soon).toBe(true)
      expect(existsSync(join(dataDir, 'lock'))).toBe(true)
      process.kill(target(npm.pid as number), signal)
      // A killed service would leave its lock; only a stop in order removes it.
      await expect.poll(() => existsSync(join(dataDir, 'lock')), soon).toBe(false)
      expect(await answers(port)).toBe(false)
    },
  )

  test('does not start when npm was killed before', async ({ run, port, dir, dataDir }) => {
    writeFileSync(
      join(dir, 'start.mjs'),
      `import { writeFileSync } from 'node:fs'
      import { endWithNpm } from ${JSON.stringify(join(root, 'scripts/end-with-npm.mjs'))}
      endWithNpm()
      writeFileSync('building', String(process.pid))
      await new Promise((resolve) => setTimeout(resolve, 60_000))
      await import(${JSON.stringify(join(built, 'main.js'))})`,
    )
    const npm = run(['npm', 'start'])
    await expect.poll(() => existsSync(join(dir, 'building')), soon).toBe(true)
    process.kill(npm.pid as number, 'SIGKILL')
    const pid = Number(readFileSync(join(dir, 'building'), 'utf8'))
    await expect.poll(() => isRunning(pid), soon).toBe(false)
    expect(await answers(port)).toBe(false)
    expect(existsSync(join(dataDir, 'lock'))).toBe(false)
  })

  test('ends its build and itself at a signal', async ({ run, dir, dataDir }) => {
    const building = join(dir, 'building')
    writeFileSync(
      join(dir, 'start.mjs'),
      `import { withBuildLock } from ${JSON.stringify(join(root, 'scripts/build-lock.mjs'))}
      import { step } from ${JSON.stringify(join(root, 'scripts/setup.mjs'))}
      import { run } from ${JSON.stringify(join(built, 'run.js'))}
      const program = \`fs.writeFileSync(${JSON.stringify(building)}, String(process.pid)); setInterval(() => {}, 1000)\`
      await run(withBuildLock('.', (lock) => step('Building', process.execPath, ['-e', program], { lock })))`,
    )
    const service = run(['node', 'start.mjs'])
    const ended = once(service, 'exit')
    const builder = () => (existsSync(building) ? Number(readFileSync(building, 'utf8')) : 0)
    await expect.poll(() => existsSync(join(dataDir, 'lock')) && builder() > 0, soon).toBe(true)
    const pid = builder()
    service.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    await expect.poll(() => isRunning(pid), soon).toBe(false)
  })

  test('outlives its parent when it was not started by npm', async ({ run, port }) => {
    const shell = run(['sh', '-c', 'nohup node start.mjs & sleep 60'])
    await expect.poll(() => answers(port), soon).toBe(true)
    process.kill(shell.pid as number, 'SIGKILL')
    await sleep(1500) // three times the interval at which it would look for its parent
    expect(await answers(port)).toBe(true)
  })
})
