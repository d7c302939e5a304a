import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { ownDatabase } from './empty-databases.ts'
import { newDataDir } from './service-process.ts'

const script = fileURLToPath(new URL('killed-upload.mjs', import.meta.url))

/** Runs the process until it is killed before this step. Returns what it found at its start, and its end if it had one. */
async function run(env: Record<string, string>, dataDir: string, action: 'upload' | 'delete', step: number) {
  const child = spawn(process.execPath, [script, dataDir, action, String(step)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`it ended with ${code}: ${errors}`)
  const [found, ended] = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { found, ended, killed: signal === 'SIGKILL' }
}

async function killAtEveryStep(action: 'upload' | 'delete') {
  const { env, remove } = await ownDatabase()
  const dir = env.BATON_DATA_DIR ?? newDataDir()
  onTestFinished(async () => {
    await remove()
    rmSync(dir, { recursive: true, force: true })
  })
  let step = 1
  for (; ; step++) {
    const { found, ended, killed } = await run(env, dir, action, step)
    // Bytes of every ready file are complete, and after the sweeps neither rows nor bytes of drafts remain.
    expect({ step, ...found }).toMatchObject({ step, problems: [], rows: 0, keys: [], names: 0 })
    expect(found.ready).toBeLessThanOrEqual(1)
    if (killed) continue
    expect(ended.steps).toBe(step - 1)
    expect(ended.ready).toBe(action === 'upload' ? 1 : 0)
    break
  }
  expect(step).toBeGreaterThan(action === 'upload' ? 10 : 5)
}

test(
  'a process killed at any step of an upload leaves a complete file or nothing',
  {
    ...verifies('file.crash-during-upload'),
    timeout: 600_000,
  },
  () => killAtEveryStep('upload'),
)

test(
  'a process killed at any step of a deletion leaves nothing',
  {
    ...verifies('file.crash-during-delete'),
    timeout: 600_000,
  },
  () => killAtEveryStep('delete'),
)
