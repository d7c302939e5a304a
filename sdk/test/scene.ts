import { createServer } from 'node:http'
import { expect } from 'vitest'
import { sql } from '../../server/src/db/sql.ts'
import type { TestApp, TestPerson } from '../../server/test/harness.ts'
import { listen } from '../../server/test/loopback-server.ts'
import { type Agent, type AgentOptions, createAgent } from '../src/agent.ts'
import { createInstaller } from '../src/oauth.ts'
import { memoryTokens, TokenManager, type TokenStore } from '../src/tokens.ts'
import { signWebhook, type WebhookEvent } from '../src/webhooks.ts'

export const redirectUri = 'https://robots.example.com/callback'
export const installSecret = 'let me in'
export const scopes = ['read', 'write', 'app:assignable', 'app:mentionable']

/** A workspace, a team in it, and an app registered there whose events go to `url`. */
export async function registered(app: TestApp, url: string | null, resourceTypes: string[] = []) {
  const workspace = await app.workspace()
  const { owner } = workspace
  const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  const { status, body } = await owner.post('/agent-apps', {
    schemaVersion: '1.0.0',
    name: 'Robot',
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: [redirectUri], scopes },
    ...(url === null ? {} : { webhook: { url, resource_types: resourceTypes } }),
  })
  expect(status).toBe(201)
  return {
    ...workspace,
    team,
    client: body as { client_id: string; client_secret: string; webhook_secret: string; app: { id: string } },
  }
}
export type Registered = Awaited<ReturnType<typeof registered>>

export const credentials = (app: TestApp, { client }: Pick<Registered, 'client'>) => ({
  clientId: client.client_id,
  clientSecret: client.client_secret,
  baseUrl: app.rootUrl,
  clock: app.clock,
})

export const installerFor = (app: TestApp, at: Pick<Registered, 'client'>, store: TokenStore) =>
  createInstaller({
    ...credentials(app, at),
    // The test service listens on createOther port than its configured URL has.
    issuer: app.ctx.config.rootUrl,
    redirectUri,
    scopes,
    store,
    installSecret,
  })

export const cookieFrom = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? ''

/** Follows the installer's redirects as a manager's browser, and approves. */
export async function approve(manager: TestPerson, started: Response, decision: object = { all_teams: true }) {
  const asked = new URL(started.headers.get('location') ?? '')
  const path = `${asked.pathname.replace('/api/v1', '')}${asked.search}`
  const { headers } = await manager.get(path)
  const request = new URL(headers.get('location') ?? '').searchParams.get('request')
  const { body } = await manager.post(`/oauth/requests/${request}/approve`, decision)
  return new Request(body.redirect_to, { headers: { cookie: cookieFrom(started) } })
}

/** Installs the app through OAuth and returns its tokens. */
export async function installed(app: TestApp, at: Registered) {
  const store = memoryTokens()
  const installer = installerFor(app, at, store)
  const started = await installer.start(
    new Request(`https://robots.example.com/install?secret=${encodeURIComponent(installSecret)}`),
  )
  const answer = await installer.callback(await approve(at.owner, started))
  expect(await answer.text()).toMatch(/^Installed/)
  const { body } = await at.owner.get('/installations')
  const installationId = body.data[0].id as string
  const agentUserId = body.data[0].app_user_id as string
  return { store, installationId, agentUserId, tokens: new TokenManager({ ...credentials(app, at), store }) }
}

export async function delegated(at: Registered, agentUserId: string, title = 'Mend the door', fields: object = {}) {
  const { body } = await at.owner.post('/issues', { title, team_id: at.team.id, delegate_id: agentUserId, ...fields })
  const { body: sessions } = await at.owner.get(`/agent-sessions?issue_id=${body.id}`)
  return { issue: body, sessionId: sessions.data[0].id as string }
}

/** A registered and installed agent on a real port, which the real service calls. */
export async function running(
  app: TestApp,
  options: Partial<AgentOptions> & Pick<AgentOptions, 'onCreated'>,
  resourceTypes: string[] = [],
) {
  let agent: Agent | undefined
  const port = await listen(createServer((request, response) => void agent?.node(request, response)))
  const at = await registered(app, `http://localhost:${port}/hook`, resourceTypes)
  const here = await installed(app, at)
  const errors: unknown[] = []
  const createOther = (changed: typeof options) =>
    createAgent({
      baseUrl: app.rootUrl,
      webhookSecret: at.client.webhook_secret,
      tokens: here.tokens,
      clock: app.clock,
      onError: (error) => void errors.push(error),
      ...changed,
    })
  const started = createOther(options)
  agent = started
  /** Sends due deliveries and waits for the agent. */
  const deliver = async () => {
    await app.deliver()
    await started.settled()
  }
  const activities = async (sessionId: string) =>
    (await at.owner.get(`/agent-sessions/${sessionId}/activities`)).body.data as {
      type: string
      content: Record<string, string>
      ephemeral: boolean
    }[]
  const prompt = (sessionId: string, body: string) =>
    at.owner.post(`/agent-sessions/${sessionId}/activities`, { content: { type: 'prompt', body } })
  return { ...at, ...here, app, agent: started, createOther, errors, deliver, activities, prompt }
}
export type Running = Awaited<ReturnType<typeof running>>

/** All session events for the agent, oldest first. */
export async function eventsFor({ app, id, installationId, agentUserId }: Running) {
  const rows = await app.ctx.db.rows<{ body: WebhookEvent }>(sql`
    select body from events where workspace_id = ${id} and type = 'AgentSessionEvent' order by id`)
  return rows.map(({ body }) => ({ ...body, installation_id: installationId, app_user_id: agentUserId }))
}

/** Delivers an event to the agent, signed now. */
export function post({ app, client }: Running, agent: Agent, event: WebhookEvent | undefined) {
  if (!event) throw new Error('there is no such event')
  const { body, headers } = signWebhook(event, { secret: client.webhook_secret, now: app.clock.now() })
  return agent.receive({ rawBody: body, headers })
}
