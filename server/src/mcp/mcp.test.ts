import { pathParams } from '@baton/protocol'
import { UnauthorizedError } from '@modelcontextprotocol/client'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { callTool, connectMcp, mcpTransport, newMcpClient, Program, rpc } from '../../test/mcp.ts'
import { programOf } from '../../test/oauth.ts'
import { tools } from '../tools/catalogue.ts'

async function scene(app: TestApp, scopes = ['read', 'write']) {
  const workspace = await app.workspace()
  const { owner } = workspace
  const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  const other = (await owner.post('/teams', { name: 'Design', key: 'DES' })).body
  const issue = (await owner.post('/issues', { title: 'A bug', team_id: team.id })).body
  const outside = (await owner.post('/issues', { title: 'A colour', team_id: other.id })).body
  const robot = await app.installed(owner, { scopes, teamIds: [team.id] })
  const bare = app.nobody.with({ authorization: `Bearer ${robot.token}` })
  return { ...workspace, team, other, issue, outside, robot, bare }
}

describe('a client', () => {
  test(
    'that knows only the address finds out how to connect, asks a person, and works as them',
    verifies('mcp.401-resource-metadata', 'mcp.public-client-pins-workspace', 'mcp.streamable-http'),
    async ({ app }) => {
      const { member, id, team } = await scene(app)
      const program = new Program()
      const first = mcpTransport(app, program)
      await expect(newMcpClient().connect(first)).rejects.toThrow(UnauthorizedError)
      expect(program.registered?.client_id).toBeTruthy()
      expect(program.authorizationUrl?.searchParams.get('scope')).toBe('read write')

      await first.finishAuth(await program.agreed(member, id))
      const client = newMcpClient()
      await client.connect(mcpTransport(app, program))
      expect(client.getServerVersion()).toMatchObject({ name: 'baton' })
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toContain('create_issue')
      const created = await client.callTool({ name: 'create_issue', arguments: { title: 'Typo', team_id: team.id } })
      expect(created).toMatchObject({ structuredContent: { reporter_id: member.user.id, team_id: team.id } })
      expect((await member.get(`/issues/${(created.structuredContent as { id: string }).id}`)).body).toEqual(
        created.structuredContent,
      )
    },
  )

  test.for(['legacy', 'auto', { pin: '2026-07-28' }] as const)(
    'of revision %s works as an app',
    verifies('mcp.streamable-http', 'mcp.app-token', 'mcp.stateless'),
    async (mode, { app }) => {
      const { robot, id, issue } = await scene(app)
      const client = await connectMcp(app, robot.token, { 'x-workspace-id': id }, mode)
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toContain('post_activity')
      const read = await client.callTool({ name: 'get_issue', arguments: { issue_id: issue.code } })
      expect(read.structuredContent).toEqual((await robot.get(`/issues/${issue.id}`)).body)
      expect(read.content).toEqual([{ type: 'text', text: JSON.stringify(read.structuredContent) }])
      await expect(client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toThrow('no such tool')
      expect((await client.callTool({ name: 'get_issue', arguments: {} })).isError).toBe(true)
      if (mode !== 'legacy') expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
    },
  )
})

describe('without a handshake or a session', () => {
  test(
    'tools are listed and called',
    verifies('mcp.stateless', 'mcp.person-token', 'mcp.streamable-http'),
    async ({ app }) => {
      const { owner, issue } = await scene(app)
      const listed = await rpc(owner, 'tools/list')
      expect(listed).toMatchObject({ status: 200, body: { jsonrpc: '2.0' } })
      expect(listed.headers.get('mcp-session-id')).toBeNull()
      const called = await rpc(owner, 'tools/call', { name: 'get_issue', arguments: { issue_id: issue.id } })
      expect(called.body.result.structuredContent.id).toBe(issue.id)
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
      const hello = await rpc(owner, 'initialize', params)
      expect(hello.body.result).toMatchObject({ protocolVersion: '2025-06-18', capabilities: { tools: {} } })
      expect(hello.headers.get('mcp-session-id')).toBeNull()
    },
  )

  test('there is nothing to listen to or to end', async ({ app }) => {
    const { owner } = await scene(app)
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const headers = { authorization: `Bearer ${owner.token}`, 'x-workspace-id': owner.workspaceId }
      const response = await fetch(`${app.rootUrl}/mcp`, { method, headers })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
      expect(await response.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' })
    }
  })
})

describe('who may come in', () => {
  test('nobody without a token', verifies('mcp.401-resource-metadata'), async ({ app }) => {
    const { robot } = await scene(app)
    const metadata = `resource_metadata="${app.ctx.config.rootUrl}/.well-known/oauth-protected-resource/mcp"`
    const strangers = [
      app.nobody,
      app.nobody.with({ authorization: 'Bearer svc_at_nonsense' }),
      app.nobody.with({ authorization: 'Basic eDp5' }),
    ]
    for (const stranger of strangers) {
      const response = await rpc(stranger, 'tools/list')
      expect(response).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", /)
      expect(response.headers.get('www-authenticate')).toContain(metadata)
    }
    const elsewhere = await app.nobody.get('/issues')
    expect(elsewhere.headers.get('www-authenticate')).not.toContain('resource_metadata')
    expect((await rpc(robot, 'ping')).body.result).toEqual({})
  })

  test(
    "a token's workspace goes without saying, a login's does not",
    verifies(
      'mcp.workspace-header-optional-for-app',
      'mcp.workspace-header-needed-for-person',
      'mcp.public-client-pins-workspace',
    ),
    async ({ app }) => {
      const { bare, owner, member, id } = await scene(app)
      const elsewhere = await app.workspace('Elsewhere')
      const program = app.nobody.with({ authorization: `Bearer ${await programOf(app, member, id)}` })
      const login = app.nobody.with({ authorization: `Bearer ${owner.token}` })
      for (const client of [bare, program, owner]) {
        expect((await callTool(client, 'get_workspace')).structuredContent.id).toBe(id)
      }
      expect(await rpc(login, 'tools/list')).toMatchObject({ status: 400, body: { code: 'WORKSPACE_REQUIRED' } })
      for (const client of [bare, program, login]) {
        const lost = client.with({ 'x-workspace-id': elsewhere.id })
        const denied = { status: 403, body: { code: 'WORKSPACE_ACCESS_DENIED' } }
        expect(await rpc(lost, 'tools/list')).toMatchObject(denied)
      }
    },
  )

  test('no page of another origin', async ({ app }) => {
    const { owner } = await scene(app)
    for (const origin of ['https://evil.example.com', 'null', `${app.ctx.config.rootUrl}0`, 'http://localhost']) {
      const refused = await app.unchanged(() => rpc(owner.with({ origin }), 'tools/call', { name: 'create_label' }))
      expect(refused).toMatchObject({ status: 403, body: { code: 'CSRF_REFUSED' } })
    }
    expect((await rpc(owner.with({ origin: app.ctx.config.rootUrl }), 'ping')).status).toBe(200)
  })
})

describe('a tool', () => {
  test('there is one for every noun, by who calls', verifies('mcp.tools-for-every-noun'), async ({ app }) => {
    const { owner, robot } = await scene(app)
    const namesFor = async (client: typeof robot | typeof owner): Promise<string[]> =>
      (await rpc(client, 'tools/list')).body.result.tools.map(({ name }: { name: string }) => name)
    const [apps, people] = [await namesFor(robot), await namesFor(owner)]
    const nouns =
      'issues projects comments labels milestones cycles initiatives teams members agents agent_sessions activities'
    for (const noun of nouns.split(' ')) {
      expect(apps).toContain(`list_${noun}`)
      expect(people).toContain(`list_${noun}`)
    }
    const ofAppsAlone = apps.filter((name) => !people.includes(name))
    expect(ofAppsAlone).toEqual(['open_agent_session', 'update_session_plan', 'update_session_links'])
    expect(people.filter((name) => !apps.includes(name))).toEqual([])
  })

  test(
    'acts as the user of the app',
    verifies('mcp.attributed-to-app-user', 'mcp.app-token', 'mcp.workspace-header-optional-for-app'),
    async ({ app }) => {
      const { bare, owner, robot, issue, team } = await scene(app)
      const target = { target_type: 'issue', target_id: issue.id }
      const comment = await callTool(bare, 'create_comment', { ...target, text: 'Looking' })
      const created = await callTool(bare, 'create_issue', { title: 'Found', team_id: team.id })
      const { body } = await owner.get(`/comments/${comment.structuredContent.id}`)
      expect(body).toMatchObject({ author_id: robot.userId, text: 'Looking' })
      expect(created.structuredContent.reporter_id).toBe(robot.userId)
      const gone = await callTool(bare, 'delete_comment', { comment_id: body.id })
      expect(gone).toEqual({ content: [{ type: 'text', text: 'Done.' }] })
      expect((await owner.get(`/comments/${body.id}`)).status).toBe(404)
    },
  )

  test('carries an agent session from its opening to its answer', async ({ app }) => {
    const { bare, owner, issue } = await scene(app)
    const session = (await callTool(bare, 'open_agent_session', { issue_id: issue.id })).structuredContent
    const { id: session_id } = session
    const plan = [{ content: 'Look', status: 'inProgress' }]
    const links = [{ label: 'Change', url: 'https://example.com/1' }]
    await callTool(bare, 'update_session_plan', { session_id, plan })
    await callTool(bare, 'update_session_links', { session_id, added_external_urls: links })
    const shown = await callTool(owner, 'get_agent_session', { session_id })
    expect(shown.structuredContent).toMatchObject({ plan, external_urls: links })

    const question = { session_id, content: { type: 'elicitation', body: 'Which?' }, idempotency_key: 'q' }
    const asked = await callTool(bare, 'post_activity', question)
    expect((await callTool(bare, 'post_activity', question)).structuredContent).toEqual(asked.structuredContent)
    const reused = await callTool(bare, 'post_activity', { ...question, content: { type: 'response', body: 'No' } })
    expect(reused).toMatchObject({ isError: true, structuredContent: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    await callTool(owner, 'post_activity', { session_id, content: { type: 'prompt', body: 'The first' } })
    await callTool(bare, 'post_activity', { session_id, content: { type: 'response', body: 'Done' } })
    const { structuredContent } = await callTool(owner, 'list_activities', { session_id, after_seq: 1 })
    expect(structuredContent.data.map(({ type }: { type: string }) => type)).toEqual(['prompt', 'response'])
    expect((await owner.get(`/agent-sessions/${session_id}`)).body.state).toBe('complete')
  })
})

describe('a refusal', () => {
  /** Each is the same call as a tool and over HTTP. */
  type Pair = [tool: string, input: object, method: string, path: string, body?: object]

  const refusedAlike = async (app: TestApp, client: Parameters<typeof callTool>[0], [name, input, ...http]: Pair) => {
    const result = await app.unchanged(() => callTool(client, name, input))
    const [method, path, body] = http
    const { body: refusal } = await app.unchanged(() => client.request(method, path, body))
    expect(result).toMatchObject({ isError: true, structuredContent: refusal })
    expect(result.content[0].text).toMatch(new RegExp(`^${refusal.code}: `))
    return refusal.code
  }

  test(
    'is that of the API, and nothing happens',
    verifies('mcp.same-errors', 'mcp.same-team-access'),
    async ({ app }) => {
      const { robot, owner, issue, outside, team, other } = await scene(app)
      const elsewhere = await scene(app)
      const at = `/issues/${issue.id}`
      const issue_id = issue.id
      const pairs: [string, Pair][] = [
        ['TEAM_ACCESS_DENIED', ['get_issue', { issue_id: outside.id }, 'GET', `/issues/${outside.id}`]],
        [
          'TEAM_ACCESS_DENIED',
          ['create_issue', { title: 'x', team_id: other.id }, 'POST', '/issues', { title: 'x', team_id: other.id }],
        ],
        ['RESOURCE_NOT_FOUND', ['get_issue', { issue_id: elsewhere.issue.id }, 'GET', `/issues/${elsewhere.issue.id}`]],
        ['INVALID_DELEGATE', ['update_issue', { issue_id, delegate_id: null }, 'PUT', at, { delegate_id: null }]],
        ['APP_STATUS_FORBIDDEN', ['update_issue', { issue_id, status: 'done' }, 'PUT', at, { status: 'done' }]],
        ['VALIDATION_ERROR', ['update_issue', { issue_id, surprise: 1 }, 'PUT', at, { surprise: 1 }]],
        ['VALIDATION_ERROR', ['update_issue', { issue_id, title: 5 }, 'PUT', at, { title: 5 }]],
        ['VALIDATION_ERROR', ['update_issue', { issue_id, title: 'x\0' }, 'PUT', at, { title: 'x\0' }]],
        [
          'VALIDATION_ERROR',
          [
            'create_issue',
            { title: 'x'.repeat(256), team_id: team.id },
            'POST',
            '/issues',
            { title: 'x'.repeat(256), team_id: team.id },
          ],
        ],
        ['VALIDATION_ERROR', ['list_issues', { limit: 101 }, 'GET', '/issues?limit=101']],
        ['VALIDATION_ERROR', ['list_issues', { surprise: '1' }, 'GET', '/issues?surprise=1']],
        ['VALIDATION_ERROR', ['delete_issue', { issue_id, surprise: '1' }, 'DELETE', `${at}?surprise=1`]],
      ]
      for (const [code, pair] of pairs) expect(await refusedAlike(app, robot, pair)).toBe(code)
      const session = (await robot.post('/agent-sessions', { issue_id })).body
      const said = { content: { type: 'prompt', body: 'Hello' } }
      const path = `/agent-sessions/${session.id}`
      const more: [string, typeof owner | typeof robot, Pair][] = [
        [
          'PROMPT_IS_HUMAN_ONLY',
          robot,
          ['post_activity', { session_id: session.id, ...said }, 'POST', `${path}/activities`, said],
        ],
        ['FORBIDDEN', owner, ['open_agent_session', { issue_id }, 'POST', '/agent-sessions', { issue_id }]],
        [
          'FORBIDDEN',
          owner,
          ['update_session_plan', { session_id: session.id, plan: [] }, 'PATCH', path, { plan: [] }],
        ],
      ]
      for (const [code, client, pair] of more) expect(await refusedAlike(app, client, pair)).toBe(code)
    },
  )

  test(
    'of every tool is that of its route, whoever calls',
    verifies('mcp.same-errors', 'mcp.same-scopes'),
    async ({ app }) => {
      const { robot, owner, member, id } = await scene(app)
      const scopeless = await app.installed(owner, { scopes: ['app:mentionable'] })
      const program = app.nobody.with({ authorization: `Bearer ${await programOf(app, member, id)}` })
      const before = await app.everything()
      const codes = new Set<string>()
      for (const client of [robot, scopeless, owner, program]) {
        for (const { name, operation } of tools) {
          const { method, path } = operation.route
          const ids = Object.fromEntries(pathParams(path).map((param) => [param, 'nonsense']))
          const at = path.replace(/:\w+/g, 'nonsense')
          // A field that is not known; and where there is an id, the id alone.
          for (const extra of [{ surprise: '1' }, ...(at === path ? [] : [{}])]) {
            const result = await callTool(client, name, { ...ids, ...extra })
            const query = operation.body ? '' : `?${new URLSearchParams(extra as Record<string, string>)}`
            const { body } = await client.request(method, at + query, operation.body ? extra : undefined)
            const { isError, structuredContent: refusal } = result
            expect({ name, isError, refusal }).toEqual({ name, isError: true, refusal: body })
            codes.add(body.code)
          }
        }
      }
      expect([...codes].sort()).toEqual(['FORBIDDEN', 'INSUFFICIENT_SCOPE', 'RESOURCE_NOT_FOUND', 'VALIDATION_ERROR'])
      expect(await app.everything()).toBe(before)
    },
  )

  test('is for the scope that is missing', verifies('mcp.same-scopes'), async ({ app }) => {
    const { bare, robot, issue } = await scene(app, ['read'])
    const change = { title: 'Changed' }
    const pair: Pair = ['update_issue', { issue_id: issue.id, ...change }, 'PUT', `/issues/${issue.id}`, change]
    expect(await refusedAlike(app, robot, pair)).toBe('INSUFFICIENT_SCOPE')
    const result = await app.unchanged(() => callTool(bare, 'create_label', { name: 'Red' }))
    expect(result.structuredContent).toMatchObject({ code: 'INSUFFICIENT_SCOPE', details: { required: 'write' } })
  })

  test('names what is missing, or is no text, in the place of an id or a key', async ({ app }) => {
    const { robot, issue } = await scene(app)
    const session_id = (await robot.post('/agent-sessions', { issue_id: issue.id })).body.id
    const content = { type: 'thought', body: 'Hm' }
    const cases: [string, object, object][] = [
      ['get_issue', {}, { issue_id: 'is required' }],
      ['get_issue', { issue_id: null }, { issue_id: 'must be a string' }],
      ['get_issue', { issue_id: ['x'] }, { issue_id: 'must be a string' }],
      ['post_activity', { session_id, content, idempotency_key: 5 }, { idempotency_key: 'must be a string' }],
      ['post_activity', { session_id, content, idempotency_key: '\0' }, { idempotency_key: expect.any(String) }],
      [
        'post_activity',
        { session_id, content, idempotency_key: 'x'.repeat(65) },
        { 'Idempotency-Key': expect.any(String) },
      ],
      ['post_activity', { session_id, content, idempotency_key: '' }, { 'Idempotency-Key': expect.any(String) }],
      ['get_me', { idempotency_key: 'x' }, { idempotency_key: 'is not a known field' }],
    ]
    for (const [name, input, details] of cases) {
      const result = await app.unchanged(() => callTool(robot, name, input))
      expect(result).toMatchObject({ isError: true, structuredContent: { code: 'VALIDATION_ERROR', details } })
    }
    for (const issue_id of ['', '\0', 'x'.repeat(1000), "'; drop table users; --"]) {
      const result = await callTool(robot, 'get_issue', { issue_id })
      expect(result.structuredContent.code).toBe('RESOURCE_NOT_FOUND')
    }
  })
})

describe('limits', () => {
  test('every message is a call, and a tool of the Agent Session API one of that too', async ({ startApp }) => {
    const app = await startApp({ BATON_INSTALLATION_RATE: '2', BATON_API_RATE: '5' })
    const { robot } = await scene(app)
    const first = await rpc(robot, 'tools/list')
    expect([first.headers.get('ratelimit-limit'), first.headers.get('ratelimit-remaining')]).toEqual(['5', '4'])
    for (const isError of [undefined, undefined, true]) {
      const result = await callTool(robot, 'list_agent_sessions')
      expect(result.isError).toBe(isError)
      if (isError) {
        expect(result.structuredContent.code).toBe('RATE_LIMIT_EXCEEDED')
        expect(result.content[0].text).toContain('Wait 60 s.')
      }
    }
    expect((await callTool(robot, 'get_me')).isError).toBeUndefined()
    const over = await rpc(robot, 'tools/list')
    expect(over).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
    expect(over.headers.get('retry-after')).toBe('60')
  })
})
