import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type Env, settings, type Trial, trial } from './backup-trial.ts'
import { filledDataDir, withEmptyDatabase } from './empty-databases.ts'
import { Receiver } from './receiver.ts'
import { freePort, newDataDir, ServiceProcess } from './service-process.ts'

const newKey = () => randomBytes(32).toString('base64')
test('a backup is complete, continues where it was, and opens only with its key', { timeout: 240_000 }, async () => {
  const receiver = await Receiver.start()
  await (process.env.DATABASE_URL ? onPostgres : onEmbedded)((original, backUp) => trial(original, backUp, receiver))
  await receiver.stop()
})

/** As in docs/guides/postgres.md: the backup is made while the service runs. */
async function onPostgres(run: Trial) {
  await withEmptyDatabase((original) =>
    withEmptyDatabase(async (restored) => {
      const dir = newDataDir()
      const key = { BATON_SECRET_KEY: newKey() }
      await run({ DATABASE_URL: original, ...key }, async () => {
        const env = { ...process.env, DATABASE_URL: original, RESTORED_URL: restored }
        await promisify(execFile)('bash', ['-euc', commandsOfTheGuide()], { env, cwd: dir })
        await refusedWithAnotherKey({ DATABASE_URL: restored })
        return { DATABASE_URL: restored, ...key }
      })
      rmSync(dir, { recursive: true })
    }),
  )
}

async function refusedWithAnotherKey(restored: Env) {
  const strange = new ServiceProcess(await freePort(), { ...settings, ...restored, BATON_SECRET_KEY: newKey() })
  expect(await strange.ended()).toBe(1)
  expect(strange.output).toContain('BATON_SECRET_KEY is not the key of this database')
}

/** As in docs/guides/running.md: the service is stopped, then the directory is copied. */
async function onEmbedded(run: Trial) {
  const [original, restored] = [await filledDataDir(), newDataDir()]
  await run({ BATON_DATA_DIR: original }, async (running) => {
    expect(await running.kill('SIGTERM')).toBe(0)
    cpSync(original, restored, { recursive: true })
    return { BATON_DATA_DIR: restored }
  })
  for (const dir of [original, restored]) rmSync(dir, { recursive: true })
}

function commandsOfTheGuide() {
  const guide = readFileSync(new URL('../../docs/guides/postgres.md', import.meta.url), 'utf8')
  const commands = [...guide.matchAll(/^```sh restore\n([\s\S]*?)^```$/gm)].map(([, block]) => block)
  expect(commands.length).toBeGreaterThan(0)
  return commands.join('')
}
