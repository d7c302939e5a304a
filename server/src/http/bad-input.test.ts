import { api, type Operation, pathParams, routes } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { accepted, makeScene, pathOf, type WriteName } from '../../test/calls.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'

const names = (Object.keys(accepted) as WriteName[]).filter((name) => {
  const { errorFormat, ignoresBody, bodyFormat, route }: Operation = api[name]
  return !errorFormat && !ignoresBody && bodyFormat !== 'bytes' && !route.raw
})

// Refused calls change nothing, so all cases share one scene.
let shared: ReturnType<typeof makeScene> | undefined
const scene = (app: TestApp) => {
  shared ??= makeScene(app)
  return shared
}

/** A client that may call the operation. */
const callerOf = ({ route }: Operation, { owner, robot }: Awaited<ReturnType<typeof makeScene>>) =>
  route.caller === 'app' ? robot : owner

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

const malformed: [string, string | Uint8Array][] = [
  ['text', 'hello'],
  ['cut short', '{"name":'],
  ['a comma too many', '{"name":"a",}'],
  ['single quotes', "{'name':'a'}"],
  ['nested 40 deep', deep(40)],
  ['nested 100,000 deep', deep(100_000)],
  ['with too many values', `{"a":[${'1,'.repeat(30_000)}1]}`],
  ['a key twice', '{"name":"a","name":"b"}'],
  ['a key twice, once escaped', '{"name":"a","n\\u0061me":"b"}'],
  ['not UTF-8', new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
]
const notObjects = ['null', '[]', '"name"', '5', 'true']
const unknownKeys = {
  ['__proto__']: '{"__proto__":{"role":"owner"}}',
  constructor: '{"constructor":{"prototype":{}}}',
  surprise: '{"surprise":1}',
}

const sendRaw = (app: TestApp, operation: Operation, raw: string | Uint8Array) =>
  app.unchanged(async () => {
    const at = await scene(app)
    return callerOf(operation, at).request(operation.route.method, pathOf(operation, at.ids), undefined, {
      raw,
      headers: { 'content-type': 'application/json' },
    })
  })

// One parser reads the bodies of all operations, before their schemas.
describe('the parser refuses', () => {
  test.for(malformed)('%s', verifies('http.malformed-json-400'), async ([, raw], { app }) => {
    await scene(app)
    expect(await sendRaw(app, api.createTeam, raw)).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } })
  })

  test('10 MB', async ({ app }) => {
    await scene(app)
    const raw = JSON.stringify({ name: 'x'.repeat(10_000_000) })
    expect(await sendRaw(app, api.createTeam, raw)).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } })
  })
})

describe.each(names)('%s refuses', (name) => {
  const operation: Operation = api[name]

  test('what is no JSON object', verifies('http.malformed-json-400'), async ({ app }) => {
    await scene(app)
    expect(await sendRaw(app, operation, '{"name":')).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } })
    for (const raw of notObjects)
      expect(await sendRaw(app, operation, raw), raw).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
  })

  test(
    'unknown keys',
    verifies('http.unknown-body-key-422', 'http.unknown-body-key-named-in-details'),
    async ({ app }) => {
      await scene(app)
      for (const [key, raw] of Object.entries(unknownKeys)) {
        const { status, body } = await sendRaw(app, operation, raw)
        expect({ key, status, code: body.code }).toEqual({ key, status: 422, code: 'VALIDATION_ERROR' })
        expect(Object.entries(body.details)).toContainEqual([key, 'is not a known field'])
      }
    },
  )

  const body = accepted[name]
  if (!body) return

  if (!operation.bodyOptional)
    test('no body at all', async ({ app }) => {
      const at = await scene(app)
      const response = await app.unchanged(() =>
        callerOf(operation, at).request(operation.route.method, pathOf(operation, at.ids)),
      )
      expect(response).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } })
    })

  test.for(Object.keys(body))('bad values of %s', verifies('http.validation-error-422'), async (field, { app }) => {
    const at = await scene(app)
    const good = body[field]
    const isKindOf = (value: unknown) => Array.isArray(value) === Array.isArray(good) && typeof value === typeof good
    const schema = (operation.body as { properties?: Record<string, { anyOf?: { type?: string }[] }> })?.properties
    const isNullable = schema?.[field]?.anyOf?.some(({ type }) => type === 'null')
    const values: unknown[] = [
      ...(isNullable ? [] : [null]),
      5,
      true,
      [],
      {},
      ['x', 1],
      { x: 1 },
      [[]],
      'nul \0 inside',
      'lone \ud800 surrogate',
    ]
    const strange = (value: unknown) => /\\u0000|\\ud800|\[\[|1\]/.test(JSON.stringify(value))
    for (const value of values.filter((value) => !isKindOf(value) || strange(value))) {
      const response = await app.unchanged(() =>
        callerOf(operation, at).request(operation.route.method, pathOf(operation, at.ids), { ...body, [field]: value }),
      )
      expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      expect(Object.keys(response.body.details)[0]).toMatch(new RegExp(`^${field}`))
    }
  })
})

test('every write is in the list of accepted bodies', () => {
  const writes = Object.entries(routes).filter(([, { method }]) => method !== 'GET')
  expect(Object.keys(accepted).sort()).toEqual(writes.map(([name]) => name).sort())
})

test('ids of another workspace and malformed ids are 404', async ({ app }) => {
  const here = await scene(app)
  const there = await makeScene(app)
  for (const name of names) {
    const operation: Operation = api[name]
    for (const param of pathParams(operation.route.path)) {
      for (const id of [
        // The name of a reaction is the same everywhere.
        ...(there.ids[param] === here.ids[param] ? [] : [there.ids[param] as string]),
        'nonsense',
        '%00',
        "'; drop table users; --",
        'a'.repeat(200),
        'a'.repeat(1000),
      ]) {
        const path = pathOf(operation, { ...here.ids, [param]: id })
        const response = await app.unchanged(() =>
          callerOf(operation, here).request(operation.route.method, path, accepted[name] ?? undefined),
        )
        expect(response).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
      }
    }
  }
})
