import { type Route, routes } from '@baton/protocol'
import { expect } from 'vitest'
import { callerAt, install, newcomer, type Outsider } from './outside.ts'
import { isSigned, type Receiver } from './receiver.ts'
import { ServiceProcess } from './service-process.ts'

export type Env = Record<string, string>
export type Trial = (original: Env, backUp: (running: ServiceProcess) => Promise<Env>) => Promise<void>

/** With these, responses do not depend on the port or on time. */
export const settings = {
  BATON_ROOT_URL: 'http://localhost:3000',
  BATON_WEBHOOK_ALLOW: 'localhost',
  BATON_UNRESPONSIVE_AFTER: '3600',
}

/** Fills a service, backs it up, starts what was restored, and compares: lists, logins, app tokens, deliveries. */
export async function trial(original: Env, backUp: (running: ServiceProcess) => Promise<Env>, receiver: Receiver) {
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
export async function fill(url: string, receiver: Receiver) {
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

/**
 * The responses of all lists that need only a login, and are JSON. A worker counts insights again after the restore. The
 * time of the last use is renewed every minute, and is left out.
 */
export async function everyList(person: Outsider) {
  const lists = (Object.values(routes) as Route[]).filter(
    ({ method, path, at, stream }) =>
      method === 'GET' &&
      !at &&
      !stream &&
      !path.includes(':') &&
      !path.startsWith('/insights/') &&
      path !== routes.exportAuditEntries.path,
  )
  const answers = lists.map(async ({ path }) => [path, withoutLastUse((await person('GET', path)).body)] as const)
  return Object.fromEntries(await Promise.all(answers))
}

const withoutLastUse = (body: unknown) =>
  JSON.parse(JSON.stringify(body ?? null, (key, value) => (key === 'last_used_at' ? undefined : value)))
