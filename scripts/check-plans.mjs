// npm run check:plans: loads 100,000 issues into a PostgreSQL server of its own, calls every list as a browser would,
// and reads the plan of each statement that was sent. A list that reads a big table from end to end fails.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { withPostgres } from './postgres.mjs'
import { build, install, main, StepFailed } from './setup.mjs'

const issueCount = 100_000
const deliveryCount = 100_000
const sessionCount = 100_000
// Who is calling, whether the parent is there, the list itself, what hangs on its rows.
const statementsAllowed = 4

await main(async () => {
  await install()
  await build('Building', 'server')
  await withPostgres(check)
})

async function check(url) {
  const dist = '../server/dist'
  const { Db } = await import(`${dist}/db/database.js`)
  const { connectPostgres } = await import(`${dist}/db/postgres.js`)
  const { migrate } = await import(`${dist}/db/migrate.js`)
  const { createApp } = await import(`${dist}/app.js`)
  const { readConfig } = await import(`${dist}/config.js`)
  const { Keyring } = await import(`${dist}/crypto.js`)
  const { createLog } = await import(`${dist}/log.js`)
  const { systemClock } = await import(`${dist}/clock.js`)

  const sent = []
  const driver = connectPostgres(url, () => {})
  const db = new Db({
    ...driver,
    query: (statement) => {
      sent.push(statement)
      return driver.query(statement)
    },
  })
  const admin = new pg.Client({ connectionString: url })
  admin.on('error', () => {}) // the server ends before a failed check does
  await admin.connect()
  await migrate(db)

  const ctx = {
    config: readConfig({}),
    clock: systemClock,
    keys: new Keyring(randomBytes(32)),
    log: createLog('silent'),
    db,
    outbound: undefined, // no list sends anything
    relay: undefined,
  }
  const { http } = await createApp(ctx, { stopping: false })
  const base = `${await http.listen({ host: '127.0.0.1', port: 0 })}/api/v1`
  const call = async (method, path, body, headers) => {
    const response = await fetch(base + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new StepFailed(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }

  const person = await call('POST', '/auth/sign-up', {
    name: 'Ann',
    email: 'ann@example.com',
    password: 'correct horse',
  })
  const token = { authorization: `Bearer ${person.token}` }
  const workspace = await call('POST', '/workspaces', { name: 'Acme' }, token)
  const headers = { ...token, 'x-workspace-id': workspace.id }
  const team = await call('POST', '/teams', { name: 'Engineering', key: 'ENG' }, headers)
  const project = await call('POST', '/projects', { title: 'Plan' }, headers)
  const label = await call('POST', '/labels', { name: 'Red' }, headers)
  const hook = { label: 'Chat', url: 'https://hooks.example.com/', all_teams: true, resource_types: ['Issue'] }
  const webhook = await call('POST', '/webhooks', hook, headers)

  const manifest = {
    schemaVersion: '1.0.0',
    name: 'Robot',
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
    webhook: { url: 'https://robots.example.com/hook' },
  }
  const { app } = await call('POST', '/agent-apps', manifest, headers)

  const many = (count) => count.toLocaleString('en')
  console.log(
    `▸ Loading ${many(issueCount)} issues, ${many(deliveryCount)} deliveries and ${many(sessionCount)} sessions …`,
  )
  await load(admin, workspace.id, person.user.id, team.id, project.id, label.id)
  await loadDeliveries(admin, workspace.id, webhook.id)
  await loadSessions(admin, workspace.id, person.user.id)
  await loadApp(admin, workspace.id, app.id)
  await admin.query('vacuum analyze')
  const [issue, parent] = (await call('GET', '/issues?limit=2', undefined, headers)).data
  await admin.query(
    `update issues set parent_id = $2 where workspace_id = $1 and id in (select id from issues where workspace_id = $1 and id < $2 limit 300)`,
    [workspace.id, parent.id],
  )
  await admin.query('analyze issues')
  const sessionId = (await call('GET', '/agent-sessions?limit=1', undefined, headers)).data[0].id

  const lists = [
    '/issues',
    `/issues?team_id=${team.id}`,
    `/issues?project_id=${project.id}`,
    '/issues?status=qa',
    `/issues?parent_id=${parent.id}`,
    ...['no_priority', 'low', 'urgent'].map((priority) => `/issues?priority=${priority}`),
    ...['bug', 'story'].map((type) => `/issues?type=${type}`),
    `/issues?team_id=${team.id}&priority=urgent&type=story`,
    `/issues?assignee_id=${person.user.id}`,
    '/issues?delegate_id=usr_nobody',
    `/issues?label_id=${label.id}`,
    '/issues?query=needle',
    '/issues?query=number%2099999',
    `/issues?team_id=${team.id}&status=done&query=needle`,
    `/issues/${issue.id}/history`,
    `/comments?target_type=issue&target_id=${issue.id}`,
    '/projects',
    '/labels',
    `/milestones?project_id=${project.id}`,
    `/cycles?team_id=${team.id}`,
    '/initiatives',
    '/views',
    '/agents/personal',
    '/auth/programs',
    '/inbox',
    '/inbox?unread=true',
    '/audit-log',
    '/audit-log?action=team.created',
    '/teams',
    `/teams/${team.id}/members`,
    '/workspaces/me/members',
    '/workspaces/me/invitations',
    '/webhooks',
    `/webhooks/${webhook.id}/deliveries`,
    ...['pending', 'succeeded', 'failed', 'canceled'].map(
      (status) => `/webhooks/${webhook.id}/deliveries?status=${status}`,
    ),
    ...[
      'type=Issue',
      'type=Ping',
      'type=Issue&status=pending',
      'type=Issue&status=failed',
      'type=Ping&status=succeeded',
    ].map((filter) => `/webhooks/${webhook.id}/deliveries?${filter}`),
    `/webhooks/${webhook.id}/health`,
    `/agent-apps/${app.id}/deliveries?type=AgentSessionEvent`,
    `/agent-apps/${app.id}/deliveries?agent_session_id=${sessionId}`,
    `/agent-apps/${app.id}/webhook/health`,
    `/agent-apps/${app.id}/setup`,
    '/agent-sessions',
    `/agent-sessions?issue_id=${issue.id}`,
    `/agent-sessions?project_id=${project.id}`,
    '/agent-sessions?agent_id=usr_0agent',
    '/agent-sessions?agent_id=usr_0agent&state=active',
    '/agent-sessions?agent_id=usr_0agent&open=false',
    '/agent-sessions?open=true',
    '/agent-sessions?open=false',
    ...['pending', 'active', 'awaitingInput', 'error', 'complete', 'stale', 'stopping'].map(
      (state) => `/agent-sessions?state=${state}`,
    ),
    `/agent-sessions/${sessionId}/activities`,
    `/agent-sessions/${sessionId}/activities?after_seq=900`,
  ]
  const problems = []
  for (const list of lists) {
    for (const path of [list, await secondPage(list)].filter(Boolean)) {
      sent.length = 0
      const started = performance.now()
      await call('GET', path, undefined, headers)
      const ms = (performance.now() - started).toFixed(1)
      const statements = [...sent]
      const scans = []
      for (const { text, values } of statements) {
        const { rows } = await admin.query(`explain (format json) ${text}`, [...values])
        scans.push(...scannedWhole(rows[0]['QUERY PLAN'][0].Plan))
      }
      const shown = path.replace(/[a-z]+_0[0-9a-z]{25}/g, '…').replace(/cursor=.*/, 'cursor=…')
      console.log(`  ${shown.padEnd(60)} ${String(statements.length).padStart(2)} statements ${ms.padStart(8)} ms`)
      if (statements.length > statementsAllowed) problems.push(`${shown} sends ${statements.length} statements`)
      for (const table of scans) problems.push(`${shown} reads all of ${table}`)
    }
  }
  await http.close()
  await db.close()
  await admin.end()
  if (problems.length > 0) throw new StepFailed(`\n  ${problems.join('\n  ')}`)
  console.log(`${lists.length} lists, each by an index`)

  async function secondPage(list) {
    const { next_cursor } = await call('GET', list, undefined, headers)
    return next_cursor && `${list}${list.includes('?') ? '&' : '?'}cursor=${next_cursor}`
  }
}

/** Tables that a plan reads from end to end, but for those that are small whatever happens. */
function scannedWhole(plan) {
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
    'installations',
  ]
  const here = plan['Node Type'] === 'Seq Scan' && !small.includes(plan['Relation Name']) ? [plan['Relation Name']] : []
  return [...here, ...(plan.Plans ?? []).flatMap(scannedWhole)]
}

/** A webhook that has been at it for a month, among others. */
async function loadDeliveries(admin, workspaceId, webhookId) {
  await admin.query(
    `insert into endpoints select 'whk_' || n, 'wsp_0' || lpad((n % 20 + 1)::text, 25, '0'), label, url, secret, state, state_since, all_teams, team_ids,
       resource_types, created_by, created_at, updated_at, null, null, 0
     from endpoints, generate_series(1, 5000) n where id = $1`,
    [webhookId],
  )
  await admin.query(
    `insert into deliveries (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled, next_at,
       created_at, settled_at)
     select 'dlv_0' || lpad(n::text, 25, '0'), $1, case when n % 2 = 0 then $2 else 'whk_' || n % 50 + 1 end, 'evt_' || n,
       'Issue', 'create', s.status, 1, 1, case when s.status = 'pending' then now() end, now(),
       case when s.status <> 'pending' then now() end
     from generate_series(1, ${deliveryCount}) n,
       lateral (select case n / 2 % 100 when 0 then 'failed' when 1 then 'canceled' when 2 then 'pending' else 'succeeded' end as status) s`,
    [workspaceId, webhookId],
  )
  await admin.query(`insert into attempts select id, 1, workspace_id, now(), 5, 200, null, 'ok', 'x' from deliveries`)
}

/** What agents have been asked to do: mostly done, a little under way; one of them talks much. */
async function loadSessions(admin, workspaceId, userId) {
  await admin.query(
    `insert into users (id, user_kind, agent_kind, display_name, created_at)
     values ('usr_0agent', 'application', 'app', 'Robot', now())`,
  )
  await admin.query(
    `insert into agent_sessions (id, workspace_id, agent_id, issue_id, creator_id, opened_by_agent, state, quiet_since,
       stopping_since, answered_at, ended_at, created_at, updated_at, last_seq)
     select 'sess_0' || lpad(n::text, 25, '0'), i.workspace_id, 'usr_0agent', i.id, $1, false, s.state, now(),
       case when s.state = 'stopping' then now() end, now(), case when s.state = 'complete' and n % 7 > 0 then now() end,
       now(), now(), 3
     from (select id, workspace_id, right(id, 7)::int as n from issues limit ${sessionCount}) i,
       lateral (select case n / 2 % 100 when 0 then 'pending' when 1 then 'active' when 2 then 'awaitingInput'
         when 3 then 'error' when 4 then 'stale' when 5 then 'stopping' else 'complete' end as state) s`,
    [userId],
  )
  await admin.query(
    `insert into agent_activities (session_id, seq, id, workspace_id, type, content, ephemeral, author_kind, author_id, created_at)
     select s.id, n, 'act_' || s.id || n, s.workspace_id, 'thought', '{"type":"thought","body":"Hm"}', false, 'app',
       'usr_0agent', now()
     from agent_sessions s, generate_series(1, case when s.id = (select max(id) from agent_sessions where workspace_id = $1)
       then 1000 else 3 end) n`,
    [workspaceId],
  )
}

/** The app that all those sessions are of, what it was told of them, and how its webhook did. */
async function loadApp(admin, workspaceId, appId) {
  await admin.query(
    `insert into installations (id, workspace_id, app_id, app_user_id, all_teams, team_ids, scopes, created_at, updated_at)
     values ('ins_0robot', $1, $2, 'usr_0agent', true, '{}', '{read}', now(), now())`,
    [workspaceId, appId],
  )
  await admin.query(
    `insert into events (id, workspace_id, type, action, team_ids, body, created_at, agent_session_id)
     select 'evt_' || substr(id, 6), workspace_id, 'AgentSessionEvent', 'created', '{}', '{}', now(), id
     from agent_sessions`,
  )
  await admin.query(
    `insert into deliveries (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled, created_at,
       settled_at)
     select delivery_id(v.id, a.endpoint_id), v.workspace_id, a.endpoint_id, v.id, v.type, v.action, 'succeeded', 1, 1,
       now(), now()
     from events v, agent_apps a where a.id = $1 and v.agent_session_id is not null`,
    [appId],
  )
  await admin.query(
    `insert into endpoint_days select id, workspace_id, current_date - n, 5, 1, now(), now(), null
     from endpoints, generate_series(0, 29) n`,
  )
}

/** Rows as they would come over years: many workspaces' worth, of which ours has its share. */
async function load(admin, workspaceId, userId, teamId, projectId, labelId) {
  const id = (prefix, n) => `'${prefix}_0' || lpad((${n})::text, 25, '0')`
  const run = (text, values) => admin.query(text, values)
  await run(
    `insert into workspaces (id, name, created_at, updated_at)
     select ${id('wsp', 'n')}, 'Other', now(), now() from generate_series(1, 20) n`,
  )
  await run(
    `insert into users (id, user_kind, display_name, email, created_at)
     select ${id('usr', 'n')}, 'human', 'Person ' || n, 'p' || n || '@example.com', now() from generate_series(1, 5000) n`,
  )
  await run(
    `insert into memberships (workspace_id, user_id, role, joined_at)
     select case when n % 2 = 0 then $1 else ${id('wsp', 'n % 20 + 1')} end, ${id('usr', 'n')}, 'member', now() - n * interval '1 minute'
     from generate_series(1, 5000) n`,
    [workspaceId],
  )
  await run(
    `insert into team_members (workspace_id, team_id, user_id, joined_at)
     select workspace_id, $2, user_id, joined_at from memberships where workspace_id = $1 on conflict do nothing`,
    [workspaceId, teamId],
  )
  await run(
    `insert into issues (id, workspace_id, code, title, description, status, priority, type, team_id, project_id,
       reporter_id, assignee_id, delegation_revision, personal, sort_order, created_at, updated_at)
     select ${id('iss', 'n')}, case when n % 2 = 0 then $1 else ${id('wsp', 'n % 20 + 1')} end, 'ENG-' || n,
       'Issue number ' || n || case when n % 5000 = 0 then ' needle' else '' end, repeat('Some words about it. ', 10),
       (array['backlog', 'todo', 'in_progress', 'qa', 'release', 'done'])[n / 2 % 6 + 1],
       case n / 2 % 200 when 0 then 'urgent' when 1 then 'high' else 'low' end,
       case n / 2 % 50 when 0 then 'story' else 'bug' end,
       case when n % 4 = 0 then $2 end, case when n % 10 = 0 then $3 end, $4, case when n % 20 = 0 then $4 end, 0,
       n % 50 = 0 and n % 4 <> 0, n, now(), now()
     from generate_series(1, ${issueCount}) n`,
    [workspaceId, teamId, projectId, userId],
  )
  await run(
    `with made as (
       insert into users (id, user_kind, agent_kind, display_name, created_at)
       select ${id('usr', '10000 + n')}, 'application', 'personal', 'Helper ' || n, now() from generate_series(1, 5000) n
       returning id, right(id, 5)::int - 10000 as n)
     insert into inside_agents (user_id, workspace_id, owner_id, instructions, created_at, updated_at)
     select id, $1, case when n <= 20 then $2 else ${id('usr', 'n')} end, 'Be brief.', now(), now() from made`,
    [workspaceId, userId],
  )
  await run(
    `insert into logins select sha256(n::text::bytea), ${id('usr', 'n % 5000 + 1')}, now(), now() from generate_series(1, 20000) n`,
  )
  await run(
    `insert into issue_blocks select a.workspace_id, a.id, ${id('iss', 'right(a.id, 6)::int - 20')} from issues a
     where right(a.id, 6)::int > 20 and right(a.id, 1) = '2'`,
  )
  await run(
    `insert into projects (id, workspace_id, title, description, status, priority, personal, created_at, updated_at)
     select ${id('prj', 'n')}, $1, 'Project ' || n, '', 'idea', 'low', false, now(), now() from generate_series(1, 2000) n`,
    [workspaceId],
  )
  await run(
    `insert into project_members (workspace_id, project_id, user_id) select workspace_id, id, $1 from projects`,
    [userId],
  )
  await run(`insert into project_teams select workspace_id, id, $1 from projects`, [teamId])
  await run(`insert into project_labels select workspace_id, id, $1 from projects`, [labelId])
  await run(`insert into issue_codes select workspace_id, code, id from issues`)
  await run(
    `insert into issue_labels select workspace_id, id, $2 from issues where workspace_id = $1 and right(id, 1) in ('0', '4')`,
    [workspaceId, labelId],
  )
  await run(
    `insert into issue_changes select ${id('chg', 'row_number() over ()')}, workspace_id, id, $1, false, '{}', now() from issues`,
    [userId],
  )
  await run(
    `insert into comments (id, workspace_id, issue_id, author_id, text, mentioned_user_ids, is_resolved, internal, created_at, updated_at)
     select ${id('cmt', 'row_number() over ()')}, workspace_id, id, $1, 'Hm', '{}', false, false, now(), now() from issues`,
    [userId],
  )
  await run(
    `insert into inbox_entries (id, workspace_id, user_id, kind, issue_id, actor_id, created_at, read_at)
     select ${id('inb', 'row_number() over ()')}, i.workspace_id, m.user_id, 'assignment', i.id, $1, now(), case when right(i.id, 1) < '8' then now() end
     from issues i join lateral (select user_id from memberships m where m.workspace_id = i.workspace_id limit 2) m on true`,
    [userId],
  )
  await run(
    `insert into oauth_clients (id, name, redirect_uris, created_at, used_at)
     select 'cli_' || n, 'Editor', '{}', now(), now() from generate_series(1, 20000) n`,
  )
  await run(
    `insert into grants (id, workspace_id, client_id, user_id, scopes, created_at, expires_at, ended_at)
     select ${id('grt', 'n')}, $1, 'cli_' || n, case when n % 100 = 0 then $2 else ${id('usr', 'n % 5000 + 1')} end, '{read}', now(),
       now() + interval '1 year', case when n % 3 = 0 then now() end from generate_series(1, 20000) n`,
    [workspaceId, userId],
  )
  await run(
    `insert into refresh_tokens select sha256((id || n)::bytea), id, now() + interval '90 days', case when n > 1 then now() end
     from grants, generate_series(1, 5) n`,
  )
  await run(`insert into access_tokens select sha256(id::bytea), id, now() - interval '1 day' from grants`)
  await run(
    `insert into views select ${id('view', 'n')}, workspace_id, user_id, 'View', n % 500 = 0, 'status=todo', now(), now()
     from (select *, row_number() over () as n from memberships, generate_series(1, 10)) m`,
  )
  await run(
    `insert into audit_entries select ${id('aud', 'n')}, case when n % 2 = 0 then $1 else ${id('wsp', 'n % 20 + 1')} end,
       case when n % 9 = 0 then 'team.created' else 'team.updated' end, $2, 'x', '{}', now() from generate_series(1, 50000) n`,
    [workspaceId, userId],
  )
}
