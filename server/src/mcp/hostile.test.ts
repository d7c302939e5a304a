import { expect } from 'vitest'
import { type TestApp, type TestWorkspace, test } from '../../test/harness.ts'
import { callTool, rpc } from '../../test/mcp.ts'
import { sql } from '../db/sql.ts'

// The tests change nothing, so they share one workspace.
let shared: Promise<TestWorkspace> | undefined
const scene = (app: TestApp) => {
  shared ??= app.workspace()
  return shared
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const raw = (text: string | Uint8Array) => ({ raw: text, headers: { 'content-type': 'application/json' } })
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

test.for([
  ['null', null],
  ['a number', 5],
  ['a string', 'ping'],
  ['an empty object', {}],
  ['an empty batch', []],
  ['a batch', [ping, { ...ping, id: 2 }]],
  ['another version', { ...ping, jsonrpc: '1.0' }],
  ['an id that is null', { ...ping, id: null }],
  ['an id that is an object', { ...ping, id: {} }],
  ['an id that is a list', { ...ping, id: [1] }],
  ['an id that is true', { ...ping, id: true }],
  ['an id with a fraction', { ...ping, id: 1.5 }],
  ['a method that is no text', { ...ping, method: 5 }],
  ['params that are a list', { ...ping, params: [1] }],
])('refuses a message that is %s', async ([, message], { app }) => {
  const { owner } = await scene(app)
  const response = await app.unchanged(() => owner.postRoot('/mcp', message))
  expect(response).toMatchObject({ status: 400, body: { jsonrpc: '2.0', error: { code: expect.any(Number) } } })
})

test.for([
  ['cut short', '{"jsonrpc":', 400, 'INVALID_JSON'],
  ['a key twice', '{"id":1,"id":2}', 400, 'INVALID_JSON'],
  ['nested 100,000 deep', deep(100_000), 400, 'INVALID_JSON'],
  ['not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400, 'INVALID_JSON'],
  ['nothing', '', 400, 'INVALID_JSON'],
  ['10 MB', JSON.stringify({ ...ping, params: { x: 'x'.repeat(10_000_000) } }), 413, 'BODY_TOO_LARGE'],
] as const)('refuses a body that is %s as other routes do', async ([, text, status, code], { app }) => {
  const { owner } = await scene(app)
  const response = await app.unchanged(() => owner.postRoot('/mcp', undefined, raw(text)))
  expect(response).toMatchObject({ status, body: { code } })
})

test('refuses other media types', async ({ app }) => {
  const { owner } = await scene(app)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const options = { raw: JSON.stringify(ping), headers: { 'content-type': type } }
    expect(await owner.postRoot('/mcp', undefined, options)).toMatchObject({ status: 415 })
  }
})

test('returns every kind of request id unchanged', async ({ app }) => {
  const { owner } = await scene(app)
  for (const id of [0, -1, 2 ** 53 - 1, '', 'x', '__proto__', 'x'.repeat(10_000)]) {
    expect((await owner.postRoot('/mcp', { ...ping, id })).body).toEqual({ jsonrpc: '2.0', id, result: {} })
  }
})

test('notifications and results get no response and change nothing', async ({ app }) => {
  const { owner } = await scene(app)
  const call = { method: 'tools/call', params: { name: 'create_label', arguments: { name: 'Red' } } }
  for (const message of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { jsonrpc: '2.0', method: 'notifications/unheard-of' },
    { jsonrpc: '2.0', ...call },
    { jsonrpc: '2.0', id: 1, result: {} },
  ]) {
    const response = await app.unchanged(() => owner.postRoot('/mcp', message))
    expect([response.status, response.body]).toEqual([202, undefined])
  }
})

test('refuses unknown methods and tools', async ({ app }) => {
  const { owner } = await scene(app)
  for (const method of ['nope', 'resources/list', 'prompts/list', '__proto__', 'constructor', 'server/discover']) {
    expect((await rpc(owner, method)).body.error).toMatchObject({ code: -32601 })
  }
  for (const params of [{}, { name: 5 }, { name: 'nope' }, { name: '__proto__' }, { name: 'get_me', arguments: [] }]) {
    expect((await rpc(owner, 'tools/call', params)).body.error).toMatchObject({ code: -32602 })
  }
  const extra = await rpc(owner, 'tools/call', { name: 'get_me', surprise: 1, _meta: { x: 1 } })
  expect(extra.body.result.structuredContent.user.id).toBe(owner.user.id)
})

test('refuses unsupported protocol revisions', async ({ app }) => {
  const { owner } = await scene(app)
  const speaking = (version: string) => rpc(owner.with({ 'mcp-protocol-version': version }), 'ping')
  for (const version of ['1999-01-01', '2026-07-28', 'x'.repeat(1000)]) {
    expect(await speaking(version)).toMatchObject({ status: 400, body: { error: { code: expect.any(Number) } } })
  }
  for (const version of ['2025-03-26', '2025-06-18', '2025-11-25']) expect((await speaking(version)).status).toBe(200)
})

test('refuses fields named like properties of every object', async ({ app }) => {
  const { owner } = await scene(app)
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    for (const tool of ['create_label', 'list_labels']) {
      const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":{"${name}":{"x":1}}}}`
      const { body } = await app.unchanged(() => owner.postRoot('/mcp', undefined, raw(text)))
      expect(body.result.structuredContent.code).toBe('VALIDATION_ERROR')
      expect(Object.entries(body.result.structuredContent.details)).toContainEqual([name, 'is not a known field'])
    }
  }
  expect(({} as { x?: number }).x).toBeUndefined()
})

test('does not reveal the cause of an internal error', async ({ startApp }) => {
  const app = await startApp()
  const { owner } = await app.workspace()
  await app.ctx.db.run(sql`alter table labels rename to hidden_labels`)
  const { status, body } = await rpc(owner, 'tools/call', { name: 'list_labels' })
  expect({ status, code: body.code, details: Object.keys(body.details) }).toEqual({
    status: 500,
    code: 'INTERNAL_ERROR',
    details: ['request_id'],
  })
  expect(JSON.stringify(body)).not.toContain('labels')
  expect((await callTool(owner, 'get_me')).structuredContent.user.id).toBe(owner.user.id)
})
