import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { TestApp } from '../../server/test/harness.ts'
import { test } from '../../server/test/harness.ts'
import { credentials, installed, type Registered, registered } from '../test/scene.ts'
import { BatonClient } from './client.ts'
import type { Clock } from './clock.ts'
import {
  envTokens,
  fileTokens,
  type InstallationTokens,
  keyValueTokens,
  memoryTokens,
  TokenManager,
  type TokenStore,
} from './tokens.ts'

const tokens: InstallationTokens = {
  installation_id: 'ins_1',
  workspace_id: 'wsp_1',
  app_user_id: 'usr_1',
  access_token: 'svc_at_1',
  refresh_token: 'prt_1',
  scope: 'read',
  expires_at: 5,
}

/** Counts refreshes and can lose their responses. */
function counting() {
  const counted = { refreshes: 0, loseAnswers: 0, fail: 0 }
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (!String(input).endsWith('/oauth/token')) return globalThis.fetch(input, init)
    if (counted.fail-- > 0) throw new TypeError('fetch failed')
    counted.refreshes++
    const response = await globalThis.fetch(input, init)
    if (counted.loseAnswers-- > 0) throw new TypeError('fetch failed')
    return response
  }
  return { counted, fetch }
}

/** The service's time; pauses end at once, deadlines never. */
const impatient = ({ clock }: TestApp): Clock => ({
  now: () => clock.now(),
  after(ms, then) {
    if (ms === deadlineMs) return () => {}
    const passed = setImmediate(() => {
      clock.advance({ milliseconds: ms })
      then()
    })
    return () => clearImmediate(passed)
  },
})
const deadlineMs = 15_000

async function scene(app: TestApp) {
  const at: Registered = await registered(app, null)
  const { store, installationId } = await installed(app, at)
  const { counted, fetch } = counting()
  const lost: string[] = []
  const manager = (over: TokenStore = store) =>
    new TokenManager({
      ...credentials(app, at),
      clock: impatient(app),
      store: over,
      fetch,
      onReinstallNeeded: (id) => void lost.push(id),
    })
  const client = (of = manager()) =>
    new BatonClient({ baseUrl: app.rootUrl, clock: app.clock, tokenProvider: of.provider(installationId) })
  return { ...at, store, installationId, counted, lost, manager, client }
}

test('twenty concurrent calls with an expired token refresh it once', async ({ app }) => {
  const { client, counted, store, installationId } = await scene(app)
  const before = await store.get(installationId)
  app.clock.advance({ hours: 1, seconds: 1 })
  const calling = client()
  const answers = await Promise.all(Array.from({ length: 20 }, () => calling.getMe()))
  expect(answers).toHaveLength(20)
  expect(counted.refreshes).toBe(1)
  const after = await store.get(installationId)
  expect(after?.refresh_token).not.toBe(before?.refresh_token)
})

test('twenty calls whose token the service refuses refresh it once', async ({ app }) => {
  const { client, counted, store, installationId } = await scene(app)
  const stored = await store.get(installationId)
  if (stored) await store.set(installationId, { ...stored, access_token: 'svc_at_wrong' })
  const calling = client()
  await Promise.all(Array.from({ length: 20 }, () => calling.getMe()))
  expect(counted.refreshes).toBe(1)
})

test('refreshes a token five minutes before it expires, not earlier', async ({ app }) => {
  const { client, counted } = await scene(app)
  const calling = client()
  app.clock.advance({ minutes: 54, seconds: 59 })
  await calling.getMe()
  expect(counted.refreshes).toBe(0)
  app.clock.advance({ seconds: 1 })
  await calling.getMe()
  expect(counted.refreshes).toBe(1)
})

test('the second of two processes uses the tokens that the first has stored', async ({ app }) => {
  const { client, manager, counted, lost } = await scene(app)
  app.clock.advance({ hours: 2 })
  const [first, second] = [client(manager()), client(manager())]
  await Promise.all([first.getMe(), second.getMe()])
  expect(counted.refreshes).toBe(2)
  expect(lost).toEqual([])
})

test('repeats a refresh that did not reach the service', async ({ app }) => {
  const { client, counted } = await scene(app)
  app.clock.advance({ hours: 2 })
  counted.fail = 2
  await client().getMe()
  expect(counted.refreshes).toBe(1)
})

test('uses the old token until it expires if the response of an early refresh is lost', async ({ app }) => {
  const { client, counted, lost, installationId } = await scene(app)
  app.clock.advance({ minutes: 56 })
  counted.loseAnswers = 1
  await client().getMe()
  expect(lost).toEqual([installationId])
})

test('reports REINSTALL_NEEDED when no token works any more', async ({ app }) => {
  const { client, counted, lost, installationId } = await scene(app)
  app.clock.advance({ hours: 2 })
  counted.loseAnswers = 1
  await expect(client().getMe()).rejects.toMatchObject({
    code: 'REINSTALL_NEEDED',
    details: { installation_id: installationId },
  })
  expect(lost).toEqual([installationId])
})

test('discards the tokens of an uninstalled app', async ({ app }) => {
  const { client, owner, store, installationId } = await scene(app)
  await owner.delete(`/installations/${installationId}`)
  await expect(client().getMe()).rejects.toMatchObject({ status: 401, code: 'INSTALLATION_REVOKED' })
  expect(await store.get(installationId)).toBeNull()
  await expect(client().getMe()).rejects.toMatchObject({ code: 'REINSTALL_NEEDED' })
})

test('keeps tokens in memory until the store accepts them', async ({ app }) => {
  const { manager, client, store, counted, installationId } = await scene(app)
  let down = true
  const flaky: TokenStore = {
    ...store,
    set: (id, value) => (down ? Promise.reject(new Error('disk full')) : store.set(id, value)),
  }
  const calling = client(manager(flaky))
  app.clock.advance({ hours: 2 })
  await expect(calling.getMe()).rejects.toThrow('disk full')
  down = false
  await calling.getMe()
  expect(counted.refreshes).toBe(1)
  expect((await store.get(installationId))?.expires_at).toBeGreaterThan(app.clock.now().getTime())
})

test('every store sets, replaces and deletes by installation', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tokens-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const kept = new Map<string, string>()
  const keyValue = {
    get: async (key: string) => kept.get(key),
    set: async (key: string, value: string) => kept.set(key, value),
    delete: async (key: string) => kept.delete(key),
  }
  for (const store of [memoryTokens(), fileTokens(join(directory, 'deep')), keyValueTokens(keyValue)]) {
    expect(await store.get('ins_1')).toBeNull()
    await store.set('ins_1', tokens)
    await store.set('ins_1', { ...tokens, scope: 'write' })
    await store.set('ins_2', tokens)
    expect((await store.get('ins_1'))?.scope).toBe('write')
    await store.delete('ins_1')
    await store.delete('ins_1')
    expect(await store.get('ins_1')).toBeNull()
    expect(await store.get('ins_2')).toEqual(tokens)
  }
})

test('tokens in the environment, from an installation on the app page, are refreshed into the store', async ({
  app,
}) => {
  const at = await registered(app, null)
  const { body } = await at.owner.post(`/agent-apps/${at.client.app.id}/install`, { all_teams: true })
  const env = {
    INSTALLATION_ID: body.installation_id,
    WORKSPACE_ID: body.workspace_id,
    APP_USER_ID: body.app_user_id,
    ACCESS_TOKEN: body.access_token,
    REFRESH_TOKEN: body.refresh_token,
  }
  const kept = memoryTokens()
  for (const { REFRESH_TOKEN: _, ...incomplete } of [env]) expect(envTokens(kept, incomplete)).toBe(kept)
  const store = envTokens(kept, env)
  expect(await store.get('ins_other')).toBeNull()
  const { baseUrl, ...shared } = credentials(app, at)
  for (let times = 0; times < 2; times++) {
    const manager = new TokenManager({ baseUrl, ...shared, store })
    const client = new BatonClient({ baseUrl, tokenProvider: manager.provider(body.installation_id) })
    expect(await client.getMe()).toMatchObject({ installation_id: body.installation_id })
  }
  const refreshed = await kept.get(body.installation_id)
  expect(refreshed).toMatchObject({ app_user_id: body.app_user_id, workspace_id: body.workspace_id })
  expect(refreshed?.refresh_token).not.toBe(body.refresh_token)
})

test('names an unusable token file without showing its content or leaving files behind', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tokens-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const store = fileTokens(directory)
  await writeFile(join(directory, 'ins_1.json'), '{"access_token":"svc_at_secret"')
  const failed = await store.get('ins_1').catch((error: Error) => error)
  expect(String(failed)).toMatch(/ins_1\.json is not valid JSON/)
  expect(String(failed)).not.toContain('svc_at')
  await mkdir(join(directory, 'ins_2.json'))
  await expect(store.set('ins_2', tokens)).rejects.toThrow('ins_2')
  expect((await readdir(directory)).sort()).toEqual(['ins_1.json', 'ins_2.json'])
})

test('token files are readable by their owner only, and no temporary file remains', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tokens-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const store = fileTokens(directory)
  await Promise.all(Array.from({ length: 20 }, (_, n) => store.set('ins_1', { ...tokens, expires_at: n })))
  expect(await readdir(directory)).toEqual(['ins_1.json'])
  expect((await stat(join(directory, 'ins_1.json'))).mode & 0o777).toBe(0o600)
  await expect(store.get('../passwd')).rejects.toThrow('not an installation id')
})
