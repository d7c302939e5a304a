// Fills a database as years of use would, and times claims on it.
import { setTimeout as sleep } from 'node:timers/promises'

/** With few rows, there are enough due deliveries for three times as many claims. */
const claims = 20
const claimSize = 64

/** Bounds the duration of one statement. */
const deliveriesPerStatement = 500_000
/** By then the pool has noticed which connections were closed. */
const closedWithinMs = 1000

/**
 * Fills the database up to `count` activities and issues, and up to `deliveries` deliveries, half of them pending. There
 * are `from` of each already.
 */
export async function grow({ db, sql, ctx }, { agents, person }, { from, count, deliveries }) {
  const now = ctx.clock.now()
  const sessions = agents.flatMap(({ sessionIds }) => sessionIds)
  await db.run(sql`
    insert into agent_activities (session_id, seq, id, workspace_id, type, content, ephemeral, author_kind, author_id,
      created_at)
    select s.id, s.last_seq + n, 'act_' || left(md5(s.id || s.last_seq + n), 26), s.workspace_id, 'thought',
      '{"type":"thought","body":"A thought like others"}', false, 'app', s.agent_id, s.created_at
    from agent_sessions s, generate_series(1, ${Math.ceil((count - from) / sessions.length)}::int) n`)
  await db.run(sql`
    update agent_sessions set version = version + 1,
      last_seq = (select max(seq) from agent_activities a where a.session_id = agent_sessions.id)`)
  await db.run(sql`
    insert into issues (id, workspace_id, code, title, description, status, priority, type, reporter_id,
      delegation_revision, personal, sort_order, created_at, updated_at)
    select 'iss_0' || lpad(n::text, 25, '0'), ${person.workspaceId}, 'X-' || n + 1, 'Something to do, number ' || n,
      repeat('Some words about it. ', 5), (array['backlog', 'todo', 'in_progress', 'qa', 'release', 'done'])[n % 6 + 1],
      'low', 'task', ${person.id}, 0, false, n, ${now}, ${now}
    from generate_series(${from + 1}::int, ${count}::int) n`)
  await addEndpoints(db, sql, person.workspaceId, now)
  for (let first = from + 1; first <= deliveries; first += deliveriesPerStatement) {
    const last = Math.min(deliveries, first + deliveriesPerStatement - 1)
    await addDeliveries(db, sql, person.workspaceId, now, first, last)
  }
  for (const table of ['agent_activities', 'agent_sessions', 'issues', 'events', 'deliveries']) {
    await db.run({ text: `vacuum analyze ${table}`, values: [] })
  }
  if (db.kind === 'postgres') await reconnect(db, sql)
  return 'grown'
}

/**
 * On a connection that has run a statement while the tables were small, PostgreSQL compares its plan with the costs of
 * that time and plans it again each time. A service that grows slowly prepares its statements again meanwhile.
 */
async function reconnect(db, sql) {
  await db.tx((tx) =>
    tx.run(sql`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'baton' and pid <> pg_backend_pid()`),
  )
  await sleep(closedWithinMs)
}

/** Each with an event of its own. */
async function addDeliveries(db, sql, workspaceId, now, first, last) {
  await db.run(sql`
    insert into events (id, workspace_id, type, action, team_ids, body, created_at)
    select 'evt_0' || lpad(n::text, 25, '0'), ${workspaceId}, 'Issue', 'create', '{}', '{}', ${now}
    from generate_series(${first}::int, ${last}::int) n`)
  await db.run(sql`
    insert into deliveries (id, workspace_id, endpoint_id, event_id, type, action, status, attempts, scheduled, next_at,
      created_at, settled_at, may_block)
    select 'dlv_0' || lpad(n::text, 25, '0'), ${workspaceId}, 'whk_grown' || n % 20,
      'evt_0' || lpad(n::text, 25, '0'), 'Issue', 'create', case when sent then 'succeeded' else 'pending' end,
      sent::int, sent::int, case when not sent then ${now}::timestamptz end, ${now},
      case when sent then ${now}::timestamptz end, false
    from generate_series(${first}::int, ${last}::int) n, lateral (select n / 20 % 2 = 1 as sent) s`)
}

async function addEndpoints(db, sql, workspaceId, now) {
  await db.run(sql`
    insert into endpoints (id, workspace_id, label, url, secret, state, state_since, all_teams, team_ids, resource_types,
      created_at, updated_at)
    select 'whk_grown' || n, ${workspaceId}, 'Grown', 'https://example.com/', '', 'enabled', ${now}, true, '{}', '{Issue}',
      ${now}, ${now}
    from generate_series(0, 19) n on conflict do nothing`)
}

/** Duration of each claim in milliseconds. Claimed deliveries are then marked succeeded. */
export async function timeClaims({ db, sql, ctx }) {
  const { claim } = await import(new URL('../server/dist/delivery/claim.js', import.meta.url))
  const took = []
  for (let n = 0; n < claims; n++) {
    const now = ctx.clock.now()
    await db.run(sql`update endpoints set next_due_at = ${now} where id like 'whk_grown%'`)
    const started = performance.now()
    const { claimed } = await claim(db, ctx.clock.now(), claimSize, { owner: 'bench', woken: [], inFlight: [] })
    took.push(performance.now() - started)
    if (claimed.length < claimSize) throw new Error(`only ${claimed.length} deliveries were claimed`)
    await db.run(sql`
      update deliveries set status = 'succeeded', next_at = null, attempts = 1, scheduled = 1, settled_at = ${now}
      where endpoint_id = any(${claimed.map(({ endpointId }) => endpointId)}) and id = any(${claimed.map(({ id }) => id)})`)
  }
  return took
}
