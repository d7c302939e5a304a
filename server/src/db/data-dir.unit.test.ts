import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import { ConfigError } from '../config.ts'
import { DataDir, DataDirInUse } from './data-dir.ts'

const test = base.extend<{ dir: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
  dir: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'baton-data-'))
    await use(dir)
    rmSync(dir, { recursive: true, force: true })
  },
})

test('the lock of a dead process does not count, even if its id was reused', async ({ dir }) => {
  const lock = join(dir, 'lock')
  const namespace = readlinkSync('/proc/self/ns/pid')
  // The second id is that of this process, but the start time in the lock differs.
  for (const pid of [999999999, process.pid]) {
    const stale = `${pid} 1 ${namespace}\n`
    writeFileSync(lock, stale)
    const opened = await DataDir.open(dir)
    expect(readFileSync(lock, 'utf8')).not.toBe(stale)
    expect(readFileSync(lock, 'utf8')).toMatch(new RegExp(`^${process.pid} `))
    opened.close()
    expect(existsSync(lock)).toBe(false)
  }
})

test('a holder in another container counts as alive while it touches its lock', async ({ dir }) => {
  const lock = join(dir, 'lock')
  const content = '1 100 pid:[0]\n'
  writeFileSync(lock, content)
  const nineSecondsAgo = new Date(Date.now() - 9000)
  utimesSync(lock, nineSecondsAgo, nineSecondsAgo)
  // It looks at the lock now, and again when the lock is ten seconds old.
  const opening = DataDir.open(dir)
  utimesSync(lock, new Date(), new Date())
  await expect(opening).rejects.toThrow(DataDirInUse)
  await expect(opening).rejects.toThrow(/in use by process 1;/)
  expect(readFileSync(lock, 'utf8')).toBe(content)
  utimesSync(lock, new Date(0), new Date(0))
  const opened = await DataDir.open(dir)
  opened.close()
})

test('a directory that cannot be used is refused with one line', async ({ dir }) => {
  mkdirSync(join(dir, 'lock'))
  for (const path of [dir, '/proc', '/proc/nope', '/proc/self/x/y']) {
    const opening = DataDir.open(path)
    await expect(opening).rejects.toThrow(ConfigError)
    await expect(opening).rejects.toThrow(/^BATON_DATA_DIR .* cannot be used: .*$/)
  }
})
