import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { type Route, routes } from '@baton/protocol'
import { expect, test } from 'vitest'
import { filledDataDir, withEmptyDatabase } from './empty-databases.ts'
import { callerAt, install, newcomer, type Outsider } from './outside.ts'
import { isSigned, Receiver } from './receiver.ts'
import { freePort, newDataDir, ServiceProcess } from './service-process.ts'

type Env = Record<string, string>
type Trial = (original: Env, backUp: (running: ServiceProcess) => Promise<Env>) => Promise<void>

const newKey = () => randomBytes(32).toString('base64')
/** With these, responses do not depend on the port or on time. */
const settings = {
  BATON_ROOT_URL: 'http://localhost:3000',
  BATON_WEBHOOK_ALLOW: 'localhost',
  BATON_UNRESPONSIVE_AFTER: '3600',
}

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

async function trial(original: Env, backUp: (running: ServiceProcess) => Promise<Env>, receiver: Receiver) {
  const started: ServiceProcess[] = []
  const start = async (env: Env) => {
    const service = await ServiceProcess.start({ ...settings, ...env })
    started.push(service)
    return service
  }
  try {
    // Without a worker, deliveries stay pending.
    const before = await start({ ...original, BATON_ROLE: 'api' })
    const company = await fill(before.url, receiver)
    const shown = await everyList(company.person)
    expect(Object.keys(shown).length).toBeGreaterThan(20)
    const restored = await backUp(before)
    expect(receiver.received).toEqual([])
    const arriving = receiver.next()
    const after = await start(restored)
    const delivered = await arriving
    expect(delivered.headers['svc-delivery']).toBe(company.pending)
    expect(isSigned(delivered, company.secret)).toBe(true)
    expect(await everyList(callerAt(after.url, company.headers))).toEqual(shown)
    expect((await callerAt(after.url, company.appHeaders)('GET', '/issues')).body.data.length).toBe(1)
  } finally {
    for (const service of started) await service.kill('SIGKILL')
  }
}

/** Creates items of most kinds, and one pending delivery. */
async function fill(url: string, receiver: Receiver) {
  const { person, headers, teamId: team_id } = await newcomer(url)
  const { headers: appHeaders, appUserId } = await install(url, person, 'https://listen.invalid/')
  const hook = { label: 'All', url: receiver.url, all_teams: true, resource_types: ['Issue'] }
  const webhook = (await person('POST', '/webhooks', hook)).body
  const issue = { title: 'Kept', team_id, delegate_id: appUserId }
  const { id: target_id } = (await person('POST', '/issues', issue)).body
  await person('POST', '/comments', { target_type: 'issue', target_id, text: 'Kept too' })
  await person('POST', '/projects', { title: 'Long', team_ids: [team_id] })
  for (const kind of ['labels', 'initiatives']) await person('POST', `/${kind}`, { name: 'Of old' })
  await person('POST', '/views', { name: 'Mine', query: '' })
  const [{ id: pending }] = (await person('GET', `/webhooks/${webhook.id}/deliveries`)).body.data
  return { person, headers, appHeaders, pending, secret: webhook.secret }
}

/** The responses of all lists that need only a login, and are JSON. */
async function everyList(person: Outsider) {
  const lists = (Object.values(routes) as Route[]).filter(
    ({ method, path, at, stream }) =>
      method === 'GET' && !at && !stream && !path.includes(':') && path !== routes.exportAuditEntries.path,
  )
  const answers = lists.map(async ({ path }) => [path, (await person('GET', path)).body] as const)
  return Object.fromEntries(await Promise.all(answers))
}
