// Checks that each table is written only by the folder of server/src (its "room") that owns it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './setup.mjs'
import { roomOf, runIfMain, sourceFiles } from './sources.mjs'

/** Room of server/src → the tables it owns. Each table has exactly one owner. */
const ownedTables = {
  db: ['migrations', 'settings'],
  // baton_load is a schema; see server/src/backup/load.ts.
  backup: ['scheduled_backups', 'baton_load'],
  operate: ['erasures'],
  relay: ['relayed_attempts'],
  http: ['rate_limits', 'rate_windows', 'rate_window_calls'],
  mail: ['mails', 'mail_state'],
  login: [
    'users',
    'logins',
    'login_networks',
    'grants',
    'access_tokens',
    'account_links',
    'cli_codes',
    'personal_tokens',
    'sso_identities',
    'passkeys',
  ],
  passkeys: ['passkey_challenges'],
  sso: ['sso_attempts', 'sso_joins', 'sso_logouts'],
  audit: ['audit_entries'],
  views: ['views'],
  workspaces: ['workspaces', 'memberships', 'invitations', 'teams', 'team_members'],
  inbox: ['inbox_entries', 'inbox_threads', 'notification_settings', 'presence', 'mail_due'],
  delivery: ['endpoints', 'deliveries', 'attempts', 'endpoint_days', 'replay_outcomes'],
  'linear-shape': ['linear_aliases'],
  events: ['events', 'replays', 'replay_events'],
  files: ['files', 'file_links'],
  'agent-sessions': ['agent_sessions', 'agent_activities', 'agent_work', 'session_changes', 'app_usage'],
  planning: ['labels', 'milestones', 'cycles', 'initiatives'],
  templates: ['issue_templates'],
  issues: [
    'issues',
    'issue_codes',
    'issue_labels',
    'issue_blocks',
    'issue_changes',
    'issue_duplicates',
    'issue_watchers',
  ],
  projects: ['projects', 'project_members', 'project_teams', 'project_labels'],
  git: [
    'git_connections',
    'git_deliveries',
    'pull_requests',
    'pull_request_issues',
    'pull_request_sessions',
    'git_branches',
    'git_automation',
  ],
  comments: ['comments', 'reactions'],
  automations: ['automations', 'automation_runs'],
  suggestions: ['suggestions'],
  reviews: ['reviews'],
  insights: ['agent_days', 'flow_days', 'cycle_days', 'insight_progress'],
  imports: ['imports', 'import_problems', 'import_attachments', 'external_refs'],
  exports: ['exports', 'restores'],
  'agent-apps': ['agent_apps', 'app_icons', 'installations', 'listeners'],
  a2a: ['a2a_apps', 'a2a_sessions', 'a2a_messages', 'a2a_tasks'],
  agents: ['inside_agents', 'model_health'],
  oauth: ['oauth_clients', 'oauth_requests', 'oauth_codes', 'refresh_tokens'],
}

/** Rooms with a helper whose table is a parameter; its callers name the table in a form that `writesOf` finds. */
// A restore of a workspace writes all tables of server/src/exports/contents.ts, one of a backup every table.
const roomsWithTableParameter = ['db', 'backup', 'planning', 'exports']

const written = [
  /\binsert\s+into\s+(\w+|\$\{)/gi,
  /\bmerge\s+into\s+(?:only\s+)?(\w+|\$\{)/gi,
  /\bdelete\s+from\s+(?:only\s+)?(\w+|\$\{)/gi,
  /\btruncate\s+(?:table\s+)?(\w+|\$\{)/gi,
  // Not `for update`, nor `on conflict do update set`. An alias may precede `set`.
  /(?<!\b(?:for|key|do)\s+)\bupdate\s+(?:only\s+)?(\w+|\$\{\w+\})\s+(?:(?:as\s+)?\w+\s+)?set\b/gi,
  // insertRows(sql`issues`, …), and the table of one of planning's resources.
  /\binsertRows\(\s*sql`(\w+)`/g,
  /\btable:\s*sql`(\w+)`/g,
]

export const tableProblems = () =>
  problemsOfTables({
    sources: sourceFiles(join(root, 'server/src')),
    migrations: readdirSync(join(root, 'server/migrations'))
      .filter((name) => name.endsWith('.sql'))
      .map((name) => readFileSync(join(root, 'server/migrations', name), 'utf8')),
    ownedTables,
    roomsWithTableParameter,
  })

export function problemsOfTables({ sources, migrations, ownedTables, roomsWithTableParameter }) {
  const owners = new Map(Object.entries(ownedTables).flatMap(([room, tables]) => tables.map((table) => [table, room])))
  const problems = []
  const tables = new Set([...migrations, ...sources.map(({ text }) => text)].flatMap(createdIn))
  for (const table of tables)
    if (!owners.has(table)) problems.push(`table ${table} has no owner in scripts/check-tables.mjs`)
  for (const table of owners.keys())
    if (!tables.has(table)) problems.push(`table ${table} has an owner in scripts/check-tables.mjs but does not exist`)

  for (const { path, text } of sources) {
    const room = roomOf(path)
    for (const { table, line } of writesOf(text)) {
      const place = `server/src/${path}:${line}`
      if (table === null) {
        if (!roomsWithTableParameter.includes(room)) problems.push(`${place} writes a table whose name is a parameter`)
      } else if (owners.has(table) && owners.get(table) !== room) {
        problems.push(`${place} writes ${table}, which ${owners.get(table)} owns`)
      }
    }
  }
  return problems
}

/** Statements that write, each with its table, or null when the name is a parameter. */
export const writesOf = (text) =>
  written.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ 1: name, index }) => ({
      table: name.startsWith('${') ? null : name.toLowerCase(),
      line: text.slice(0, index).split('\n').length,
    })),
  )

const createdIn = (text) =>
  [...text.matchAll(/\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(\w+)/gi)].map(([, table]) => table)

runIfMain(import.meta.url, tableProblems)
