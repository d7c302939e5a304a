import { chmodSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { readConfig } from '../config.ts'
import { serveCommands } from './socket.ts'

function newFolder() {
  const dir = mkdtempSync(join(tmpdir(), 'b-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Serves no commands with these settings, and returns what is logged. */
async function serve({ ctx }: TestApp, env: Record<string, string>) {
  const logged: { level: number; msg: string }[] = []
  const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const stop = await serveCommands({ ...ctx, log, config: readConfig(env) }, [])
  onTestFinished(stop)
  return { logged, stop }
}

test('a directory for the socket is made private; one in which others can write is refused', {
  ...verifies('admin.socket-permissions'),
}, async ({ app }) => {
  const dir = newFolder()
  const own = join(dir, 'run', 'baton.sock')
  const { logged, stop } = await serve(app, { BATON_DATA_DIR: dir, BATON_OPERATE_SOCKET: own })
  expect(logged).toEqual([])
  expect([statSync(own).mode & 0o777, statSync(join(dir, 'run')).mode & 0o777]).toEqual([0o600, 0o700])
  await stop()
  expect(existsSync(own)).toBe(false)

  chmodSync(dir, 0o777)
  const refused = await serve(app, { BATON_DATA_DIR: dir, BATON_OPERATE_SOCKET: join(dir, 'baton.sock') })
  expect(existsSync(join(dir, 'baton.sock'))).toBe(false)
  expect(refused.logged).toMatchObject([{ msg: expect.stringContaining('other users can write to the directory') }])
})

test('a path of 100 bytes is used; with 101 there is no socket and one message', {
  ...verifies('admin.socket-long-path'),
}, async ({ app }) => {
  const base = newFolder()
  const socketName = '/operate.sock'
  for (const [bytes, makes] of [
    [100, true],
    [101, false],
  ] as const) {
    const dir = `${base}/${'x'.repeat(bytes - base.length - 1 - socketName.length)}`
    expect(Buffer.byteLength(dir + socketName)).toBe(bytes)
    const { logged, stop } = await serve(app, { BATON_DATA_DIR: dir })
    expect(existsSync(dir + socketName)).toBe(makes)
    expect(logged.filter(({ msg }) => msg.includes('BATON_OPERATE_SOCKET'))).toHaveLength(makes ? 0 : 1)
    await stop()
  }
})
