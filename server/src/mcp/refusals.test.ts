import { pathParams } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { callTool, mcpScene } from '../../test/mcp.ts'
import { programOf } from '../../test/oauth.ts'
import { tools } from '../tools/catalogue.ts'

describe('a refusal', () => {
  /** The same call as a tool and over HTTP. */
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
    'is the same as over HTTP and changes nothing',
    verifies('mcp.same-errors', 'mcp.same-team-access'),
    async ({ app }) => {
      const { robot, owner, issue, outside, team, other } = await mcpScene(app)
      const elsewhere = await mcpScene(app)
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
      const prompt = { content: { type: 'prompt', body: 'Hello' } }
      const path = `/agent-sessions/${session.id}`
      const more: [string, typeof owner | typeof robot, Pair][] = [
        [
          'PROMPT_IS_HUMAN_ONLY',
          robot,
          ['post_activity', { session_id: session.id, ...prompt }, 'POST', `${path}/activities`, prompt],
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
    'of every tool is the refusal of its route, for every kind of caller',
    verifies('mcp.same-errors', 'mcp.same-scopes'),
    async ({ app }) => {
      const { robot, owner, member, id } = await mcpScene(app)
      const scopeless = await app.installed(owner, { scopes: ['app:mentionable'] })
      const program = app.anonymous.with({ authorization: `Bearer ${await programOf(app, member, id)}` })
      const before = await app.everything()
      const codes = new Set<string>()
      for (const client of [robot, scopeless, owner, program]) {
        for (const { name, operation } of tools) {
          const { method, path, raw } = operation.route
          const ids = Object.fromEntries(pathParams(path).map((param) => [param, 'nonsense']))
          const at = path.replace(/:\w+/g, 'nonsense')
          // With an unknown field; and with the ids alone, if there are any.
          for (const extra of [{ surprise: '1' }, ...(at === path ? [] : [{}])]) {
            // The body of an upload is a field of its tool.
            const content = raw ? { content: 'aGVsbG8=' } : {}
            const result = await callTool(client, name, { ...ids, ...content, ...extra })
            const query = operation.body ? '' : `?${new URLSearchParams(extra as Record<string, string>)}`
            const { body } = await client.request(method, at + query, operation.body ? extra : undefined)
            const { isError, structuredContent: refusal } = result
            expect({ name, isError, refusal }).toEqual({ name, isError: true, refusal: body })
            codes.add(body.code)
          }
        }
      }
      expect([...codes].sort()).toEqual([
        'FORBIDDEN',
        'INSUFFICIENT_SCOPE',
        'RESOURCE_NOT_FOUND',
        'TEAM_ACCESS_DENIED',
        'VALIDATION_ERROR',
      ])
      expect(await app.everything()).toBe(before)
    },
  )

  test('names the missing scope', verifies('mcp.same-scopes'), async ({ app }) => {
    const { bare, robot, issue } = await mcpScene(app, ['read'])
    const change = { title: 'Changed' }
    const pair: Pair = ['update_issue', { issue_id: issue.id, ...change }, 'PUT', `/issues/${issue.id}`, change]
    expect(await refusedAlike(app, robot, pair)).toBe('INSUFFICIENT_SCOPE')
    const result = await app.unchanged(() => callTool(bare, 'create_label', { name: 'Red' }))
    expect(result.structuredContent).toMatchObject({ code: 'INSUFFICIENT_SCOPE', details: { required: 'write' } })
  })

  test('names an id or key that is missing or not a string', async ({ app }) => {
    const { robot, issue } = await mcpScene(app)
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
