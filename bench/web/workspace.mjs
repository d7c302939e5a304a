// Creates a workspace with many issues and a signed-in owner, directly in the database.
import { createHash, randomBytes } from 'node:crypto'
import { openSetting } from '../setting.mjs'

/** Issues in one statement, which has a timeout. */
const batch = 2000
const statuses = ['backlog', 'todo', 'in_progress', 'qa', 'release', 'done']
const priorities = ['low', 'low', 'medium', 'high', 'urgent']
const subjects = ['The export', 'The sign-in page', 'A webhook', 'The search of old comments', 'The weekly report']
const problems = ['is slow on Mondays', 'loses its filter', 'fails with an empty body', 'shows the wrong time zone']

/** The texts of issue number `n`, the same in each run. */
const issueNumber = (n) => ({
  id: `iss_0${String(n).padStart(25, '0')}`,
  code: `ENG-${n}`,
  title: `${subjects[n % subjects.length]} ${problems[n % problems.length]}, case ${n}`,
  description: 'Some words about it. '.repeat(10),
  status: statuses[n % statuses.length],
  priority: priorities[n % priorities.length],
  sort_order: n,
  // Seconds apart, because lists are sorted by it.
  updated_at: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
})

/** Returns the issues, the owner's token and the workspace's id. */
export async function createWorkspace(where, issueCount) {
  const { db, sql, ctx } = await openSetting(where)
  const now = ctx.clock.now()
  const id = (prefix) => `${prefix}_${randomBytes(13).toString('hex')}`
  const [workspaceId, personId, teamId] = [id('wsp'), id('usr'), id('team')]
  const token = `psn_${randomBytes(32).toString('base64url')}`
  await db.run(sql`
    insert into workspaces (id, name, guidance, created_at, updated_at) values (${workspaceId}, 'Bench', '', ${now}, ${now})`)
  await db.run(sql`
    insert into users (id, user_kind, display_name, email, password_hash, created_at)
    values (${personId}, 'human', 'Ann', 'ann@example.com', '', ${now})`)
  await db.run(sql`
    insert into memberships (workspace_id, user_id, role, joined_at) values (${workspaceId}, ${personId}, 'owner', ${now})`)
  await db.run(sql`
    insert into logins (token_hash, user_id, created_at, last_used_at)
    values (${createHash('sha256').update(token).digest()}, ${personId}, ${now}, ${now})`)
  await db.run(sql`
    insert into teams (id, workspace_id, name, key, created_at, updated_at)
    values (${teamId}, ${workspaceId}, 'Engineering', 'ENG', ${now}, ${now})`)
  await db.run(sql`
    insert into team_members (workspace_id, team_id, user_id, joined_at)
    values (${workspaceId}, ${teamId}, ${personId}, ${now})`)
  const issues = Array.from({ length: issueCount }, (_, index) => issueNumber(index + 1))
  for (let from = 0; from < issues.length; from += batch) {
    await db.run(sql`
      insert into issues (id, workspace_id, code, title, description, status, priority, type, team_id, reporter_id,
        assignee_id, delegation_revision, personal, sort_order, created_at, updated_at)
      select id, ${workspaceId}, code, title, description, status, priority, 'task', ${teamId}, ${personId},
        case when sort_order % 3 = 0 then ${personId} end, 0, false, sort_order, updated_at, updated_at
      from jsonb_to_recordset(${JSON.stringify(issues.slice(from, from + batch))}::jsonb) as made(id text, code text,
        title text, description text, status text, priority text, sort_order int, updated_at timestamptz)`)
  }
  await db.run(sql`
    insert into issue_codes (workspace_id, code, issue_id)
    select workspace_id, code, id from issues where workspace_id = ${workspaceId}`)
  for (const table of ['issues', 'issue_codes']) await db.run({ text: `vacuum analyze ${table}`, values: [] })
  await db.close()
  return { issues, token, workspaceId }
}
