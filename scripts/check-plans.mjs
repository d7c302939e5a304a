// npm run check:plans: loads 100,000 issues into a temporary PostgreSQL server, calls every list of the API, and reads
// the plan of each statement sent. Fails when a list scans a big table, or sends too many statements.

import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fill } from './plans/fill.mjs'
import { listsOf } from './plans/lists.mjs'
import { withPostgres } from './postgres.mjs'
import { build, install, main, StepFailed } from './setup.mjs'

// For the caller, the parent, the list itself, and the related rows.
const maxStatements = 4
/** It collects data of many features, one or two statements each, sent together. */
const statementsOfRelated = 9

await main(async () => {
  await install()
  await build('Building', 'server')
  await withPostgres(check)
})

async function check(url) {
  const sent = []
  const service = await serve(url, sent)
  const { default: pg } = await import('pg')
  const admin = new pg.Client({ connectionString: url })
  admin.on('error', () => {}) // the server stops before a failed check ends
  await admin.connect()
  const { get, ...company } = await createCompany(service.base)
  await fill(admin, company)
  const lists = listsOf({ ...company, ...(await examples(admin, get, company.workspace)) })

  const problems = await uncheckedLists(lists)
  for (const list of lists) {
    const { next_cursor } = await get(list)
    const second = next_cursor ? [`${list}${list.includes('?') ? '&' : '?'}cursor=${next_cursor}`] : []
    for (const path of [list, ...second]) {
      sent.length = 0
      const started = performance.now()
      await get(path)
      const ms = (performance.now() - started).toFixed(1)
      const statements = [...sent]
      const shown = path.replace(/[a-z]+_0[0-9a-z]{25}/g, '…').replace(/cursor=.*/, 'cursor=…')
      console.log(`  ${shown.padEnd(60)} ${String(statements.length).padStart(2)} statements ${ms.padStart(8)} ms`)
      const most = shown.endsWith('/related') ? statementsOfRelated : maxStatements
      if (statements.length > most) problems.push(`${shown} sends ${statements.length} statements`)
      for (const table of await scannedTables(admin, statements)) problems.push(`${shown} scans all of ${table}`)
    }
  }
  await service.close()
  await admin.end()
  if (problems.length > 0) throw new StepFailed(`\n  ${problems.join('\n  ')}`)
  console.log(`${lists.length} lists, all by index`)
}

/** Operations that return pages but have no example in the lists. */
async function uncheckedLists(lists) {
  const { api } = await import('../protocol/dist/index.js')
  const checked = lists.map((list) => list.replace(/\?.*/, ''))
  return Object.values(api)
    .filter(({ query }) => query?.properties?.cursor)
    .map(({ route }) => route.path)
    .filter((path) => !checked.some((one) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`).test(one)))
    .map((path) => `${path} is not checked; add it to scripts/plans/lists.mjs`)
}

/** Starts the service on this database; records every statement in `sent`. */
async function serve(url, sent) {
  const part = (name) => import(`../server/dist/${name}.js`)
  const { Db } = await part('db/database')
  const { connectPostgres } = await part('db/postgres')
  const { migrate } = await part('db/migrate')
  const { createApp } = await part('app')
  const driver = connectPostgres(url, () => {})
  const query = (statement) => {
    sent.push(statement)
    return driver.query(statement)
  }
  const db = new Db({ ...driver, query })
  await migrate(db)
  const ctx = {
    config: (await part('config')).readConfig({ BATON_SMTP_URL: 'smtp://localhost', BATON_MAIL_FROM: 'a@b.example' }),
    clock: (await part('clock')).systemClock,
    keys: new (await part('crypto')).Keyring(randomBytes(32)),
    log: (await part('log')).createLog('silent'),
    db,
    outbound: undefined, // no list sends anything
    relay: undefined,
    storage: new (await part('storage/disk')).DiskStorage(join(tmpdir(), 'baton-plans')), // nothing is stored
  }
  const { http } = await createApp(ctx, { stopping: false })
  const base = `${await http.listen({ host: '127.0.0.1', port: 0 })}/api/v1`
  const close = async () => {
    await http.close()
    await db.close()
  }
  return { base, close }
}

/** Creates a company with one item of each kind; `get` calls the API as its owner. */
async function createCompany(base) {
  const call = async (method, path, body, headers) => {
    const response = await fetch(base + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new StepFailed(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.headers.get('content-type')?.startsWith('application/json') ? response.json() : response.text()
  }
  const ann = { name: 'Ann', email: 'ann@example.com', password: 'correct horse' }
  const { user: person, token } = await call('POST', '/auth/sign-up', ann)
  const login = { authorization: `Bearer ${token}` }
  const workspace = await call('POST', '/workspaces', { name: 'Acme' }, login)
  const headers = { ...login, 'x-workspace-id': workspace.id }
  const make = (path, body) => call('POST', path, body, headers)
  const hook = { label: 'Chat', url: 'https://hooks.example.com/', all_teams: true, resource_types: ['Issue'] }
  const manifest = {
    schemaVersion: '1.0.0',
    name: 'Robot',
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
    webhook: { url: 'https://robots.example.com/hook' },
  }
  const team = await make('/teams', { name: 'Engineering', key: 'ENG' })
  const watcher = {
    team_id: team.id,
    name: 'Watcher',
    trigger: { type: 'issue', on: 'created' },
    actions: [{ type: 'comment', text: 'Seen' }],
  }
  return {
    get: (path) => call('GET', path, undefined, headers),
    person,
    workspace,
    team,
    cycle: await make('/cycles', { name: 'Week 1', team_id: team.id }),
    automation: await make('/automations', watcher),
    project: await make('/projects', { title: 'Plan' }),
    label: await make('/labels', { name: 'Red' }),
    webhook: await make('/webhooks', hook),
    app: (await make('/agent-apps', manifest)).app,
    connection: await make('/git-connections', { kind: 'github', name: 'Shop', repositories: ['acme/shop'] }),
    imported: await make('/imports', { source: 'csv' }),
  }
}

/** Rows whose sub-lists are checked; one issue has 300 sub-issues. */
async function examples(admin, get, workspace) {
  const [issue, parent] = (await get('/issues?limit=2')).data
  await admin.query(
    `update issues set parent_id = $2 where workspace_id = $1 and id in (select id from issues where workspace_id = $1 and id < $2 limit 300)`,
    [workspace.id, parent.id],
  )
  await admin.query('analyze issues')
  const [session] = (await get('/agent-sessions?limit=1')).data
  return { issue, parent, session }
}

/** Tables that these statements scan sequentially. */
async function scannedTables(admin, statements) {
  const found = []
  for (const { text, values } of statements) {
    const { rows } = await admin.query(`explain (format json) ${text}`, [...values])
    found.push(...scansOf(rows[0]['QUERY PLAN'][0].Plan))
  }
  return found
}

/** Tables that a plan scans sequentially, without those that always stay small. */
function scansOf(plan) {
  const small = [
    'teams',
    'workspaces',
    'cycles',
    'initiatives',
    'milestones',
    'labels',
    'projects',
    'invitations',
    'agent_apps',
    'a2a_apps',
    'installations',
    'listeners',
    'mail_state',
    'insight_progress',
  ]
  const here = plan['Node Type'] === 'Seq Scan' && !small.includes(plan['Relation Name']) ? [plan['Relation Name']] : []
  return [...here, ...(plan.Plans ?? []).flatMap(scansOf)]
}
