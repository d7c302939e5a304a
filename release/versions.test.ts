import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifies } from '../conformance/requirements.ts'
import { withPostgres } from '../scripts/postgres.mjs'
import { filesThatDiffer, installNodes, installPostgresVersions } from '../scripts/versions.mjs'
import { freePort } from '../server/test/service-process.ts'

const only = process.env.BATON_TEST_VERSIONS?.split(',').filter(Boolean) ?? []
const isChosen = (name: string) => only.length === 0 || only.includes(name)
const partMs = 600_000
/** A third of the server's tests keeps within ten minutes. */
const shards = process.env.BATON_TEST_ALL
  ? ['1/3', '2/3', '3/3']
  : [`${(Math.floor(Date.now() / 86_400_000) % 3) + 1}/3`]

/** Not the settings of this run, nor those that vitest gives to its workers. */
const environment = (more: Record<string, string>) => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(BATON_|DATABASE_URL$|VITEST|NODE_ENV$|npm_)/.test(name)),
  ),
  ...more,
})

/** Runs a program to its end; the output is that of a failure. */
async function ends(command: string, args: string[], env: Record<string, string>) {
  const child = spawn(command, args, { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), partMs)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text
    })
  }
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  return { code, output }
}
const vitest = ['node_modules/vitest/vitest.mjs', 'run']

describe.each(['node-20.19', 'node-22', 'node-24', 'node-26'])('%s', (name) => {
  let node: string
  let path: string
  beforeAll(async () => {
    if (!isChosen(name)) return
    const found = (await installNodes()).find((one) => one.name === name)
    node = found?.node as string
    path = `${dirname(node)}${delimiter}${process.env.PATH}`
  })

  test.skipIf(!isChosen(name))(
    'npm start runs, and warns on Node 20 only',
    verifies('versions.node', 'versions.node-20-warning'),
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'baton-version-'))
      const port = await freePort()
      const env = { PATH: path, PORT: String(port), BATON_DATA_DIR: dir }
      // As npm start does, but npm has to find this Node, which its own script would not use.
      const child = spawn(node, ['scripts/start.mjs'], { env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (text) => {
          output += text
        })
      }
      const ended = once(child, 'close')
      try {
        await expect.poll(() => output, { timeout: 180_000, interval: 200 }).toContain('The API is described')
        expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
        child.kill('SIGTERM')
        expect(await ended).toEqual([0, null])
        const warnings = output.split('\n').filter((line) => line.startsWith('Warning: '))
        expect(warnings).toEqual(name === 'node-20.19' ? [expect.stringContaining('the Node 20 line ended')] : [])
      } finally {
        child.kill('SIGKILL')
        await ended
        rmSync(dir, { recursive: true, force: true })
      }
    },
  )

  test.skipIf(!isChosen(name)).each(shards)(
    "the server's tests pass, part %s",
    { ...verifies('versions.node'), timeout: partMs },
    async (shard) => {
      const env = { PATH: path, DATABASE_URL: '', BATON_TEST_BUNDLE: '1', CI: 'true' }
      const { code, output } = await ends(node, [...vitest, 'server/', `--shard=${shard}`], env)
      expect(code, output.slice(-8000)).toBe(0)
    },
  )
})

describe('PostgreSQL', () => {
  let installed: Awaited<ReturnType<typeof installPostgresVersions>>
  beforeAll(async () => {
    installed = await installPostgresVersions()
  })
  afterAll(() => rmSync(installed?.dir, { recursive: true, force: true }))

  test.each(['postgres-16', 'postgres-17', 'postgres-18'].filter(isChosen))(
    '%s passes the tests that can differ',
    { ...verifies('versions.postgres'), timeout: partMs },
    async (name) => {
      const found = installed.versions.find((one) => one.name === name)
      const run = (url: string) =>
        ends(process.execPath, [...vitest, ...filesThatDiffer()], {
          DATABASE_URL: url,
          BATON_TEST_BUNDLE: '1',
          CI: 'true',
        })
      const { code, output } = await withPostgres(run, { serverBin: found?.bin as string })
      expect(code, output.slice(-8000)).toBe(0)
    },
  )
})
