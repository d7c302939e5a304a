import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { api, limits } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { Door } from './invoke.ts'
import { route } from './route.ts'

describe('every answer', () => {
  test(
    'is JSON under /api/v1 and names its request',
    verifies('http.base-path-api-v1', 'http.bodies-are-json', 'http.request-id-on-every-response'),
    async ({ app }) => {
      const person = await app.person()
      const answers = [
        await person.get('/auth/me'),
        await app.anonymous.get('/auth/me'),
        await person.post('/workspaces', { name: '' }),
        await person.get('/nothing/here'),
        await app.anonymous.getRoot('/auth/me'),
        await person.post('/auth/sign-out'),
      ]
      expect(answers.map(({ status }) => status)).toEqual([200, 401, 422, 404, 404, 204])
      const ids = answers.map(({ headers }) => headers.get('x-request-id'))
      expect(new Set(ids).size).toBe(answers.length)
      for (const id of ids) expect(id).toMatch(/^req_[0-9a-hjkmnp-tv-z]{26}$/)
      for (const { status, headers } of answers) {
        if (status !== 204) expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
      }
    },
  )

  test('carries security headers', async ({ app }) => {
    const { headers } = await app.anonymous.get('/auth/me')
    expect(headers.get('content-security-policy')).toContain("default-src 'self'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('strict-transport-security')).toBeNull()
  })

  test('sends Strict-Transport-Security when the service is https', async ({ startApp }) => {
    const app = await startApp({ BATON_ROOT_URL: 'https://baton.example' })
    expect((await app.anonymous.get('/auth/me')).headers.get('strict-transport-security')).toContain('max-age')
  })

  test('has ids and timestamps in one format', verifies('http.id-format', 'http.timestamp-format'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    expect(body.id).toMatch(/^team_[0-9a-hjkmnp-tv-z]{26}$/)
    expect(body.created_at).toBe(app.clock.now().toISOString())
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })
})

describe('errors', () => {
  test(
    'have a code, a message and details',
    verifies('http.error-body-shape', 'http.error-details-empty-object', 'http.unknown-route-404'),
    async ({ app }) => {
      for (const path of ['/nothing/here', '/teams/a/b/c', '/%zz', '/..%2f..%2fetc/passwd']) {
        const { status, headers, body } = await app.anonymous.get(path)
        // Undecodable paths too: the framework itself would answer them without our headers.
        expect(headers.get('x-content-type-options')).toBe('nosniff')
        expect({ status, body }).toEqual({
          status: 404,
          body: { code: 'ROUTE_NOT_FOUND', message: expect.any(String), details: {} },
        })
      }
    },
  )

  test('a method the path does not have is 405', verifies('http.method-not-allowed-405'), async ({ app }) => {
    const { owner } = await app.workspace()
    for (const [method, path, allow] of [
      ['PUT', '/teams', 'GET, POST, HEAD'],
      ['DELETE', '/auth/sign-in', 'POST'],
      ['PATCH', '/openapi.json', 'GET, HEAD'],
      ['OPTIONS', '/teams', 'GET, POST, HEAD'],
      ['PROPFIND', '/teams', 'GET, POST, HEAD'],
      ['SEARCH', '/teams/team_0', 'GET, PATCH, DELETE, HEAD'],
    ] as const) {
      const response = await app.unchanged(() => owner.request(method, path))
      expect(response).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED', details: {} } })
      expect(response.headers.get('allow')).toBe(allow)
    }
  })

  test('a body over 1 MB is 413', verifies('http.body-too-large-413'), async ({ app }) => {
    const person = await app.person()
    const body = (bytes: number) => `{"name":"Acme"${' '.repeat(bytes - '{"name":"Acme"}'.length)}}`
    expect((await person.post('/workspaces', undefined, { raw: body(limits.bodyBytes) })).status).toBe(201)
    const response = await app.unchanged(() =>
      person.post('/workspaces', undefined, { raw: body(limits.bodyBytes + 1) }),
    )
    expect(response).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE', details: {} } })
  })

  test('a body that is not JSON by its type is 415', verifies('http.unsupported-media-type-415'), async ({ app }) => {
    const person = await app.person()
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense']) {
      const response = await app.unchanged(() =>
        person.post('/workspaces', { name: 'Acme' }, { headers: { 'content-type': type } }),
      )
      expect(response).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE', details: {} } })
    }
    const charset = { 'content-type': 'application/json; charset=UTF-8' }
    expect((await person.post('/workspaces', { name: 'Acme' }, { headers: charset })).status).toBe(201)
  })

  test('an internal error is 500 without details', verifies('http.internal-error-500'), async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    await app.ctx.db.run(sql`alter table teams rename to lost`)
    const response = await owner.get('/teams')
    expect(response.status).toBe(500)
    expect(response.body).toEqual({
      code: 'INTERNAL_ERROR',
      message: expect.not.stringMatching(/teams|relation|sql/i),
      details: { request_id: response.headers.get('x-request-id') },
    })
  })

  test('a caller without access is refused before the body is read', async ({ app }) => {
    const { member } = await app.workspace()
    expect((await app.anonymous.post('/teams', undefined, { raw: '{' })).status).toBe(401)
    expect((await member.post('/teams', undefined, { raw: '{' })).status).toBe(403)
  })

  test('bytes that are not HTTP get an error in the same format', async ({ app }) => {
    const answerTo = (bytes: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(Number(new URL(app.rootUrl).port), '127.0.0.1', () => socket.write(bytes))
        let text = ''
        socket.on('data', (data) => {
          text += data
        })
        socket.on('close', () => resolve(text))
        socket.on('error', reject)
      })
    const garbage = await answerTo('HELLO\r\n\r\n')
    expect(garbage).toContain('HTTP/1.1 400')
    expect(JSON.parse(garbage.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'INVALID_REQUEST', details: {} })
    expect(garbage).toContain('X-Content-Type-Options: nosniff')
    const huge = await answerTo(`GET / HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(huge).toContain('HTTP/1.1 431')
    expect(huge).toContain('"code":"HEADERS_TOO_LARGE"')
    const head = await answerTo(`HEAD / HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(head).toMatch(/^HTTP\/1.1 431 .*Content-Length: [1-9].*\r\n\r\n$/s)
    const noHost = await answerTo('GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')
    expect(noHost).toContain('HTTP/1.1 400')
    expect(noHost).toMatch(/x-request-id: req_/i)
    expect(noHost).toContain('"code":"INVALID_REQUEST"')
    const expecting = await answerTo('GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nConnection: close\r\n\r\n')
    expect(expecting).toContain('{"status":"ok"}')
  })
})

describe('an invalid body', () => {
  test(
    'gets one message per invalid field, by path',
    verifies(
      'http.validation-error-422',
      'http.validation-details-dotted-path',
      'http.validation-details-one-message-per-field',
      'http.unknown-body-key-422',
      'http.unknown-body-key-named-in-details',
    ),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
      const response = await app.unchanged(() =>
        owner.patch(`/teams/${team.id}`, {
          name: '',
          guidance: 5,
          repositories: [{ repository: 'a' }, { url: 'x' }],
          color: 1,
        }),
      )
      expect(response.status).toBe(422)
      expect(response.body).toMatchObject({ code: 'VALIDATION_ERROR' })
      expect(response.body.details).toEqual({
        name: 'must have 1 to 80 characters and not only spaces',
        guidance: 'must be a string',
        'repositories.1.repository': 'is required',
        'repositories.1.url': 'must be an http or https URL',
        color: 'is not a known field',
      })
    },
  )
})

describe('a refusal', () => {
  test('names some of thousands of invalid fields', async ({ app }) => {
    const many = Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`k${i}`, 1]))
    const { status, body } = await app.anonymous.post('/auth/sign-in', many)
    expect(status).toBe(422)
    expect(Object.keys(body.details)).toHaveLength(100)
    const strange = { email: 'a@example.com', password: 'a password', k: Array(500).fill({ text: '\0' }) }
    const refused = await app.unchanged(() => app.anonymous.post('/auth/sign-in', strange))
    expect(Object.keys(refused.body.details)).toHaveLength(100)
  })

  test('is decided again when the body took long to arrive', async ({ app }) => {
    const { owner, admin } = await app.workspace()
    const late = async (method: string, path: string, body: object) => {
      const request = httpRequest(`${app.rootUrl}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${admin.token}`,
          'x-workspace-id': owner.workspaceId,
          'content-type': 'application/json',
        },
      })
      request.flushHeaders()
      const [, finish] = [await sleep(50), () => request.end(JSON.stringify(body))]
      const answered = once(request, 'response') as Promise<[IncomingMessage]>
      return async () => {
        finish()
        const [response] = await answered
        response.resume()
        return response.statusCode
      }
    }
    const finishers = [
      await late('POST', '/teams', { name: 'Late', key: 'LATE' }),
      await late('POST', '/workspaces/me/invitations', { email: 'late@example.com', role: 'admin' }),
      await late('PATCH', `/workspaces/me/members/${owner.user.id}`, { role: 'member' }),
    ]
    await owner.delete(`/workspaces/me/members/${admin.user.id}`)
    await sleep(300)
    await app.unchanged(async () => {
      for (const finish of finishers) expect(await finish()).toBe(403)
    })
  })
})

describe('lists', () => {
  const withTeams = async (app: TestApp, count: number) => {
    const { owner } = await app.workspace()
    const ids: string[] = []
    for (let i = 0; i < count; i++) {
      ids.unshift((await owner.post('/teams', { name: `Team ${i}`, key: `T${i.toString(36).toUpperCase()}` })).body.id)
    }
    return { owner, ids }
  }
  const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id)

  test(
    'come in pages, newest first, every item once',
    verifies(
      'http.list-shape',
      'http.list-default-limit-50',
      'http.list-limit-max-100',
      'http.list-cursor-continues',
      'http.list-last-page-null-cursor',
      'http.list-newest-first',
      'http.id-sorts-by-time',
    ),
    async ({ app }) => {
      const { owner, ids } = await withTeams(app, 103)
      expect([...ids].sort().reverse()).toEqual(ids)
      const first = (await owner.get('/teams')).body
      expect(idsOf(first)).toEqual(ids.slice(0, 50))
      const hundred = (await owner.get('/teams?limit=100')).body
      expect(idsOf(hundred)).toEqual(ids.slice(0, 100))
      const rest = (await owner.get(`/teams?limit=100&cursor=${hundred.next_cursor}`)).body
      expect(rest).toMatchObject({ next_cursor: null })
      expect(idsOf(rest)).toEqual(ids.slice(100))

      const walked: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: { data: { id: string }[]; next_cursor: string | null } = (
          await owner.get(`/teams?limit=7${cursor && `&cursor=${cursor}`}`)
        ).body
        walked.push(...idsOf(page))
        cursor = page.next_cursor
      }
      expect(walked).toEqual(ids)
    },
  )

  test(
    'are complete when people joined at the same moment',
    verifies('http.list-cursor-continues'),
    async ({ app }) => {
      const { owner, join } = await app.workspace()
      for (let i = 0; i < 4; i++) await join('member')
      const walked: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: { data: { id: string }[]; next_cursor: string | null } = (
          await owner.get(`/workspaces/me/members?limit=2${cursor && `&cursor=${cursor}`}`)
        ).body
        walked.push(...idsOf(page))
        cursor = page.next_cursor
      }
      expect(walked).toHaveLength(7)
      expect(new Set(walked).size).toBe(7)
    },
  )

  test.for(['0', '101', '-1', '1.5', 'ten', '', '0x10', '1e1', '10.0', '%2B5', '%2010'])(
    'limit=%s is refused',
    verifies('http.limit-out-of-range'),
    async (limit, { app }) => {
      const { owner } = await app.workspace()
      const response = await owner.get(`/teams?limit=${limit}`)
      expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      expect(Object.keys(response.body.details)).toEqual(['limit'])
    },
  )

  test('accept only their own cursors', verifies('http.broken-cursor'), async ({ app }) => {
    const { owner } = await withTeams(app, 3)
    const { next_cursor: good } = (await owner.get('/teams?limit=1')).body
    const { next_cursor: ofMembers } = (await owner.get('/workspaces/me/members?limit=1')).body
    const forged = Buffer.from(JSON.stringify(['team_0'])).toString('base64url')
    for (const cursor of [
      'x',
      'null',
      forged,
      ofMembers,
      `${good}AAAA`,
      `${good.startsWith('A') ? 'B' : 'A'}${good.slice(1)}`,
      `${good}!`,
      `${good}=`,
      '%00',
      '🙂',
      '',
    ]) {
      const response = await owner.get(`/teams?cursor=${cursor}`)
      expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      expect(Object.keys(response.body.details)).toEqual(['cursor'])
    }
    expect((await owner.get(`/teams?cursor=${good}`)).status).toBe(200)
  })

  test('refuse unknown parameters and values', async ({ app }) => {
    const { owner } = await app.workspace()
    for (const [query, field] of [
      ['colour=red', 'colour'],
      ['limit=1&limit=2', 'limit'],
      ['action=nothing', 'action'],
    ]) {
      const response = await owner.get(`/audit-log?${query}`)
      expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      expect(Object.keys(response.body.details)).toEqual([field])
    }
  })
})

describe('the door', () => {
  const everyRoute = Object.values(api).map((operation) => route(operation, (() => undefined) as never))

  test('refuses to start with a route that is not declared', ({ app }) => {
    const { getTeam: _, ...declared } = api
    expect(() => new Door(app.ctx, declared, everyRoute)).toThrow('not declared: GET /teams/:team_id')
  })

  test('refuses to start with a route that is not mounted, or mounted twice', ({ app }) => {
    expect(() => new Door(app.ctx, api, everyRoute.slice(1))).toThrow('not mounted: GET /')
    expect(() => new Door(app.ctx, api, [...everyRoute, ...everyRoute.slice(0, 1)])).toThrow('mounted twice')
    expect(() => new Door(app.ctx, api, everyRoute)).not.toThrow()
  })
})

describe('the service itself', () => {
  test('reports health, readiness and metrics', async ({ app }) => {
    expect(await app.anonymous.getRoot('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await app.anonymous.getRoot('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
    const { body } = await app.anonymous.getRoot('/metrics')
    expect(body).toMatch(/baton_http_request_duration_seconds_count\{method="GET",route="\/readyz",status="200"\} \d+/)
    expect((await app.anonymous.getRoot('/')).body).toContain(`${app.ctx.config.baseUrl}/openapi.json`)
  })

  test('is healthy but not ready without its database', async ({ startApp }) => {
    const app = await startApp()
    await app.ctx.db.close()
    expect(await app.anonymous.getRoot('/readyz')).toMatchObject({ status: 503, body: { code: 'NOT_READY' } })
    expect((await app.anonymous.getRoot('/healthz')).status).toBe(200)
  })

  test('serves nothing else as a worker', async ({ app, startApp }) => {
    const worker = await startApp({ BATON_ROLE: 'worker' })
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect((await worker.anonymous.getRoot(path)).status).toBe(200)
    }
    for (const path of ['/auth/me', '/openapi.json', '/teams']) {
      expect((await fetch(`${worker.rootUrl}/api/v1${path}`)).status).toBe(404)
      expect((await app.anonymous.get(path)).status).not.toBe(404)
    }
  })
})
