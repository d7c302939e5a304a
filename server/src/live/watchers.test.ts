import { once } from 'node:events'
import { request } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { limits } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies, within } from '../../test/harness.ts'
import { beat, change, mark, ready, resync, Watch, watching } from '../../test/watch.ts'
import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { sendHints } from './hint.ts'
import { streamFor } from './stream.ts'

const watchers = async (app: TestApp) =>
  Number(/^baton_live_watchers (\d+)$/m.exec((await app.anonymous.getRoot('/metrics')).body)?.[1])

const eventually = async (what: () => Promise<boolean>) => {
  while (!(await what())) await setImmediate()
}

describe('a watcher', () => {
  test(
    'names the workspace in the header, or in the query if it cannot send headers',
    verifies('session.stream-workspace-in-query'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const bearer = { authorization: `Bearer ${owner.token}` }
      const cookie = { cookie: `baton_session=${owner.token}` }
      const inQuery = `/live?workspace_id=${owner.workspaceId}`
      const open = (path: string, headers: Record<string, string>) =>
        Watch.open({ rootUrl: owner.rootUrl, path, headers })
      const watches = [
        await open(inQuery, bearer),
        await open(inQuery, cookie),
        await open('/live?workspace_id=wsp_other', { ...bearer, 'x-workspace-id': owner.workspaceId }),
      ]
      const marked = await mark(owner)
      for (const watch of watches) expect(await watch.take(2)).toEqual([ready, marked])
      expect((await open('/live', bearer)).status).toBe(400)
      expect((await open('/live?workspace_id=%00', bearer)).status).toBe(400)
      expect((await open(`${inQuery}&workspace_id=b`, bearer)).status).toBe(400)
      expect((await open('/live?workspace_id=wsp_other', bearer)).status).toBe(403)
      expect((await open(`${inQuery}&surprise=1`, bearer)).status).toBe(422)
      // Other routes do not accept the workspace in the query.
      expect(await app.anonymous.with(bearer).get(`/inbox?workspace_id=${owner.workspaceId}`)).toMatchObject({
        status: 400,
        body: { code: 'WORKSPACE_REQUIRED' },
      })
    },
  )

  test('must be a human member', async ({ app }) => {
    const { owner, id } = await app.workspace()
    const robot = await app.installed(owner)
    expect(await robot.get('/live')).toMatchObject({ status: 403, body: { code: 'SESSION_ONLY_ROUTE' } })
    expect(await app.anonymous.get(`/live?workspace_id=${id}`)).toMatchObject({
      status: 401,
      body: { code: 'UNAUTHORIZED' },
    })
    expect(await within(await app.person(), id).get('/live')).toMatchObject({
      status: 403,
      body: { code: 'WORKSPACE_ACCESS_DENIED' },
    })
  })

  test('receives a heartbeat every 15 seconds', verifies('session.stream-heartbeat'), async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const watch = await watching(owner)
    for (let round = 0; round < 3; round++) {
      app.clock.advance({ seconds: 15, milliseconds: -1 })
      const marked = await mark(owner)
      expect(await watch.next()).toEqual(marked)
      app.clock.advance({ milliseconds: 1 })
      expect(await watch.next()).toEqual(beat)
    }
  })

  test('receives one resync after a reconnect', verifies('session.stream-resume'), async ({ app }) => {
    const { owner } = await app.workspace()
    const first = await watching(owner)
    first.close()
    const missed = await mark(owner)
    const again = await watching(owner, { headers: { 'last-event-id': 'ready' } })
    expect(await again.next()).toEqual(resync)
    const marked = await mark(owner)
    expect(await again.next()).toEqual(marked)
    expect(marked).not.toEqual(missed)
    const fresh = await watching(owner)
    const last = await mark(owner)
    expect(await fresh.next()).toEqual(last)
  })

  test('receives nothing after the login ends', async ({ startApp }) => {
    const app = await startApp()
    const { owner, admin, member, id } = await app.workspace()
    const watches = [await watching(member), await watching(admin), await watching(owner)]
    const [signedOut, removed, stays] = watches as [Watch, Watch, Watch]
    const { body } = await app.anonymous.post('/auth/sign-in', { email: owner.user.email, password: owner.password })
    const elsewhere = await watching(within(Object.assign(owner, { token: body.token }), id))
    await member.post('/auth/sign-out')
    await owner.delete(`/workspaces/me/members/${admin.user.id}`)
    await owner.post('/auth/password', { current_password: owner.password, new_password: 'another horse' })
    app.clock.advance({ seconds: 15 })
    // The last hint is that a member left. Streams that had ended before it get neither.
    const left = change('Workspace', id, 'update')
    for (const [watch, received] of [
      [signedOut, []],
      [removed, []],
      [elsewhere, [left, beat]],
    ] as const) {
      expect(await watch.take(received.length + 1)).toEqual([...received, undefined])
      expect(watch.end).toBe('whole')
    }
    const marked = await mark(owner)
    expect(await stays.take(3)).toEqual([left, beat, marked])
    expect(await watchers(app)).toBe(1)
  })

  test('is checked again if a heartbeat comes during a check', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { user, token, workspaceId } = owner
    const caller: Member = {
      kind: 'person',
      id: user.id,
      name: user.display_name,
      email: user.email,
      tokenHash: sha256(token),
      scopes: null,
      workspaceId,
      role: 'owner',
      loginMethod: null,
      recent: false,
    }
    const checks: ((letIn: boolean) => void)[] = []
    const mayContinue = () => new Promise<boolean>((resolve) => void checks.push(resolve))
    const stream = streamFor(app.ctx, caller, () => () => {}, { mayContinue })
    stream.begin()
    const heartbeat = () => app.clock.advance({ seconds: 15 })
    heartbeat()
    await eventually(async () => checks.length === 1)
    // However many heartbeats came meanwhile, one more check follows.
    for (let count = 0; count < 3; count++) heartbeat()
    checks[0]?.(true)
    await eventually(async () => checks.length === 2)
    expect(stream.over).toBe(false)
    checks[1]?.(false)
    await eventually(async () => stream.over)
    expect(checks).toHaveLength(2)
    expect(app.clock.waiting).toBe(0)
  })

  test('does not extend its login by watching', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const watch = await watching(owner)
    app.clock.advance({ days: 30 })
    expect(await watch.next()).toEqual(beat)
    await owner.get('/inbox')
    app.clock.advance({ days: 30, milliseconds: 1 })
    expect(await watch.take(2)).toEqual([beat, undefined])
  })

  test('is removed when it disconnects', async ({ startApp }) => {
    const app = await startApp()
    const { owner, member } = await app.workspace()
    const watches = [await watching(owner), await watching(owner), await watching(member)]
    expect(await watchers(app)).toBe(3)
    for (const watch of watches) watch.close()
    await eventually(async () => (await watchers(app)) === 0)
    expect(app.clock.waiting).toBe(0)
  })

  test('is refused with a hundred open streams', async ({ startApp }) => {
    const app = await startApp()
    const { owner, member } = await app.workspace()
    const watches = await Promise.all(Array.from({ length: limits.streamsPerPerson }, () => watching(owner)))
    const response = await owner.get('/live')
    expect(response).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
    expect(response.headers.get('retry-after')).toBe('15')
    expect(await watchers(app)).toBe(limits.streamsPerPerson)
    await watching(member)
    watches[0]?.close()
    await eventually(async () => (await watchers(app)) === limits.streamsPerPerson)
    await watching(owner)
  })

  test('gets only the headers by HEAD', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const headers = { authorization: `Bearer ${owner.token}`, 'x-workspace-id': owner.workspaceId }
    const asked = request(`${app.rootUrl}/api/v1/live`, { method: 'HEAD', headers }).end()
    const [response] = await once(asked, 'response')
    expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    response.resume()
    await once(response, 'end')
    expect(await watchers(app)).toBe(0)
    expect(app.clock.waiting).toBe(0)
  })
})

describe('a stream ends', () => {
  test('at once when the process stops', async ({ startApp }) => {
    const app = await startApp()
    const { owner, member } = await app.workspace()
    const [reading, slow] = [await watching(owner), await watching(member)]
    await overwhelm(app, slow, 4)
    const before = Date.now()
    await app.stop()
    expect(Date.now() - before).toBeLessThan(5000)
    while (await reading.next()) {
      // Events sent before the end.
    }
    expect(reading.end).toBe('whole')
    expect(app.clock.waiting).toBe(0)
  })

  test('when its own reader is too slow', async ({ startApp }) => {
    const app = await startApp()
    const { owner, member } = await app.workspace()
    const [reading, slow] = [await watching(owner), await watching(member)]
    const sent = await overwhelm(app, slow, 1000)
    await eventually(async () => (await watchers(app)) === 1)
    expect(sent).toBeLessThan(1000)
    expect(await reading.take(sent)).not.toContain(undefined)
    slow.resumeReading()
    while (await slow.next()) {
      // Events sent before.
    }
    expect(slow.end).toBe('cut')
  })
})

/** Sends large hints, as fast as other watchers read them, until the slow one is disconnected. Returns how many. */
async function overwhelm(app: TestApp, slow: Watch, atMost: number) {
  slow.stopReading()
  const [workspace] = await app.ctx.db.rows<{ id: string }>(sql`select id from workspaces`)
  const all = await watchers(app)
  let sent = 0
  while (sent < atMost && (await watchers(app)) === all) {
    const id = `${sent++}`.padEnd(100_000, 'x')
    sendHints(app.ctx.db, [{ workspace_id: workspace?.id ?? '', type: 'Issue', id, action: 'update' }])
    await setImmediate()
  }
  return sent
}
