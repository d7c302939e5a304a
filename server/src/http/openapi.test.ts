import { api, errors, routes } from '@baton/protocol'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'vitest'
import { test } from '../../test/harness.ts'
import { openApi } from './openapi.ts'

test('the served description is valid OpenAPI 3.1 by an independent validator', async ({ app }) => {
  const { status, body } = await app.anonymous.get('/openapi.json')
  expect(status).toBe(200)
  expect(body).toEqual(JSON.parse(JSON.stringify(openApi(api, app.ctx.config))))
  const validator = new Validator()
  expect(await validator.validate(body)).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('it has every operation, with its parameters, body, answer and errors', async ({ app }) => {
  const { paths } = (await app.anonymous.get('/openapi.json')).body
  for (const [name, operation] of Object.entries(api)) {
    const { method, path } = operation.route
    const described = paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
    expect(described?.operationId).toBe(name)
    expect(described.summary).toBeTruthy()
    expect(described.responses).toHaveProperty(Object.keys(operation.returns)[0] as string)
    expect(described.responses).toHaveProperty('500')
    const isRaw = 'raw' in operation.route
    expect(Boolean(described.requestBody)).toBe('body' in operation || isRaw)
    const isForm = 'bodyFormat' in operation && operation.bodyFormat === 'form'
    const type = isRaw ? '*/*' : isForm ? 'application/x-www-form-urlencoded' : 'application/json'
    expect(Object.keys(described.requestBody?.content ?? { [type]: {} })).toEqual([type])
    for (const param of path.match(/(?<=:)\w+/g) ?? []) {
      expect(described.parameters).toContainEqual(expect.objectContaining({ name: param, in: 'path' }))
    }
  }
})

test('every route has its operation under the same name', () => {
  expect(Object.keys(api).sort()).toEqual(Object.keys(routes).sort())
  for (const [name, operation] of Object.entries(api)) expect(operation.route).toBe(routes[name as keyof typeof routes])
})

test('every error code has a message', () => {
  for (const { message } of Object.values(errors)) expect(message).toMatch(/^[A-Z].*\.$/)
})

test('every operation has the tag of its noun, and every tag has a description and operations', () => {
  const { paths, tags } = openApi(api, { rootUrl: '', baseUrl: '' } as never) as {
    paths: Record<string, Record<string, { tags?: string[] }>>
    tags: { name: string; description: string }[]
  }
  const used = Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags ?? []))
  expect(used.length).toBeGreaterThanOrEqual(Object.keys(api).length)
  expect([...new Set(used)].sort()).toEqual(tags.map(({ name }) => name).sort())
  for (const { name, description } of tags) expect(description, name).toMatch(/^[A-Z].{10,}\.$/)
  expect(paths['/issues/{issue_id}']?.get?.tags).toEqual(['issues'])
  expect(paths['/healthz']?.get?.tags).toEqual(['instance'])
  expect(paths['/.well-known/oauth-authorization-server']?.get?.tags).toEqual(['oauth'])
})

test('it names the scope of programs, the formats of icons, and the refusal of large headers', async ({ app }) => {
  const { paths } = (await app.anonymous.get('/openapi.json')).body
  const sessions = paths['/agent-sessions'].get
  expect(sessions.description).toBe(
    "Who may call it: member or app; an app's token needs no scope, a token of a person's program needs the scope read.",
  )
  expect(sessions.responses['431'].description).toContain('HEADERS_TOO_LARGE')
  expect(Object.keys(paths['/agent-apps/{app_id}/icon'].get.responses['200'].content)).toEqual([
    'image/png',
    'image/jpeg',
    'image/webp',
    'image/gif',
    'image/svg+xml',
  ])
  expect(paths['/oauth/register'].post.responses['429'].content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/OAuthError',
  })
})
