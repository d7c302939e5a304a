const issueCount = 100_000
const deliveryCount = 100_000
const sessionCount = 100_000

/** Fills the company created over the API with years of data, and adds other workspaces. */
export async function fill(
  admin,
  { workspace, person, team, project, label, webhook, app, connection, imported, cycle, automation },
) {
  const many = (count) => count.toLocaleString('en')
  console.log(
    `▸ Loading ${many(issueCount)} issues, ${many(deliveryCount)} deliveries and ${many(sessionCount)} sessions …`,
  )
  const ours = {
    workspaceId: workspace.id,
    userId: person.id,
    teamId: team.id,
    projectId: project.id,
    labelId: label.id,
  }
  const run = (text, values) => admin.query(text, values)
  await loadPeople(run, ours)
  await loadIssues(run, ours)
  await loadProjects(run, ours)
  await loadAroundIssues(run, ours)
  await loadPrograms(run, ours)
  await loadMails(run, ours)
  await loadDeliveries(run, workspace.id, webhook.id)
  await loadSessions(run, workspace.id, person.id)
  await loadApp(run, workspace.id, app.id)
  await loadGit(run, workspace.id, connection.id)
  await loadImports(run, workspace.id, imported.id)
  await loadAutomations(run, automation.id)
  await loadExports(run, workspace.id)
  await loadInsights(run, ours, cycle.id)
  await loadOtherWorkspaces(run)
  await run('vacuum analyze')
}

/** 200 automations in each of 21 workspaces, of which ours has 20,000 runs of one. */
async function loadAutomations(run, automationId) {
  await run(
    `insert into teams (id, workspace_id, name, key, created_at, updated_at)
     select ${id('team', 'n')}, ${id('wsp', 'n')}, 'Other', 'ENG', now(), now() from generate_series(1, 20) n`,
  )
  await run(
    `insert into automations (id, workspace_id, team_id, owner_id, name, trigger, filter, actions, agent_ids, state, created_at, updated_at)
     select ${id('aut', 'row_number() over ()')}, t.workspace_id, t.id, a.owner_id, 'Watcher', a.trigger, '{}', a.actions, '{}', 'off', now(), now()
     from automations a cross join teams t cross join generate_series(1, 200) n where a.id = $1`,
    [automationId],
  )
  await run(
    `insert into automation_runs (id, workspace_id, automation_id, version, cause, state, created_at, finished_at)
     select ${id('run', 'row_number() over ()')}, a.workspace_id, a.id, 1, 'evt ' || n,
       case when n % 50 = 0 then 'failed' else 'done' end, now(), now()
     from automations a cross join lateral generate_series(1, case when a.id = $1 then 20000 else 10 end) n`,
    [automationId],
  )
}

const id = (prefix, n) => `'${prefix}_0' || lpad((${n})::text, 25, '0')`

/** 5,000 people, half of them in our workspace, with logins and personal agents. */
async function loadPeople(run, { workspaceId, userId, teamId }) {
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
    `insert into logins select sha256(n::text::bytea), ${id('usr', 'n % 5000 + 1')}, now(), now() from generate_series(1, 20000) n`,
  )
  await run(
    `insert into passkeys (id, user_id, name, credential_id, public_key, counter, transports, created_at)
     select ${id('psk', 'n')}, case when n <= 20 then $1 else ${id('usr', 'n % 5000 + 1')} end, 'Laptop', 'credential ' || n, '', 0,
       '{}', now() from generate_series(1, 20000) n`,
    [userId],
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
}

/** 60,000 people of other workspaces, which our lists must not read. */
async function loadOtherWorkspaces(run) {
  await run(
    `insert into users (id, user_kind, display_name, email, created_at)
     select ${id('usr', 'n')}, 'human', 'Person ' || n, 'p' || n || '@example.com', now() from generate_series(20001, 80000) n`,
  )
  await run(
    `insert into memberships (workspace_id, user_id, role, joined_at)
     select ${id('wsp', 'n % 20 + 1')}, ${id('usr', 'n')}, 'member', now() from generate_series(20001, 80000) n`,
  )
}

/** Half of the issues are in our workspace. */
async function loadIssues(run, { workspaceId, userId, teamId, projectId, labelId }) {
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
    `insert into issue_blocks select a.workspace_id, a.id, ${id('iss', 'right(a.id, 6)::int - 20')} from issues a
     where right(a.id, 6)::int > 20 and right(a.id, 1) = '2'`,
  )
  await run(`insert into issue_codes select workspace_id, code, id from issues`)
  await run(
    `insert into issue_labels select workspace_id, id, $2 from issues where workspace_id = $1 and right(id, 1) in ('0', '4')`,
    [workspaceId, labelId],
  )
}

/** All projects are in our workspace. */
async function loadProjects(run, { workspaceId, userId, teamId, labelId }) {
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
}

/** Changes, comments with reactions, watchers, duplicates, templates, inbox entries, saved views and audit entries. */
async function loadAroundIssues(run, { workspaceId, userId, teamId }) {
  await run(
    `insert into issue_changes select ${id('chg', 'row_number() over ()')}, workspace_id, id, $1, false, '{}', now() from issues`,
    [userId],
  )
  await run(
    `insert into comments (id, workspace_id, issue_id, author_id, text, mentioned_user_ids, is_resolved, internal, created_at, updated_at)
     select ${id('cmt', 'row_number() over ()')}, workspace_id, id, $1,
       'Plain words about it' || case when right(id, 4) = '5000' then ' needle' else '' end, '{}', false, false, now(), now() from issues`,
    [userId],
  )
  await run(`insert into reactions select id, 'heart', author_id, workspace_id, now() from comments`)
  await run(
    `insert into issue_watchers
     select i.id, m.user_id, i.workspace_id, 'watching', now()
     from issues i join lateral (select user_id from memberships m where m.workspace_id = i.workspace_id limit 2) m on true`,
  )
  await run(
    `insert into issue_duplicates select id, workspace_id, ${id('iss', 'right(id, 6)::int - 40')}, now() from issues
     where right(id, 6)::int > 40 and right(id, 1) = '4'`,
  )
  await run(
    `insert into files (id, workspace_id, uploader_id, name, bytes, media_type, inline, sha256, state, created_at)
     select ${id('fil', 'row_number() over ()')}, workspace_id, $1, 'a.png', 1000 + right(id, 5)::int, 'image/png', true,
       sha256(convert_to(id, 'UTF8')), 'ready', now() from issues`,
    [userId],
  )
  await run(
    `insert into file_links select f.id, f.workspace_id, 'issue', i.id, now()
     from (select id, workspace_id, row_number() over () as n from files) f
     join (select id, workspace_id, row_number() over () as n from issues) i on i.n = f.n and i.workspace_id = f.workspace_id`,
  )
  await run(
    `insert into issue_templates
     select ${id('tpl', 'n')}, case when n <= 50 then $1 else ${id('wsp', 'n % 20 + 1')} end, case when n <= 50 then $2 end,
       'Bug', '', repeat('Some words. ', 20), 'low', 'bug', '{}', false, now(), now() from generate_series(1, 20000) n`,
    [workspaceId, teamId],
  )
  await run(
    `insert into inbox_entries (id, workspace_id, user_id, kind, issue_id, actor_id, created_at, read_at)
     select ${id('inb', 'row_number() over ()')}, i.workspace_id, m.user_id, 'assignment', i.id, $1, now(), case when right(i.id, 1) < '8' then now() end
     from issues i join lateral (select user_id from memberships m where m.workspace_id = i.workspace_id limit 2) m on true`,
    [userId],
  )
  await run(
    `update inbox_threads set archived_at = case when right(issue_id, 1) < '5' then now() end,
       snoozed_until = case when right(issue_id, 2) = '99' then now() + interval '1 day' end`,
  )
  await run(
    `insert into personal_tokens (id, workspace_id, user_id, name, token_hash, scopes, expires_at, created_at)
     select ${id('pat', 'row_number() over ()')}, m.workspace_id, m.user_id, 'Script',
       sha256(convert_to(m.workspace_id || m.user_id || n, 'UTF8')), '{read}', now() + interval '90 days', now()
     from memberships m cross join generate_series(1, 5) n`,
  )
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

/** OAuth clients that members connected, with their grants and tokens. */
async function loadPrograms(run, { workspaceId, userId }) {
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
}

/** Mails of a month; a few wait or failed. Each invitation has one. */
async function loadMails(run, { workspaceId, userId }) {
  await run(
    `insert into mails (id, kind, user_id, workspace_id, data, message_id, state, next_at, created_at, settled_at)
     select ${id('mail', 'n')}, 'notification', ${id('usr', 'n % 5000 + 1')}, $1, '{}', '<' || n || '@example.com>',
       case when n % 500 = 0 then 'pending' when n % 200 = 1 then 'failed' else 'sent' end,
       now() - n * interval '1 minute', now() - n * interval '1 minute', now() - n * interval '1 minute'
     from generate_series(1, 40000) n`,
    [workspaceId],
  )
  await run(
    `insert into invitations (id, workspace_id, email, role, token_hash, invited_by, team_ids, created_at, expires_at, mail_id)
     select ${id('inv', 'n')}, $1, 'invited' || n || '@example.com', 'member', sha256(('invitation' || n)::bytea), $2, '{}',
       now(), now() + interval '7 days', ${id('mail', 'n')}
     from generate_series(1, 200) n`,
    [workspaceId, userId],
  )
}

/** Deliveries of our webhook and of others. */
async function loadDeliveries(run, workspaceId, webhookId) {
  await run(
    `insert into endpoints select 'whk_' || n, 'wsp_0' || lpad((n % 20 + 1)::text, 25, '0'), label, url, secret, state, state_since, all_teams, team_ids,
       resource_types, created_by, created_at, updated_at, null, null, 0
     from endpoints, generate_series(1, 5000) n where id = $1`,
    [webhookId],
  )
  await run(
    `insert into deliveries (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled, next_at,
       created_at, settled_at)
     select 'dlv_0' || lpad(n::text, 25, '0'), $1, case when n % 2 = 0 then $2 else 'whk_' || n % 50 + 1 end, 'evt_' || n,
       'Issue', 'create', s.status, 1, 1, case when s.status = 'pending' then now() end, now(),
       case when s.status <> 'pending' then now() end
     from generate_series(1, ${deliveryCount}) n,
       lateral (select case n / 2 % 100 when 0 then 'failed' when 1 then 'canceled' when 2 then 'pending' else 'succeeded' end as status) s`,
    [workspaceId, webhookId],
  )
  await run(`insert into attempts select id, 1, workspace_id, now(), 5, 200, null, 'ok', 'x' from deliveries`)
}

/** Agent sessions, most of them complete. Each has three activities, and one has a thousand. */
async function loadSessions(run, workspaceId, userId) {
  await run(
    `insert into users (id, user_kind, agent_kind, display_name, created_at)
     values ('usr_0agent', 'application', 'app', 'Robot', now())`,
  )
  await run(
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
  await run(
    `insert into agent_activities (session_id, seq, id, workspace_id, type, content, ephemeral, author_kind, author_id, created_at)
     select s.id, n, 'act_' || s.id || n, s.workspace_id, 'thought', '{"type":"thought","body":"Hm"}', false, 'app',
       'usr_0agent', now()
     from agent_sessions s, generate_series(1, case when s.id = (select max(id) from agent_sessions where workspace_id = $1)
       then 1000 else 3 end) n`,
    [workspaceId],
  )
  // Each session has a decided review and decided suggestions; a few of them wait.
  await run(
    `insert into reviews (id, workspace_id, session_id, issue_id, agent_id, round, seq, state, began_at, created_at)
     select 'rev_' || substr(s.id, 6), s.workspace_id, s.id, s.issue_id, s.agent_id, 1, 3,
       case when right(s.id, 2) = '00' then 'waiting' else 'accepted' end, now(), now()
     from agent_sessions s`,
  )
  await run(
    `insert into suggestions (id, workspace_id, issue_id, session_id, agent_id, field, value, reason, state, created_at)
     select 'sug_' || n || substr(s.id, 7), s.workspace_id, s.issue_id, s.id, s.agent_id, 'type', 'bug', 'Because',
       case when right(s.id, 2) = '00' and n = 1 then 'open' else 'declined' end, now()
     from agent_sessions s, generate_series(1, 3) n`,
  )
}

async function loadExports(run, workspaceId) {
  await run(
    `insert into exports (id, workspace_id, state, created_at)
     select ${id('exp', 'n')}, case when n % 10 = 0 then $1 else ${id('wsp', 'n % 20 + 1')} end, 'ready', now()
     from generate_series(1, 5000) n`,
    [workspaceId],
  )
}

/** Pull requests of our connection and of others: one for each issue, with branches and deliveries. */
async function loadGit(run, workspaceId, connectionId) {
  await run(
    `insert into git_connections (id, workspace_id, kind, name, host, repositories, secret, created_at, updated_at)
     select ${id('gcn', 'n')}, case when n % 10 = 0 then $1 else ${id('wsp', 'n % 20 + 1')} end, 'github', 'Shop', 'github.com',
       '{acme/shop}', 'x', now(), now() from generate_series(1, 5000) n`,
    [workspaceId],
  )
  await run(
    `insert into pull_requests (id, workspace_id, connection_id, repository, number, title, url, branch, state, reviews,
       review_requested, check_runs, head_commit, fork, private, created_at, updated_at)
     select 'pr_' || substr(i.id, 5), i.workspace_id, c.id, 'acme/shop', i.n, 'Oil', 'https://github.com/acme/shop/pull/' || i.n,
       'oil-' || i.n, case when i.n % 50 = 0 then 'open' else 'merged' end, '{}', false, '{}', md5(i.id), false, true, now(), now()
     from (select *, row_number() over () as n from issues where not personal) i
     join (
       select workspace_id, case when workspace_id = $1 then $2 else min(id) end as id from git_connections group by workspace_id
     ) c on c.workspace_id = i.workspace_id`,
    [workspaceId, connectionId],
  )
  await run(
    `insert into pull_request_issues (pull_request_id, issue_id, workspace_id, closes, source)
     select id, 'iss_' || substr(id, 4), workspace_id, true, 'text' from pull_requests`,
  )
  await run(
    `insert into pull_request_sessions (pull_request_id, session_id, workspace_id)
     select 'pr_' || substr(s.issue_id, 5), s.id, s.workspace_id from agent_sessions s
     join pull_requests p on p.id = 'pr_' || substr(s.issue_id, 5) and p.workspace_id = s.workspace_id`,
  )
  await run(
    `insert into git_branches (connection_id, repository, name, issue_id, workspace_id, url, pushed_at)
     select p.connection_id, p.repository, p.branch || '-b', l.issue_id, p.workspace_id, p.url, now()
     from pull_requests p join pull_request_issues l on l.pull_request_id = p.id`,
  )
  await run(
    `insert into git_deliveries (id, workspace_id, connection_id, event, outcome, pull_request_id, body_hash, received_at)
     select 'gdl_' || substr(id, 4), workspace_id, connection_id, 'pull_request', 'linked', id, sha256(id::bytea), now()
     from pull_requests`,
  )
}

/** Imports of our workspace and of others, with problems, sources of all issues, and people without a login. */
async function loadImports(run, workspaceId, importId) {
  await run(
    `insert into imports (id, workspace_id, source, state, created_at, updated_at)
     select ${id('imp', 'n')}, case when n % 10 = 0 then $1 else ${id('wsp', 'n % 20 + 1')} end, 'csv', 'done', now(), now()
     from generate_series(1, 5000) n`,
    [workspaceId],
  )
  await run(
    `insert into import_problems (import_id, workspace_id, position, message)
     select i.id, i.workspace_id, n, 'is not mapped' from imports i, generate_series(1, case when i.id = $1 then 1000 else 10 end) n`,
    [importId],
  )
  await run(
    `insert into external_refs (workspace_id, source, kind, external_id, target_id, created_at)
     select workspace_id, 'csv', 'issue', id, id, now() from issues`,
  )
  await run(
    `insert into users (id, user_kind, display_name, email, placeholder_in, created_at)
     select ${id('usr', '900000 + n')}, 'human', 'Grace', n || '@placeholder.invalid',
       case when n % 10 = 0 then $1 else ${id('wsp', 'n % 20 + 1')} end, now() from generate_series(1, 20000) n`,
    [workspaceId],
  )
}

/** The installed app of the sessions, its events and deliveries; health and replays of all endpoints. */
async function loadApp(run, workspaceId, appId) {
  await run(
    `insert into installations (id, workspace_id, app_id, app_user_id, all_teams, team_ids, scopes, created_at, updated_at)
     values ('ins_0robot', $1, $2, 'usr_0agent', true, '{}', '{read}', now(), now())`,
    [workspaceId, appId],
  )
  await run(
    `insert into events (id, workspace_id, type, action, team_ids, body, created_at, agent_session_id)
     select 'evt_' || substr(id, 6), workspace_id, 'AgentSessionEvent', 'created', '{}', '{}', now(), id
     from agent_sessions`,
  )
  await run(
    `insert into deliveries (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled, created_at,
       settled_at)
     select delivery_id(v.id, a.endpoint_id), v.workspace_id, a.endpoint_id, v.id, v.type, v.action, 'succeeded', 1, 1,
       now(), now()
     from events v, agent_apps a where a.id = $1 and v.agent_session_id is not null`,
    [appId],
  )
  await run(
    `insert into endpoint_days select id, workspace_id, current_date - n, 5, 1, now(), now(), null
     from endpoints, generate_series(0, 29) n`,
  )
  await run(
    `insert into replays (id, workspace_id, endpoint_id, which, state, matched, created_at, finished_at)
     select 'rpl_' || n || id, workspace_id, id, 'failed', 'done', 5, now(), now()
     from endpoints, generate_series(1, 100) n`,
  )
  await run(
    `insert into replay_outcomes (replay_id, delivery_id, succeeded, ended_at)
     select id, 'dlv_' || n, true, now() from replays, generate_series(1, 5) n`,
  )
  await run(
    `insert into a2a_apps (app_id, workspace_id, card_url, card, interface, fetched_at, read_at)
     values ($2, $1, '', '{}', '{}', now(), now())`,
    [workspaceId, appId],
  )
  await run(
    `insert into a2a_sessions (session_id, workspace_id, app_id) select id, workspace_id, $1 from agent_sessions`,
    [appId],
  )
  await run(
    `insert into a2a_tasks (id, session_id, workspace_id, app_id, task_id, context_id, state, tracked, changed_at, updated_at)
     select 'tsk_' || n || session_id, session_id, workspace_id, app_id, n::text, '1', 'completed', false, now(), now()
     from a2a_sessions, generate_series(1, 2) n`,
  )
  // The app's own months, and those of many others.
  await run(
    `insert into app_usage (app_id, month, workspace_id, sessions, input_tokens, output_tokens, costs)
     select case when a = 0 then $1 else 'app_' || a end, to_char(now() - n * interval '1 month', 'YYYY-MM'), 'wsp_' || a,
       5, 1000, 100, '{"USD": 100}'
     from generate_series(0, 500) a, generate_series(0, 11) n`,
    [appId],
  )
}

/** A year of figures: 20 agents and ten teams of our workspace, the same of others, and days of many cycles. */
async function loadInsights(run, { workspaceId, teamId }, cycleId) {
  const places = `(select $1 as wsp union all select ${id('wsp', 'n')} from generate_series(1, 20) n) w,
    generate_series(0, 365) d, (select $2 as team union all select 'team_' || n from generate_series(1, 9) n) t`
  const zeros = (count) => Array(count).fill(0).join(', ')
  await run(
    `insert into agent_days
     select w.wsp, current_date - d, t.team, case when a = 0 then 'usr_0agent' else 'usr_agent' || a end, 5, 5, ${zeros(6)},
       array_fill(1, array[48]), array_fill(1, array[48]), '{1,2,3}', 1, 1, 1000, 100, '{"USD": 100}'
     from ${places}, generate_series(0, 19) a where (d + a) % 7 = 0 and (w.wsp = $1 or a < 3)`,
    [workspaceId, teamId],
  )
  await run(
    `insert into flow_days
     select w.wsp, current_date - d, t.team, 3, 2, array_fill(1, array[48]), array_fill(1, array[48]), '{1,2,3,4,5}'
     from ${places}`,
    [workspaceId, teamId],
  )
  await run(
    `insert into cycles (id, workspace_id, team_id, name, created_at, updated_at)
     select ${id('cyc', 'n')}, $1, $2, 'Week', now() - interval '100 days', now() from generate_series(1, 500) n`,
    [workspaceId, teamId],
  )
  await run(`update cycles set starts_at = now() - interval '14 days' where id = $1`, [cycleId])
  await run(
    `insert into cycle_days select workspace_id, id, current_date - n, 20, n from cycles, generate_series(0, 99) n`,
  )
  await run(
    `insert into insight_progress (workspace_id, as_of) select id, now() from workspaces on conflict do nothing`,
  )
}
