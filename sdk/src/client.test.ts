import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { api } from '@baton/protocol'
import { describe, expect, expectTypeOf } from 'vitest'
import { TestClock } from '../../server/test/clock.ts'
import { test } from '../../server/test/harness.ts'
import { listen } from '../../server/test/loopback-server.ts'
import { BatonClient } from './client.ts'
import { BatonError } from './errors.ts'
import type { AgentSession, ErrorCode, Issue } from './operations.ts'
import { acceptsIdempotencyKey, returnsOtherThanJson, takesForm } from './request.ts'
import { defaultRetries, pauseBefore } from './retry.ts'
import { routes } from './routes.ts'

describe('against the service', () => {
  test('calls operations by name and by method with parameters, query and body', async ({ app }) => {
    const { owner, id } = await app.workspace()
    const client = new BatonClient({ baseUrl: `${app.rootUrl}/api/v1/`, token: owner.token, workspaceId: id })
    const team = await client.createTeam({ name: 'Engineering', key: 'ENG' })
    const issue = await client.createIssue({ title: 'Mend the door', team_id: team.id })
    expectTypeOf(issue).toEqualTypeOf<Issue>()
    expect(await client.getIssue({ issue_id: 'ENG-1' })).toEqual(issue)
    const moved = await client.call('updateIssue', { params: { issue_id: issue.id }, body: { status: 'qa' } })
    expect(moved.status).toBe('qa')
    expect((await client.listIssues({ status: 'qa', limit: 1 })).data).toEqual([moved])
    expect((await client.call('listIssues', { query: { status: 'done' } })).data).toEqual([])
    expect(await client.deleteIssue({ issue_id: issue.id })).toBeUndefined()
    expect(await client.getHealth()).toEqual({ status: 'ok' })
    expect(await client.getMetrics()).toContain('# HELP')
  })

  test('throws an error with code, message, details and request id', async ({ app }) => {
    const { owner, id } = await app.workspace()
    const client = new BatonClient({ baseUrl: app.rootUrl, tokenProvider: () => owner.token, workspaceId: id })
    const refused = await client.createTeam({ name: '', key: 'no' }).catch((error: BatonError) => error)
    expect(refused).toBeInstanceOf(BatonError)
    expect(refused).toMatchObject({
      code: 'VALIDATION_ERROR',
      status: 422,
      details: { name: expect.any(String), key: expect.any(String) },
      requestId: expect.any(String),
      retryAfter: null,
    })
    await expect(client.issueToken({ grant_type: 'refresh_token' })).rejects.toMatchObject({
      code: 'OAUTH_ERROR',
      status: 401,
      details: { error: 'invalid_client' },
    })
  })

  test('uploads a file to an issue, once', async ({ app }) => {
    const { owner, id } = await app.workspace()
    const client = new BatonClient({ baseUrl: app.rootUrl, token: owner.token, workspaceId: id })
    const issue = await client.createIssue({ title: 'Mend the door' })
    const place = { target_type: 'issue', target_id: issue.id } as const
    const bytes = new Uint8Array([0, 1, 2, 255])
    for (const content of [bytes, new Blob([bytes])]) {
      const file = await client.uploadFile({ name: 'door ü.bin', ...place }, content)
      expect(file).toMatchObject({ name: 'door ü.bin', bytes: 4, media_type: 'application/octet-stream' })
      expect(await client.getFileContent({ file_id: file.id })).toEqual(bytes)
    }
    const draft = await client.uploadFile({ name: 'notes.txt' }, new TextEncoder().encode('Draft'))
    expect((await client.getRelated({ issue_id: issue.id })).files).toHaveLength(2)
    expect(await client.getFile({ file_id: draft.id })).toEqual(draft)
    await expect(client.uploadFile({ name: '' }, bytes)).rejects.toMatchObject({ status: 422 })
    await expect(
      client.uploadFile({ name: 'a', target_type: 'issue', target_id: 'iss_01kjpwd6m0e0080008rg62fcdn' }, bytes),
    ).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    expect((await client.getStorage()).files).toBe(3)
  })

  test('returns an image as bytes', async ({ app }) => {
    const { owner, id } = await app.workspace()
    const { app: robot } = await app.installed(owner)
    const client = new BatonClient({ baseUrl: app.rootUrl, token: owner.token, workspaceId: id })
    expect(await client.getAppIcon({ app_id: robot.id })).toBeInstanceOf(Uint8Array)
  })
})

describe('the protocol', () => {
  test('has exactly the listed operations with idempotency keys, forms and other content than JSON', () => {
    const those = (which: (operation: (typeof api)[keyof typeof api]) => boolean) =>
      Object.entries(api).flatMap(([name, operation]) => (which(operation) ? [name] : []))
    expect([...acceptsIdempotencyKey]).toEqual(those((operation) => 'idempotent' in operation))
    const streams = (operation: object) => 'produces' in operation && operation.produces === 'text/event-stream'
    expect([...returnsOtherThanJson].sort()).toEqual(
      those((operation) => 'produces' in operation && !streams(operation)).sort(),
    )
    expect([...takesForm]).toEqual(those((operation) => 'bodyFormat' in operation && operation.bodyFormat === 'form'))
  })

  test('has no name in two of parameters, query and body, so that one object can hold all', () => {
    for (const [name, operation] of Object.entries(api) as [
      string,
      { route: { path: string; method: string }; query?: object; body?: object },
    ][]) {
      const keys = (schema: object | undefined): string[] =>
        schema && 'anyOf' in schema
          ? [...new Set((schema.anyOf as object[]).flatMap(keys))]
          : Object.keys((schema as { properties?: object } | undefined)?.properties ?? {})
      const params = [...operation.route.path.matchAll(/:(\w+)/g)].map(([, key]) => key)
      const all = [...params, ...keys(operation.query), ...keys(operation.body)]
      expect(new Set(all).size, name).toBe(all.length)
      // The body of an upload is the file; its method is not part of the client.
      if ('raw' in operation.route) continue
      const inQuery = ['GET', 'DELETE'].includes(operation.route.method)
      expect(inQuery ? operation.body : operation.query, name).toBeUndefined()
    }
  })

  test('has the types of the wire', () => {
    expectTypeOf<'SESSION_ENDED'>().toExtend<ErrorCode>()
    expectTypeOf<AgentSession['state']>().toEqualTypeOf<
      'pending' | 'active' | 'awaitingInput' | 'error' | 'complete' | 'stale' | 'stopping'
    >()
  })
})

/** A service with scripted answers, and the requests it received. */
async function scripted(...answers: ((response: ServerResponse, request: IncomingMessage) => void)[]) {
  const requests: { method: string; key: string | undefined }[] = []
  const port = await listen(
    createServer((request, response) => {
      requests.push({ method: request.method ?? '', key: request.headers['idempotency-key'] as string | undefined })
      request.resume().on('end', () => answers.shift()?.(response, request))
    }),
  )
  const pauses: number[] = []
  const clock = new TestClock()
  const waiting = {
    now: () => clock.now(),
    /** Pauses end at once; deadlines do not. */
    after: (ms: number, then: () => void) => {
      if (ms === deadlineMs) return clock.after(ms, then)
      pauses.push(ms)
      const passed = setImmediate(then)
      return () => clearImmediate(passed)
    },
  }
  const client = new BatonClient({
    baseUrl: `http://127.0.0.1:${port}`,
    token: 't',
    clock: waiting,
    timeoutMs: deadlineMs,
    random: () => 0,
  })
  return { client, requests, pauses, clock }
}
const deadlineMs = 15_000

const answer =
  (status: number, body: object = {}, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const hangUp = (response: ServerResponse) => void response.destroy()
const busy = answer(429, { code: 'RATE_LIMIT_EXCEEDED', message: 'Slow', details: {} }, { 'retry-after': '3' })
const notReady = answer(503, { code: 'NOT_READY', message: 'Later', details: {} })
const thought = { session_id: 'sess_1', content: { type: 'thought', body: 'Hm' } } as const

describe('a call that fails temporarily', () => {
  test('is retried if it is a GET, with growing pauses', async () => {
    const { client, requests, pauses } = await scripted(hangUp, notReady, notReady, answer(200, { status: 'ok' }))
    expect(await client.getHealth()).toEqual({ status: 'ok' })
    expect(requests).toHaveLength(4)
    expect(pauses).toEqual([125, 250, 500])
  })

  test('fails after four attempts', async () => {
    const { client, requests } = await scripted(hangUp, hangUp, hangUp, hangUp)
    await expect(client.getHealth()).rejects.toMatchObject({ code: 'NETWORK_ERROR', status: 0 })
    expect(requests).toHaveLength(4)
  })

  test('is retried with the same idempotency key if it posts an activity', async () => {
    const { client, requests } = await scripted(hangUp, busy, answer(201))
    await client.postActivity(thought)
    expect(requests).toHaveLength(3)
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1)
    expect(requests[0]?.key).toMatch(/^[\w-]{1,64}$/)
  })

  test('is not retried if it may have been executed', async () => {
    for (const failing of [hangUp, notReady]) {
      const { client, requests } = await scripted(failing)
      await expect(client.createIssue({ title: 'Twice?' })).rejects.toBeInstanceOf(BatonError)
      expect(requests).toHaveLength(1)
    }
  })

  test('waits for Retry-After and is retried after 429', async () => {
    const { client, pauses } = await scripted(busy, answer(201))
    await client.createIssue({ title: 'Patience' })
    expect(pauses).toEqual([3000])
  })

  test('fails if Retry-After is longer than a minute', async () => {
    const patience = answer(429, { code: 'RATE_LIMIT_EXCEEDED', message: '', details: {} }, { 'retry-after': '61' })
    const { client, pauses } = await scripted(patience)
    await expect(client.getHealth()).rejects.toMatchObject({ status: 429, retryAfter: 61 })
    expect(pauses).toEqual([])
  })
})

test('a call ends with its signal before, during and between attempts', async () => {
  const { client, requests } = await scripted(() => controller.abort(new Error('enough')))
  const controller = new AbortController()
  await expect(client.getHealth({}, { signal: AbortSignal.abort(new Error('never')) })).rejects.toThrow('never')
  expect(requests).toEqual([])
  await expect(client.getHealth({}, { signal: controller.signal })).rejects.toThrow('enough')
  expect(requests).toHaveLength(1)
})

test('reports TIMEOUT if there is no response in time', async () => {
  const { client, clock } = await scripted(() => clock.advance({ milliseconds: deadlineMs }))
  await expect(client.createIssue({ title: 'Slow' })).rejects.toMatchObject({ code: 'TIMEOUT', status: 0 })
})

test('follows no redirect and refuses the page of a proxy', async () => {
  const { client } = await scripted(answer(302, {}, { location: 'https://evil.example.com/' }))
  await expect(client.createIssue({ title: 'Where?' })).rejects.toMatchObject({
    code: 'UNEXPECTED_ANSWER',
    status: 302,
  })
})

const says =
  (type: string, text: string, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': type }).end(text)
const endless = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const megabyte = Buffer.alloc(1024 * 1024, ' ')
  const more = () => {
    while (!response.destroyed && response.write(megabyte));
  }
  response.on('drain', more)
  more()
}

test.each([
  ['a page', says('text/html', '<h1>Back soon</h1>'), /200 with text\/html/],
  ['truncated JSON', says('application/json', '{"status":'), /not a response of Baton/],
  ['a string', says('application/json', '"ok"'), /not a response of Baton/],
  ['an empty body', says('application/json', ''), /not a response of Baton/],
  ['an endless body', endless, /more than 67108864 bytes/],
  ['a page with an error', says('text/html', '<h1>No</h1>', 404), /^The service answered 404\.$/],
  ['an error without a message', answer(404, { code: 'RESOURCE_NOT_FOUND' }), /^The service answered 404\.$/],
])('reports an unexpected response: %s', async (_, wrong, message) => {
  const { client, requests } = await scripted(wrong)
  const failed = await client.getHealth().catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(BatonError)
  expect(failed).toMatchObject({ message: expect.stringMatching(message) })
  expect((failed as BatonError).code).not.toBe('NETWORK_ERROR')
  expect(requests).toHaveLength(1)
})

test('refuses a missing parameter before sending', async () => {
  const { client, requests } = await scripted()
  for (const issue_id of ['', '.', '..']) await expect(client.getIssue({ issue_id })).rejects.toThrow('issue_id')
  for (const baseUrl of ['', 'localhost:3000']) expect(() => new BatonClient({ baseUrl })).toThrow('URL of the service')
  expect(requests).toEqual([])
})

test('limits pauses, and at most half of each is random', () => {
  const error = new BatonError({ code: 'NETWORK_ERROR', status: 0, message: '' })
  const rules = { ...defaultRetries, attempts: 20 }
  const pause = (attempt: number, random: number) =>
    pauseBefore(attempt, error, { repeatable: true, rules, random: () => random })
  expect([1, 2, 3, 19].map((attempt) => pause(attempt, 1))).toEqual([250, 500, 1000, 8000])
  expect([1, 2, 3, 19].map((attempt) => pause(attempt, 0))).toEqual([125, 250, 500, 4000])
  expect(pause(20, 0)).toBeNull()
})

test('has a method for every operation except streams and uploads of imports, archives and sessions', () => {
  const client = new BatonClient({ baseUrl: 'http://localhost:1', token: 'x', workspaceId: 'x' })
  const streams = Object.keys(routes).filter((name) => 'stream' in routes[name as keyof typeof routes])
  expect(streams).toEqual(['listenToApp', 'listenAsApp', 'watchAgentSession', 'watchWorkspace'])
  const raw = Object.keys(routes).filter((name) => 'raw' in routes[name as keyof typeof routes])
  const uploads = raw.filter((name) => name !== 'uploadFile')
  for (const name of Object.keys(routes)) {
    expect([name, name in client]).toEqual([name, ![...streams, ...uploads].includes(name)])
  }
})
