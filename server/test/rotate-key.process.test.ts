import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { Keyring } from '../src/crypto.ts'
import { DataDir } from '../src/db/data-dir.ts'
import { swapKeyFiles } from '../src/db/key-file.ts'
import { sql } from '../src/db/sql.ts'
import { checkSecretKey, countSealed, resealAll } from '../src/key-check.ts'
import { filledDataDir } from './empty-databases.ts'
import { test, verifies } from './harness.ts'
import { operate, runCommand, startOperate } from './operate.ts'
import { ServiceProcess } from './service-process.ts'
import { only } from './webhook.ts'

const onEmbedded = { skip: Boolean(process.env.DATABASE_URL) }
const keyIn = (dir: string) => readFileSync(join(dir, 'secret.key'), 'utf8').trim()

async function installed(): Promise<{ dir: string; env: Record<string, string> }> {
  const dir = await filledDataDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return { dir, env: { BATON_DATA_DIR: dir, BATON_WEBHOOK_ALLOW: 'localhost' } }
}

async function started(env: Record<string, string>) {
  const service = await ServiceProcess.start(env)
  onTestFinished(async () => void (await service.kill('SIGKILL')))
  return service
}

async function withDatabase<T>(dir: string, work: (db: Awaited<ReturnType<DataDir['openDatabase']>>) => Promise<T>) {
  const dataDir = await DataDir.open(dir)
  const db = await dataDir.openDatabase(
    () => {},
    (error) => {
      throw error
    },
  )
  return work(db).finally(async () => {
    await db.close()
    dataDir.close()
  })
}

test('rotates the key of a running service, and a kill at any step leaves a directory that starts', {
  ...verifies('safety.rotate-key-embedded', 'safety.rotate-key-check'),
  ...onEmbedded,
  timeout: 300_000,
}, async ({ receiver }) => {
  const { dir, env } = await installed()
  const service = await started(env)
  const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
  const { token } = await service.call('POST', '/auth/sign-up', ann)
  const authorization = `Bearer ${token}`
  const { id } = await service.call('POST', '/workspaces', { name: 'Acme' }, { authorization })
  const headers = { authorization, 'x-workspace-id': id as string }
  const hook = { label: 'A', url: receiver.url, all_teams: true, resource_types: ['Issue'] }
  const webhook = await service.call('POST', '/webhooks', hook, headers)
  const { id: other } = await service.call('POST', '/webhooks', { ...hook, url: 'http://localhost:9' }, headers)
  const secretOf = async (on: ServiceProcess, webhookId: string): Promise<string> =>
    (await on.call('GET', `/webhooks/${webhookId}/secret`, undefined, headers)).secret
  const secrets = [await secretOf(service, webhook.id), await secretOf(service, other)]
  const delivered = async (title: string, on: ServiceProcess) => {
    const arriving = receiver.next()
    await on.call('POST', '/issues', { title }, headers)
    await arriving
    const { raw, headers: sent } = only(receiver.take())
    const signed = createHmac('sha256', secrets[0] as string)
      .update(raw)
      .digest('hex')
    expect(Object.values(sent).some((value) => String(value).includes(signed))).toBe(true)
  }
  await delivered('Before', service)
  const old = keyIn(dir)

  const { code, stdout } = await operate(['rotate-key', '--json'], env)
  expect(code).toBe(0)
  const { key_id } = JSON.parse(stdout)
  expect(keyIn(dir)).not.toBe(old)
  expect(statSync(join(dir, 'secret.key')).mode & 0o777).toBe(0o600)
  await delivered('After', service)
  expect([await secretOf(service, webhook.id), await secretOf(service, other)]).toEqual(secrets)
  const check = await operate(['rotate-key', '--check', '--json'], env)
  expect(check.code).toBe(0)
  expect(JSON.parse(check.stdout).keys).toEqual([
    { id: key_id, key: 'current', values: 3 },
    { id: expect.any(String), key: 'previous', values: 0 },
  ])
  await service.kill('SIGTERM')

  /** Everything is as before, and sealed with one key. */
  const startsWithOneKey = async () => {
    const again = await started(env)
    expect(existsSync(join(dir, 'secret.key.previous'))).toBe(false)
    expect([await secretOf(again, webhook.id), await secretOf(again, other)]).toEqual(secrets)
    const { keys } = JSON.parse((await operate(['rotate-key', '--check', '--json'], env)).stdout)
    const used = keys.filter(({ values }: { values: number }) => values > 0)
    expect(used).toEqual([{ id: expect.any(String), key: 'current', values: 3 }])
    return again
  }
  const again = await startsWithOneKey()
  await delivered('After a start', again)

  const rotating = startOperate(['rotate-key'], env)
  rotating.child.stderr.on('data', () => again.child.kill('SIGKILL'))
  await Promise.all([rotating.ended, again.ended()])
  await (await startsWithOneKey()).kill('SIGTERM')

  // What a kill leaves right after each step.
  for (const last of ['Kept the old key', 'Wrote the new key', 'Sealed one of the secrets']) {
    const next = randomBytes(32)
    const before = keyIn(dir)
    const rotate = () =>
      swapKeyFiles(dir, next, (step) => {
        if (step.startsWith(last)) throw new Error('killed')
      })
    if (last.startsWith('Sealed')) rotate()
    else expect(rotate).toThrow('killed')
    expect(keyIn(dir) === before).toBe(last.startsWith('Kept'))
    expect(existsSync(join(dir, 'secret.key.previous'))).toBe(true)
    if (last.startsWith('Sealed')) {
      await withDatabase(dir, async (db) => {
        const keys = new Keyring(Buffer.from(before, 'base64'))
        keys.rotate(next)
        await checkSecretKey(db, keys)
        const sealed = keys.seal(secrets[0] as string, webhook.id)
        await db.run(sql`update endpoints set secret = ${sealed} where id = ${webhook.id}`)
        expect((await countSealed(db)).size).toBe(2)
      })
    }
    await (await startsWithOneKey()).kill('SIGTERM')
  }
})

test('says which key seals how many values', verifies('safety.rotate-key-check'), async ({ startApp }) => {
  const app = await startApp()
  const { owner } = await app.workspace()
  const { db, keys } = app.ctx
  await owner.post('/webhooks', { label: 'A', url: 'http://localhost:9', all_teams: true, resource_types: ['Issue'] })
  const [current] = keys.keyIds
  expect(await runCommand(app, ['rotate-key', '--check'])).toMatchObject({
    exit: 0,
    json: { keys: [{ id: current, key: 'current', values: 1 }] },
  })
  const key = Buffer.alloc(32, 7)
  keys.rotate(key)
  const [next] = keys.keyIds
  expect(await runCommand(app, ['rotate-key', '--check'])).toMatchObject({
    exit: 1,
    json: {
      keys: [
        { id: next, key: 'current', values: 0 },
        { id: current, key: 'previous', values: 1 },
      ],
    },
  })
  await resealAll(db, keys)
  expect(await runCommand(app, ['rotate-key', '--check'])).toMatchObject({ exit: 0 })
})
