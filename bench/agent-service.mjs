// Runs the service, or bare routes, in a separate process on the given database, with seeded data.
//   node agent-service.mjs ours|floor URL-or-directory
import { createHash, randomBytes } from 'node:crypto'
import { grow, timeClaims } from './fill.mjs'
import { openSetting } from './setting.mjs'

const [, , kind, where] = process.argv
const installations = 8
const sessionsEach = 32
const refreshTokensEach = 4

const setting = await openSetting(where, {
  BATON_SESSION_RATE: '1000000',
  BATON_INSTALLATION_RATE: '1000000',
  BATON_API_RATE: '1000000',
})
const { db, sql, ctx } = setting
const sha256 = (text) => createHash('sha256').update(text).digest()
const seeded = await seedAgents()
const server = kind === 'ours' ? await service() : await bareRoutes()
await server.listen({ port: 0, host: '127.0.0.1' })
process.send({ port: server.server.address().port, ...seeded })
process.on('message', async ({ what, detail }) => {
  process.send(await { grow, timeClaims }[what](setting, seeded, detail))
})

/** A workspace with an owner and installed apps, each with tokens and sessions. */
async function seedAgents() {
  const now = ctx.clock.now()
  const later = new Date(now.getTime() + 3_600_000)
  const run = randomBytes(4).toString('hex')
  const id = (prefix, text) => `${prefix}_${createHash('md5').update(`${run} ${text}`).digest('hex').slice(0, 26)}`
  const workspaceId = id('wsp', 'workspace')
  const issueId = id('iss', 'issue')
  const personId = id('usr', 'person')
  const login = `psn_${randomBytes(32).toString('base64url')}`
  await db.run(sql`
    insert into workspaces (id, name, guidance, created_at, updated_at) values (${workspaceId}, 'Bench', '', ${now}, ${now})`)
  await db.run(sql`
    insert into users (id, user_kind, display_name, email, password_hash, created_at)
    values (${personId}, 'human', 'Ann', ${`${personId}@example.com`}, '', ${now})`)
  await db.run(sql`
    insert into memberships (workspace_id, user_id, role, joined_at) values (${workspaceId}, ${personId}, 'owner', ${now})`)
  await db.run(sql`
    insert into logins (token_hash, user_id, created_at, last_used_at) values (${sha256(login)}, ${personId}, ${now}, ${now})`)
  await db.run(sql`
    insert into issues (id, workspace_id, code, title, description, status, priority, type, delegation_revision, personal,
      sort_order, created_at, updated_at)
    values (${issueId}, ${workspaceId}, 'X-1', 'Bench', '', 'todo', 'low', 'task', 0, false, 1, ${now}, ${now})`)
  const agents = []
  for (let n = 0; n < installations; n++) {
    const token = `svc_at_${randomBytes(32).toString('base64url')}`
    const [user, app, endpoint] = [id('usr', n), id('app', n), id('whk', n)]
    const [installation, grant] = [id('ins', n), id('grt', n)]
    const clientSecret = `secret ${n}`
    const scopes = ['read', 'write']
    await db.run(sql`
      insert into users (id, user_kind, agent_kind, display_name, created_at)
      values (${user}, 'application', 'app', ${`Robot ${n}`}, ${now})`)
    await db.run(sql`
      insert into endpoints (id, workspace_id, label, url, secret, state, state_since, all_teams, team_ids, resource_types,
        app_id, created_at, updated_at)
      values (${endpoint}, ${workspaceId}, 'Bench', '', '', 'disabled', ${now}, true, '{}', '{}', ${app}, ${now}, ${now})`)
    await db.run(sql`
      insert into agent_apps (id, workspace_id, client_id, client_secret_hash, endpoint_id, name, developer_name,
        redirect_uris, requested_scopes, created_at, updated_at)
      values (${app}, ${workspaceId}, ${app}, ${sha256(clientSecret)}, ${endpoint}, ${`Robot ${n}`}, 'Bench', '{}',
        ${scopes}, ${now}, ${now})`)
    await db.run(sql`
      insert into installations (id, workspace_id, app_id, app_user_id, all_teams, team_ids, scopes, created_at, updated_at)
      values (${installation}, ${workspaceId}, ${app}, ${user}, true, '{}', ${scopes}, ${now}, ${now})`)
    await db.run(sql`
      insert into grants (id, workspace_id, client_id, installation_id, scopes, created_at, expires_at, tokens_issued_at)
      values (${grant}, ${workspaceId}, ${app}, ${installation}, ${scopes}, ${now}, ${later}, ${now})`)
    await db.run(sql`
      insert into access_tokens (hash, grant_id, expires_at)
      values (${sha256(token)}, ${grant}, ${later})`)
    const refreshTokens = Array.from(
      { length: refreshTokensEach },
      () => `prt_${randomBytes(32).toString('base64url')}`,
    )
    for (const refreshToken of refreshTokens) {
      await db.run(sql`
        insert into refresh_tokens (hash, grant_id, expires_at) values (${sha256(refreshToken)}, ${grant}, ${later})`)
    }
    const sessionIds = Array.from({ length: sessionsEach }, (_, index) => id('sess', `${n} ${index}`))
    await db.run(sql`
      insert into agent_sessions (id, workspace_id, agent_id, installation_id, issue_id, creator_id, opened_by_agent, state,
        quiet_since, due_at, created_at, updated_at)
      select s, ${workspaceId}, ${user}, ${installation}, ${issueId}, ${personId}, false, 'pending', ${now},
        ${new Date(now.getTime() + 1_800_000)}, ${now}, ${now}
      from unnest(${sessionIds}::text[]) s`)
    agents.push({ token, workspaceId, sessionIds, clientId: app, clientSecret, refreshTokens })
  }
  return { agents, person: { id: personId, token: login, workspaceId } }
}

async function service() {
  const { createApp } = await import(new URL('../server/dist/app.js', import.meta.url))
  return (await createApp(ctx, { stopping: false })).http
}

/** The minimal implementation: look up the token, then one transaction with an update and an insert. */
async function bareRoutes() {
  const { default: fastify } = await import('fastify')
  const app = fastify()
  app.post('/api/v1/agent-sessions/:id/activities', async (request, reply) => {
    const hash = sha256(request.headers.authorization.slice(7))
    const holder = await db.row(sql`
      select i.app_user_id, g.workspace_id from access_tokens t
      join grants g on g.id = t.grant_id join installations i on i.id = g.installation_id where t.hash = ${hash}`)
    const now = new Date()
    const activityId = `act_${randomBytes(13).toString('hex')}`
    const { content } = request.body
    const seq = await db.tx(async (tx) => {
      const moved = await tx.row(sql`
        update agent_sessions set state = 'active', last_seq = last_seq + 1, quiet_since = ${now}, updated_at = ${now}
        where id = ${request.params.id} and agent_id = ${holder.app_user_id} returning last_seq`)
      await tx.run(sql`
        insert into agent_activities (session_id, seq, id, workspace_id, type, content, ephemeral, author_kind, author_id,
          created_at)
        values (${request.params.id}, ${moved.last_seq}, ${activityId}, ${holder.workspace_id}, ${content.type},
          ${JSON.stringify(content)}, false, 'app', ${holder.app_user_id}, ${now})`)
      return moved.last_seq
    })
    return reply.code(201).send({ id: activityId, seq, content, created_at: now })
  })
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body))),
  )
  app.post('/api/v1/oauth/token', async ({ body: form }) => {
    const client = await db.row(sql`select client_secret_hash from agent_apps where client_id = ${form.client_id}`)
    if (!sha256(form.client_secret).equals(client.client_secret_hash)) throw new Error('wrong client secret')
    const [access, refresh] = ['svc_at_', 'prt_'].map((prefix) => prefix + randomBytes(32).toString('base64url'))
    const later = new Date(Date.now() + 3_600_000)
    await db.tx(async (tx) => {
      const used = await tx.row(sql`
        update refresh_tokens set rotated_at = ${new Date()}
        where hash = ${sha256(form.refresh_token)} and rotated_at is null returning grant_id`)
      await tx.run(sql`
        insert into access_tokens (hash, grant_id, expires_at) values (${sha256(access)}, ${used.grant_id}, ${later})`)
      await tx.run(sql`
        insert into refresh_tokens (hash, grant_id, expires_at) values (${sha256(refresh)}, ${used.grant_id}, ${later})`)
    })
    return { access_token: access, token_type: 'Bearer', refresh_token: refresh }
  })
  return app
}
