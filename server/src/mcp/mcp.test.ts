import { UnauthorizedError } from '@modelcontextprotocol/client'
import { describe, expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { callTool, connectMcp, mcpScene, mcpTransport, newMcpClient, Program, rpc } from '../../test/mcp.ts'
import { programOf } from '../../test/oauth.ts'

describe('a client', () => {
  test(
    'that knows only the address discovers the authorization, gets consent from a person and acts as them',
    verifies('mcp.401-resource-metadata', 'mcp.public-client-pins-workspace', 'mcp.streamable-http'),
    async ({ app }) => {
      const { member, id, team } = await mcpScene(app)
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
      const { robot, id, issue } = await mcpScene(app)
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
      const { owner, issue } = await mcpScene(app)
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

  test('GET, DELETE and PUT are not allowed', async ({ app }) => {
    const { owner } = await mcpScene(app)
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const headers = { authorization: `Bearer ${owner.token}`, 'x-workspace-id': owner.workspaceId }
      const response = await fetch(`${app.rootUrl}/mcp`, { method, headers })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
      expect(await response.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' })
    }
  })
})

describe('authentication', () => {
  test('refuses requests without a valid token', verifies('mcp.401-resource-metadata'), async ({ app }) => {
    const { robot } = await mcpScene(app)
    const metadata = `resource_metadata="${app.ctx.config.rootUrl}/.well-known/oauth-protected-resource/mcp"`
    const strangers = [
      app.anonymous,
      app.anonymous.with({ authorization: 'Bearer svc_at_nonsense' }),
      app.anonymous.with({ authorization: 'Basic eDp5' }),
    ]
    for (const stranger of strangers) {
      const response = await rpc(stranger, 'tools/list')
      expect(response).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } })
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", /)
      expect(response.headers.get('www-authenticate')).toContain(metadata)
    }
    const elsewhere = await app.anonymous.get('/issues')
    expect(elsewhere.headers.get('www-authenticate')).not.toContain('resource_metadata')
    expect((await rpc(robot, 'ping')).body.result).toEqual({})
  })

  test(
    'an OAuth token needs no workspace header, a login token does',
    verifies(
      'mcp.workspace-header-optional-for-app',
      'mcp.workspace-header-needed-for-person',
      'mcp.public-client-pins-workspace',
    ),
    async ({ app }) => {
      const { bare, owner, member, id } = await mcpScene(app)
      const elsewhere = await app.workspace('Elsewhere')
      const program = app.anonymous.with({ authorization: `Bearer ${await programOf(app, member, id)}` })
      const login = app.anonymous.with({ authorization: `Bearer ${owner.token}` })
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

  test('refuses pages of another origin', async ({ app }) => {
    const { owner } = await mcpScene(app)
    for (const origin of ['https://evil.example.com', 'null', `${app.ctx.config.rootUrl}0`, 'http://localhost']) {
      const refused = await app.unchanged(() => rpc(owner.with({ origin }), 'tools/call', { name: 'create_label' }))
      expect(refused).toMatchObject({ status: 403, body: { code: 'CSRF_REFUSED' } })
    }
    expect((await rpc(owner.with({ origin: app.ctx.config.rootUrl }), 'ping')).status).toBe(200)
  })
})

describe('a tool', () => {
  test(
    'exists for every noun, depending on the kind of caller',
    verifies('mcp.tools-for-every-noun'),
    async ({ app }) => {
      const { owner, robot } = await mcpScene(app)
      const namesFor = async (client: typeof robot | typeof owner): Promise<string[]> =>
        (await rpc(client, 'tools/list')).body.result.tools.map(({ name }: { name: string }) => name)
      const [apps, people] = [await namesFor(robot), await namesFor(owner)]
      const nouns =
        'issues projects comments labels milestones cycles initiatives teams members agents agent_sessions activities'
      for (const noun of nouns.split(' ')) {
        expect(apps).toContain(`list_${noun}`)
        expect(people).toContain(`list_${noun}`)
      }
      const appsOnly = apps.filter((name) => !people.includes(name))
      expect(appsOnly).toEqual([
        'open_agent_session',
        'suggest_changes',
        'update_session_plan',
        'update_session_links',
        'update_session_usage',
      ])
      expect(people.filter((name) => !apps.includes(name))).toEqual([])
    },
  )

  test(
    'acts as the user of the app',
    verifies('mcp.attributed-to-app-user', 'mcp.app-token', 'mcp.workspace-header-optional-for-app'),
    async ({ app }) => {
      const { bare, owner, robot, issue, team } = await mcpScene(app)
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

  test('can run an agent session from opening to response', async ({ app }) => {
    const { bare, owner, issue } = await mcpScene(app)
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

describe('limits', () => {
  test('every message counts, and tools of the Agent Session API also count towards its limit', async ({
    startApp,
  }) => {
    const app = await startApp({ BATON_INSTALLATION_RATE: '2', BATON_API_RATE: '5' })
    const { robot } = await mcpScene(app)
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
