import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { api, isAgentSessionApi, type Operation, type Route, routes } from '@baton/protocol'
import { describe, expect } from 'vitest'
import type { Response } from '../../test/client.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { asApp, consent, exchange, oauthScene, programOf, secretOf, token } from '../../test/oauth.ts'
import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { resolveToken } from '../login/tokens.ts'
import type { Caller } from './caller.ts'
import { rateLimitOf, takeCall, takeFromWindow } from './rate-window.ts'

/** The rate limit headers of a response. */
const limitHeaders = ({ headers }: Response) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`))

/** The caller of a token, without counting the call. */
const callerOf = async (app: TestApp, accessToken: string): Promise<Caller> =>
  (await resolveToken(app.ctx, accessToken, undefined, null)).caller

/** Counts many calls with one statement. */
const takeMany = ({ ctx, clock }: TestApp, accessToken: string, count: number) => {
  const holder = sql`${sha256(accessToken).toString('hex')}::text`
  const call = takeFromWindow(rateLimitOf(ctx.config, routes.listIssues), holder, clock.now())
  return ctx.db.run(sql`select count((${call}).allowed) from generate_series(1, ${count})`)
}

const sessionRoute: Route = { method: 'GET', path: '/agent-sessions', caller: 'member or app', scope: 'read' }

describe('the limit of the API', () => {
  test(
    'is 1200 calls a minute per token unless BATON_API_RATE is set',
    verifies('rate.api-1200-per-minute', 'config.api-rate'),
    async ({ startApp }) => {
      const app = await startApp()
      const { owner } = await app.workspace()
      const robot = await app.installed(owner)
      await takeMany(app, robot.token, 1199)
      const last = await robot.get('/issues')
      expect([last.status, ...limitHeaders(last)]).toEqual([200, '1200', '0', '60'])
      const over = await app.unchanged(() => robot.get('/issues'))
      expect(over).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED', details: {} } })
    },
  )

  test(
    'holds in any minute, and a call after Retry-After is accepted',
    verifies('config.api-rate', 'rate.api-1200-per-minute', 'rate.retry-after'),
    async ({ startApp }) => {
      const app = await startApp({ BATON_API_RATE: '3' })
      const { owner } = await app.workspace()
      const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
      const robot = await app.installed(owner)
      const create = () => robot.post('/issues', { team_id: team.id, title: 'One more' })
      expect(limitHeaders(await create())).toEqual(['3', '2', '60'])
      app.clock.advance({ seconds: 40 })
      expect(limitHeaders(await create())).toEqual(['3', '1', '20'])
      expect(limitHeaders(await create())).toEqual(['3', '0', '20'])
      app.clock.advance({ milliseconds: 400 })
      const refuse = async (retryAfter: string) => {
        const refused = await app.unchanged(create)
        expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
        expect(limitHeaders(refused)).toEqual(['3', '0', retryAfter])
        expect(refused.headers.get('retry-after')).toBe(retryAfter)
      }
      await refuse('20')
      app.clock.advance({ seconds: 19, milliseconds: 599 })
      // Refused calls do not count. Retry-After is rounded up to a second.
      for (let call = 0; call < 5; call++) await refuse('1')
      app.clock.advance({ seconds: 1 })
      const accepted = await create()
      expect([accepted.status, ...limitHeaders(accepted)]).toEqual([201, '3', '0', '40'])
      // The limit is not restored gradually: the next call is allowed when the second call leaves the window.
      await refuse('40')
      app.clock.advance({ seconds: 39 })
      await refuse('1')
      app.clock.advance({ seconds: 1 })
      expect(limitHeaders(await create())).toEqual(['3', '1', '20'])
    },
  )

  test('counts per token, of an app or of a person’s program', async ({ startApp }) => {
    const app = await startApp({ BATON_API_RATE: '2' })
    const scene = await oauthScene(app)
    const first = (await exchange(app, scene, await consent(scene.owner, scene.client.client_id, { all_teams: true })))
      .body
    const refreshed = { grant_type: 'refresh_token', refresh_token: first.refresh_token, ...secretOf(scene) }
    const second = (await token(app, refreshed)).body
    const program = await programOf(app, scene.member, scene.id)
    for (const accessToken of [first.access_token, second.access_token, program]) {
      const client = asApp(app, scene.id, accessToken)
      expect((await client.get('/teams')).status).toBe(200)
      expect(limitHeaders(await client.get('/issues'))).toEqual(['2', '0', '60'])
      for (const path of ['/teams', '/nowhere']) expect((await client.get(path)).status).toBe(429)
    }
    for (let call = 0; call < 4; call++)
      expect(limitHeaders(await scene.member.get('/teams'))).toEqual([null, null, null])
  })

  test('counts a call once, however long its body takes', async ({ app }) => {
    const { owner } = await app.workspace()
    const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
    const robot = await app.installed(owner)
    const request = httpRequest(`${app.rootUrl}/api/v1/issues`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${robot.token}`,
        'x-workspace-id': owner.workspaceId,
        'content-type': 'application/json',
      },
    })
    request.flushHeaders()
    await sleep(400)
    request.end(JSON.stringify({ team_id: team.id, title: 'Late' }))
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()
    expect([response.statusCode, response.headers['ratelimit-remaining']]).toEqual([201, '1199'])
    expect(limitHeaders(await robot.get('/auth/me'))).toEqual(['1200', '1198', '60'])
  })
})

describe('the headers', () => {
  test(
    'are on every response to an app, on every route',
    verifies('rate.headers-on-every-app-call'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const [reader, elsewhere] = [await app.installed(owner, { scopes: ['read'] }), await app.workspace()]
      let left = { sessions: 600, api: 1200 }
      const expectHeaders = (response: Response, status: number, route: Route = routes.listTeams) => {
        const { name, max } = rateLimitOf(app.ctx.config, route)
        expect([response.status, ...limitHeaders(response)]).toEqual([status, String(max), String(--left[name]), '60'])
      }
      expectHeaders(await reader.get('/teams'), 200)
      expectHeaders(await reader.get('/teams', { headers: { 'x-workspace-id': '' } }), 400)
      expectHeaders(await reader.post('/issues', undefined, { raw: '{' }), 403)
      expectHeaders(await reader.get('/teams', { headers: { 'x-workspace-id': elsewhere.id } }), 403)
      expectHeaders(await reader.post('/teams', { name: 'A', key: 'A' }), 403)
      expectHeaders(await reader.get('/teams/team_missing'), 404)
      expectHeaders(await reader.get('/teams?surprise=1'), 422)
      expectHeaders(await reader.get('/nowhere'), 404)
      expectHeaders(await reader.request('PUT', '/teams'), 405)
      expectHeaders(await reader.request('DELETE', '/agent-sessions'), 405, routes.listAgentSessions)
      for (const operation of Object.values(api) as Operation[]) {
        const { caller, method, path, at } = operation.route
        if (at || caller === 'anyone' || caller === 'anyone or person') continue
        const answer = await reader.request(method, path.replace(/:\w+/g, 'missing'), method === 'GET' ? undefined : {})
        expectHeaders(answer, answer.status, operation.route)
      }

      const writer = await app.installed(owner)
      left = { sessions: 600, api: 1200 }
      const post = (raw: string, type = 'application/json') =>
        writer.post('/issues', undefined, { raw, headers: { 'content-type': type } })
      expectHeaders(await post('{'), 400)
      expectHeaders(await post(`"${'x'.repeat(1_048_577)}"`), 413)
      expectHeaders(await post('<issue/>', 'text/xml'), 415)
      expectHeaders(await post('{}'), 422)
    },
  )

  test('are absent without a valid token, and on routes without a caller', async ({ app }) => {
    const { owner } = await app.workspace()
    const [robot, expired, revoked] = [
      await app.installed(owner),
      await app.installed(owner),
      await app.installed(owner),
    ]
    await app.ctx.db.run(sql`
      update access_tokens set expires_at = ${app.clock.now()}
      where grant_id in (select id from grants where installation_id = ${expired.installationId})`)
    await owner.delete(`/installations/${revoked.installationId}`)
    const stranger = app.anonymous.with({ authorization: 'Bearer svc_at_stranger' })
    const windows = () => app.ctx.db.row(sql`select count(*) from rate_windows`)
    const before = await windows()
    for (const client of [expired, revoked, stranger, app.anonymous]) {
      for (const [path, status] of [
        ['/auth/me', 401],
        ['/nowhere', 404],
      ] as const) {
        const answer = await client.get(path)
        expect([answer.status, ...limitHeaders(answer)]).toEqual([status, null, null, null])
      }
    }
    for (const path of ['/openapi.json', '/oauth/authorize']) {
      expect(limitHeaders(await robot.get(path))).toEqual([null, null, null])
    }
    expect(limitHeaders(await owner.get('/teams'))).toEqual([null, null, null])
    expect(await windows()).toEqual(before)
  })
})

describe('the limit of the Agent Session API', () => {
  test(
    'is 600 calls a minute per installation unless BATON_INSTALLATION_RATE is set',
    verifies('rate.installation-600-per-minute', 'config.installation-rate'),
    async ({ startApp }) => {
      const app = await startApp()
      const { owner } = await app.workspace()
      const robot = await app.installed(owner)
      const { ctx, clock } = app
      const call = takeFromWindow(
        rateLimitOf(ctx.config, sessionRoute),
        sql`${robot.installationId}::text`,
        clock.now(),
      )
      await ctx.db.run(sql`select count((${call}).allowed) from generate_series(1, 599)`)
      const last = await robot.get('/agent-sessions')
      expect([last.status, ...limitHeaders(last)]).toEqual([200, '600', '0', '60'])
      const over = await app.unchanged(() => robot.get('/agent-sessions'))
      expect(over).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED', details: {} } })
      expect(over.headers.get('retry-after')).toBe('60')
      expect((await robot.get('/issues')).status).toBe(200)
      clock.advance({ minutes: 1 })
      expect((await robot.get('/agent-sessions')).status).toBe(200)
    },
  )

  test(
    'of one installation does not affect another',
    verifies('rate.installation-limit-is-per-installation', 'config.installation-rate'),
    async ({ startApp }) => {
      const app = await startApp({ BATON_INSTALLATION_RATE: '2' })
      const { owner } = await app.workspace()
      const [robot, other] = [await app.installed(owner), await app.installed(owner)]
      for (const remaining of ['1', '0']) {
        expect(limitHeaders(await robot.get('/agent-sessions'))).toEqual(['2', remaining, '60'])
      }
      expect((await app.unchanged(() => robot.get('/agent-sessions'))).status).toBe(429)
      expect(limitHeaders(await other.get('/agent-sessions'))).toEqual(['2', '1', '60'])
      app.clock.advance({ minutes: 1 })
      expect((await robot.get('/agent-sessions')).status).toBe(200)
    },
  )
  test('applies only to routes below /agent-sessions', () => {
    const at = (path: Route['path']) => isAgentSessionApi({ ...sessionRoute, path })
    expect(at('/agent-sessions')).toBe(true)
    expect(at('/agent-sessions/:session_id/activities')).toBe(true)
    expect(at('/agent-sessions-of-mine')).toBe(false)
    expect(at('/agents')).toBe(false)
    expect(isAgentSessionApi(routes.listAgents)).toBe(false)
  })

  test('is shared by all tokens of an installation, and separate from the limit of the API', async ({ startApp }) => {
    const app = await startApp({ BATON_INSTALLATION_RATE: '3', BATON_API_RATE: '2' })
    const scene = await oauthScene(app)
    const first = (await exchange(app, scene, await consent(scene.owner, scene.client.client_id, { all_teams: true })))
      .body
    const second = (
      await token(app, { grant_type: 'refresh_token', refresh_token: first.refresh_token, ...secretOf(scene) })
    ).body
    const [other, program] = [(await app.installed(scene.owner)).token, await programOf(app, scene.member, scene.id)]
    /** The two functions that count a call. */
    const lookedUp = async (accessToken: string) =>
      (await resolveToken(app.ctx, accessToken, undefined, sessionRoute)).headers
    const taken = async (accessToken: string) => takeCall(app.ctx, await callerOf(app, accessToken), sessionRoute)
    const left = (remaining: string) => ({ 'ratelimit-limit': '3', 'ratelimit-remaining': remaining })
    const full = { code: 'RATE_LIMIT_EXCEEDED', headers: { ...left('0'), 'retry-after': '60' } }

    expect(await lookedUp(first.access_token)).toMatchObject(left('2'))
    expect(await taken(second.access_token)).toMatchObject(left('1'))
    expect(await lookedUp(second.access_token)).toMatchObject(left('0'))
    await expect(lookedUp(first.access_token)).rejects.toMatchObject(full)
    await expect(taken(second.access_token)).rejects.toMatchObject(full)
    for (const accessToken of [other, program]) {
      expect(await lookedUp(accessToken)).toMatchObject(left('2'))
      expect(await taken(accessToken)).toMatchObject(left('1'))
    }
    expect(limitHeaders(await asApp(app, scene.id, first.access_token).get('/teams'))).toEqual(['2', '1', '60'])
    app.clock.advance({ minutes: 1 })
    expect(await lookedUp(first.access_token)).toMatchObject(left('2'))
    expect(await takeCall(app.ctx, { kind: 'anonymous' }, sessionRoute)).toEqual({})
  })
})
