import { api, type Operation, pathParams, routes } from '@baton/protocol'
import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
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

const notJson = [400, 'INVALID_JSON'] as const
const wrongShape = [422, 'VALIDATION_ERROR'] as const

const unknownKey = ['http.unknown-body-key-422', 'http.unknown-body-key-named-in-details'] as const
const notBodies: [string, string | Uint8Array, readonly [number, string], ...RequirementId[]][] = [
  ['text', 'hello', notJson, 'http.malformed-json-400'],
  ['cut short', '{"name":', notJson, 'http.malformed-json-400'],
  ['a comma too many', '{"name":"a",}', notJson, 'http.malformed-json-400'],
  ['single quotes', "{'name':'a'}", notJson, 'http.malformed-json-400'],
  ['null', 'null', wrongShape],
  ['an array', '[]', wrongShape],
  ['a string', '"name"', wrongShape],
  ['a number', '5', wrongShape],
  ['a boolean', 'true', wrongShape],
  ['nested 40 deep', deep(40), notJson, 'http.malformed-json-400'],
  ['nested 100,000 deep', deep(100_000), notJson, 'http.malformed-json-400'],
  ['with too many values', `{"a":[${'1,'.repeat(30_000)}1]}`, notJson, 'http.malformed-json-400'],
  ['10 MB', JSON.stringify({ name: 'x'.repeat(10_000_000) }), [413, 'BODY_TOO_LARGE']],
  ['a key twice', '{"name":"a","name":"b"}', notJson, 'http.malformed-json-400'],
  ['a key twice, once escaped', '{"name":"a","n\\u0061me":"b"}', notJson, 'http.malformed-json-400'],
  [
    'not UTF-8',
    new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]),
    notJson,
    'http.malformed-json-400',
  ],
  ['__proto__', '{"__proto__":{"role":"owner"}}', wrongShape, ...unknownKey],
  ['constructor', '{"constructor":{"prototype":{}}}', wrongShape, ...unknownKey],
  ['surprise', '{"surprise":1}', wrongShape, ...unknownKey],
]

describe.each(names)('%s refuses', (name) => {
  const operation: Operation = api[name]

  for (const [kind, raw, [status, code], ...ids] of notBodies)
    test(kind, verifies(...ids), async ({ app }) => {
      const at = await scene(app)
      const response = await app.unchanged(() =>
        callerOf(operation, at).request(operation.route.method, pathOf(operation, at.ids), undefined, {
          raw,
          headers: { 'content-type': 'application/json' },
        }),
      )
      expect(response).toMatchObject({ status, body: { code } })
      if (/^(__proto__|constructor|surprise)$/.test(kind)) {
        expect(Object.entries(response.body.details)).toContainEqual([kind, 'is not a known field'])
      }
    })

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
