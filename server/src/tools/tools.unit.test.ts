import { readFileSync } from 'node:fs'
import { api, type Operation, pathParams } from '@baton/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { accepted, type WriteName } from '../../test/calls.ts'
import { annotations } from './annotations.ts'
import { findTool, noTool, tools, toolsFor } from './catalogue.ts'
import { callOf } from './input.ts'
import { inputSchema } from './schema.ts'

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false })
addFormats.default(ajv)

const nameOf = (operation: Operation) =>
  Object.entries(api as Record<string, Operation>).find(([, other]) => other === operation)?.[0]

test('every operation that tokens may call is a tool or listed in noTool', () => {
  const callable = Object.entries(api as Record<string, Operation>).filter(([, { route }]) => 'scope' in route)
  const offered = new Set(tools.map(({ operation }) => operation))
  const missing = callable.filter(([name, operation]) => !offered.has(operation) && !(name in noTool))
  expect(missing.map(([name]) => name)).toEqual([])
  const needless = Object.keys(noTool).filter((name) => offered.has(api[name as keyof typeof api]))
  expect(needless).toEqual([])
  for (const { name, operation } of tools) expect('scope' in operation.route, name).toBe(true)
})

describe.each(['app', 'person'] as const)('for %s', (kind) => {
  test('tool names are unique and well-formed', () => {
    const names = toolsFor(kind).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names)
      expect(name).toMatch(/^(list|get|create|update|delete|select|open|post|upload|suggest)(_[a-z]+)+$/)
    expect(findTool(kind, '__proto__')).toBeUndefined()
  })

  test('operations for apps only are tools for apps only', () => {
    const apart = toolsFor(kind).filter(({ operation }) => operation.route.caller === 'app')
    if (kind === 'person') expect(apart).toEqual([])
    else expect(apart.length).toBeGreaterThan(0)
  })

  test.each(toolsFor(kind).map((tool) => [tool.name, tool] as const))(
    '%s has a description and a valid schema',
    (_, tool) => {
      expect(tool.description).toMatch(/^[A-Z].{10,598}\.$/)
      const schema = inputSchema(tool)
      expect(() => ajv.compile(schema)).not.toThrow()
      expect(JSON.stringify(schema)).not.toMatch(/x-message|~kind|~optional/)
      expect(JSON.parse(JSON.stringify(schema))).toEqual(schema)
      const params = pathParams(tool.operation.route.path)
      expect(schema.required.slice(0, params.length)).toEqual(params)
      for (const name of schema.required) expect(schema.properties).toHaveProperty(name)
    },
  )
})

test('no field name occurs in two of path, query, body and headers', () => {
  for (const { name, operation } of tools) {
    const { query, body, route } = operation
    const places = [
      ...pathParams(route.path),
      ...Object.keys(query?.properties ?? {}),
      ...Object.keys((body as { properties?: object } | undefined)?.properties ?? {}),
      'idempotency_key',
    ]
    expect(new Set(places).size, name).toBe(places.length)
  }
})

test('distributes the flat input over path, query, body and headers', () => {
  const update = findTool('app', 'update_issue')
  const post = findTool('app', 'post_activity')
  const list = findTool('app', 'list_activities')
  if (!update || !post || !list) throw new Error('missing')
  expect(callOf(update, { issue_id: 'ENG-1', title: 'x' })).toEqual({
    params: { issue_id: 'ENG-1' },
    query: {},
    body: { title: 'x' },
    headers: {},
  })
  expect(callOf(post, { session_id: 's', content: {}, idempotency_key: 'k' })).toEqual({
    params: { session_id: 's' },
    query: {},
    body: { content: {} },
    headers: { 'idempotency-key': 'k' },
  })
  expect(callOf(list, { session_id: 's', limit: 5, other: 1 })).toEqual({
    params: { session_id: 's' },
    query: { limit: 5, other: 1 },
    body: undefined,
    headers: {},
  })
})

test('the schema of a tool accepts the bodies that its route accepts', () => {
  for (const tool of tools) {
    const body = accepted[nameOf(tool.operation) as WriteName]
    if (!body || tool.body) continue
    const ids = Object.fromEntries(pathParams(tool.operation.route.path).map((param) => [param, 'x']))
    const fits = ajv.compile(inputSchema(tool))
    expect(fits({ ...ids, ...body }), `${tool.name}: ${ajv.errorsText(fits.errors)}`).toBe(true)
    expect(fits({ ...ids, ...body, surprise: 1 }), tool.name).toBe(false)
  }
})

test('apps and people post different activity types', () => {
  const contents = (kind: 'app' | 'person') => {
    const tool = findTool(kind, 'post_activity')
    return JSON.stringify(tool && inputSchema(tool).properties.content)
  }
  expect(contents('app')).toContain('elicitation')
  expect(contents('app')).not.toContain('prompt')
  expect(contents('person')).toContain('prompt')
  expect(contents('person')).not.toContain('elicitation')
})

test('annotations follow from the HTTP method', () => {
  const hints = (name: string) => {
    const tool = findTool('app', name)
    if (!tool) throw new Error(name)
    const { title, readOnlyHint, destructiveHint, idempotentHint } = annotations(tool)
    return [title, readOnlyHint, destructiveHint, idempotentHint]
  }
  expect(hints('list_issues')).toEqual(['List issues', true, false, true])
  expect(hints('create_issue')).toEqual(['Create issue', false, false, false])
  expect(hints('update_issue')).toEqual(['Update issue', false, true, true])
  expect(hints('delete_issue')).toEqual(['Delete issue', false, true, true])
})

test('the table in the guide lists every tool with its route', () => {
  const guide = readFileSync(new URL('../../../docs/guides/mcp.md', import.meta.url), 'utf8')
  const listed = [...guide.matchAll(/^\| `([a-z_]+)` \| `(\w+ \S+)` \|/gm)].map(([, name, route]) => `${name} ${route}`)
  const offered = tools.map(({ name, operation: { route } }) => `${name} ${route.method} ${route.path}`)
  expect(listed).toEqual([...new Set(offered)])
})
