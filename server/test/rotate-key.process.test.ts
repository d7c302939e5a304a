import { createHmac } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { Keyring } from '../src/crypto.ts'
import { DataDir } from '../src/db/data-dir.ts'
import { sql } from '../src/db/sql.ts'
import { countSealed, resealAll } from '../src/key-check.ts'
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

test('rotates the key of a running service, and deliveries are signed as before', {
  ...verifies('safety.rotate-key-embedded', 'safety.rotate-key-check'),
  ...onEmbedded,
  timeout: 300_000,
}, async ({ receiver }) => {
  const { dir, env } = await installed()
  const service = await started(env)
  const { token } = await service.call('POST', '/auth/sign-up', {
    email: 'ann@example.com',
    password: 'a password',
    name: 'Ann',
  })
  const authorization = `Bearer ${token}`
  const { id } = await service.call('POST', '/workspaces', { name: 'Acme' }, { authorization })
  const headers = { authorization, 'x-workspace-id': id as string }
  const webhook = await service.call(
    'POST',
    '/webhooks',
    { label: 'A', url: receiver.url, all_teams: true, resource_types: ['Issue'] },
    headers,
  )
  const delivered = async (title: string, on: ServiceProcess) => {
    await on.call('POST', '/issues', { title }, headers)
    for (let tries = 0; receiver.received.length === 0 && tries < 600; tries++) {
      await new Promise((later) => setTimeout(later, 50))
    }
    const { raw, headers: sent } = only(receiver.take())
    const { secret } = await on.call('GET', `/webhooks/${webhook.id}/secret`, undefined, headers)
    const signed = createHmac('sha256', secret).update(raw).digest('hex')
    expect(Object.values(sent).some((value) => String(value).includes(signed))).toBe(true)
    return secret
  }
  const secret = await delivered('Before', service)
  const old = keyIn(dir)

  const { code, stdout } = await operate(['rotate-key', '--json'], env)
  expect(code).toBe(0)
  const { key_id } = JSON.parse(stdout)
  expect(keyIn(dir)).not.toBe(old)
  expect(statSync(join(dir, 'secret.key')).mode & 0o777).toBe(0o600)
  expect(await delivered('After', service)).toBe(secret)
  const check = await operate(['rotate-key', '--check', '--json'], env)
  expect(check.code).toBe(0)
  expect(JSON.parse(check.stdout).keys).toEqual([
    { id: key_id, key: 'current', values: 2 },
    { id: expect.any(String), key: 'previous', values: 0 },
  ])
  await service.kill('SIGTERM')

  const again = await started(env)
  expect(existsSync(join(dir, 'secret.key.previous'))).toBe(false)
  expect(await delivered('After a start', again)).toBe(secret)
  await again.kill('SIGTERM')
  await withDatabase(dir, async (db) => {
    const left = await countSealed(db)
    expect([...left.keys()]).toEqual([key_id])
  })
})

test('a kill at any step leaves a directory that starts', {
  ...verifies('safety.rotate-key-embedded'),
  ...onEmbedded,
  timeout: 600_000,
}, async () => {
  const { dir, env } = await installed()
  const first = await started(env)
  const { token } = await first.call('POST', '/auth/sign-up', {
    email: 'ann@example.com',
    password: 'a password',
    name: 'Ann',
  })
  const authorization = `Bearer ${token}`
  const { id } = await first.call('POST', '/workspaces', { name: 'Acme' }, { authorization })
  const headers = { authorization, 'x-workspace-id': id as string }
  const webhook = await first.call(
    'POST',
    '/webhooks',
    { label: 'A', url: 'http://localhost:9', all_teams: true, resource_types: ['Issue'] },
    headers,
  )
  const secretOf = (service: ServiceProcess, one: string) =>
    service.call('GET', `/webhooks/${one}/secret`, undefined, headers)
  const { secret } = await secretOf(first, webhook.id)
  await first.kill('SIGTERM')
  // So many that sealing them again takes a while. Each is bound to its id.
  const count = 1500
  await withDatabase(dir, async (db) => {
    const keys = new Keyring(Buffer.from(keyIn(dir), 'base64'))
    const rows = Array.from({ length: count }, (_, number) => {
      const one = `whk_${String(number).padStart(26, '0')}`
      return { one, sealed: keys.seal(`secret ${number}`, one) }
    })
    await db.run(sql`
      insert into endpoints (id, workspace_id, label, url, secret, state, state_since, all_teams, team_ids, resource_types,
        created_at, updated_at)
      select s.id, e.workspace_id, e.label, e.url, s.secret, 'disabled', e.state_since, e.all_teams, e.team_ids,
        e.resource_types, e.created_at, e.updated_at
      from endpoints e, unnest(${rows.map(({ one }) => one)}::text[], ${rows.map(({ sealed }) => sealed)}::text[]) s (id, secret)
      where e.id = ${webhook.id}`)
  })
  const last = `whk_${String(count - 1).padStart(26, '0')}`
  const mixed: number[] = []
  for (const step of ['Kept the old key', 'Wrote the new key', 'Sealing all secrets']) {
    for (const delayMs of step === 'Sealing all secrets' ? [0, 300] : [0]) {
      const { child, ended } = startOperate(['rotate-key'], env)
      let output = ''
      child.stderr.on('data', (text) => {
        output += text
        if (output.includes(step)) setTimeout(() => child.kill('SIGKILL'), delayMs)
      })
      await ended
      await withDatabase(dir, async (db) => void mixed.push((await countSealed(db)).size))
      const service = await started(env)
      expect((await secretOf(service, webhook.id)).secret).toBe(secret)
      expect((await secretOf(service, last)).secret).toBe(`secret ${count - 1}`)
      expect(existsSync(join(dir, 'secret.key.previous'))).toBe(false)
      await service.kill('SIGTERM')
      await withDatabase(dir, async (db) => expect((await countSealed(db)).size).toBe(1))
    }
  }
  // At least one kill was in the middle of sealing.
  expect(mixed).toContain(2)
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
