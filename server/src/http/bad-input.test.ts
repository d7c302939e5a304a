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

const badValues = [null, 5, true, [], {}, ['x', 1], { x: 1 }, [[]], 'nul \0 inside', 'lone \ud800 surrogate']
const strange = (value: unknown) => /\\u0000|\\ud800|\[\[|1\]/.test(JSON.stringify(value))

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

/** Sends bodies to the operation, as a caller who may call it. */
async function senderTo(app: TestApp, operation: Operation) {
  const at = await scene(app)
  const client = callerOf(operation, at)
  const path = pathOf(operation, at.ids)
  return {
    send: (body?: object) => client.request(operation.route.method, path, body),
    sendRaw: (raw: string | Uint8Array) =>
      client.request(operation.route.method, path, undefined, {
        raw,
        headers: { 'content-type': 'application/json' },
      }),
  }
}

// One parser reads the bodies of all operations, before their schemas.
describe('the parser refuses', () => {
  test.for(malformed)('%s', verifies('http.malformed-json-400'), async ([, raw], { app }) => {
    const { sendRaw } = await senderTo(app, api.createTeam)
    const response = await app.unchanged(() => sendRaw(raw))
    expect(response).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } })
  })

  test('10 MB', async ({ app }) => {
    const { send } = await senderTo(app, api.createTeam)
    const response = await app.unchanged(() => send({ name: 'x'.repeat(10_000_000) }))
    expect(response).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } })
  })
})

const invalid = { status: 422, body: { code: 'VALIDATION_ERROR' } }

describe.each(names)('%s refuses', (name) => {
  const operation: Operation = api[name]
  const body = accepted[name]

  test('what is no JSON object', verifies('http.malformed-json-400'), async ({ app }) => {
    const { send, sendRaw } = await senderTo(app, operation)
    await app.unchanged(async () => {
      const noJson = { status: 400, body: { code: 'INVALID_JSON' } }
      expect(await sendRaw('{"name":')).toMatchObject(noJson)
      if (body && !operation.bodyOptional) expect(await send()).toMatchObject(noJson)
      for (const raw of notObjects) expect(await sendRaw(raw), raw).toMatchObject(invalid)
    })
  })

  test(
    'unknown keys',
    verifies('http.unknown-body-key-422', 'http.unknown-body-key-named-in-details'),
    async ({ app }) => {
      const { sendRaw } = await senderTo(app, operation)
      await app.unchanged(async () => {
        for (const [key, raw] of Object.entries(unknownKeys)) {
          const response = await sendRaw(raw)
          expect(response, key).toMatchObject(invalid)
          expect(Object.entries(response.body.details)).toContainEqual([key, 'is not a known field'])
        }
      })
    },
  )

  if (!body) return
  test('bad values of each field', verifies('http.validation-error-422'), async ({ app }) => {
    const { send } = await senderTo(app, operation)
    const { properties = {} } = operation.body as { properties?: Record<string, { anyOf?: { type?: string }[] }> }
    const isBad = (field: string, value: unknown) => {
      const good = body[field]
      const accepts = (type: string) => properties[field]?.anyOf?.some((schema) => schema.type === type)
      if (value === null) return !accepts('null')
      if (Array.isArray(value) && value.length === 0 && accepts('array')) return false
      return Array.isArray(value) !== Array.isArray(good) || typeof value !== typeof good || strange(value)
    }
    await app.unchanged(async () => {
      for (const value of badValues) {
        const fields = Object.keys(body).filter((field) => isBad(field, value))
        if (fields.length === 0) continue
        const response = await send({ ...body, ...Object.fromEntries(fields.map((field) => [field, value])) })
        expect(response, JSON.stringify(value)).toMatchObject(invalid)
        const named = Object.keys(response.body.details).map((path) => path.match(/^\w+/)?.[0])
        expect({ value, fields: [...new Set(named)].sort() }).toEqual({ value, fields: fields.sort() })
      }
    })
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
    await app.unchanged(async () => {
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
          const response = await callerOf(operation, here).request(
            operation.route.method,
            path,
            accepted[name] ?? undefined,
          )
          expect(response, `${name} ${path}`).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
        }
      }
    })
  }
})
