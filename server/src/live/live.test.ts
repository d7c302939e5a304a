import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { limits } from '@baton/protocol'
import { describe, expect, onTestFinished } from 'vitest'
import { type TestApp, type TestPerson, test, verifies, within } from '../../test/harness.ts'
import { withDatabase } from '../../test/template.ts'
import { type Heard, Watch } from '../../test/watch.ts'
import { createApp } from '../app.ts'
import { sha256 } from '../crypto.ts'
import { Db } from '../db/database.ts'
import { connectPostgres } from '../db/postgres.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { tellLive } from './hint.ts'
import { streamFor } from './stream.ts'

const ready: Heard = { event: 'ready', data: {}, id: 'ready' }
const resync: Heard = { event: 'resync', data: {} }
const beat: Heard = { comment: '' }
const change = (type: string, id: string, action: string, parent_id: string | null = null): Heard => ({
  event: 'change',
  data: { type, id, action, parent_id },
})
const inboxOf = ({ user }: TestPerson) => change('Inbox', user.id, 'update')

async function watching(person: TestPerson, options = {}) {
  const watch = await Watch.as(person, options)
  expect(await watch.next()).toEqual(ready)
  return watch
}

/** Something that everybody in the workspace hears of: if it comes next, nothing came before it. */
async function mark(person: TestPerson) {
  const issue = (await person.post('/issues', { title: 'Mark' })).body
  return change('Issue', issue.id, 'create')
}

const watchers = async (app: TestApp) =>
  Number(/^baton_live_watchers (\d+)$/m.exec((await app.nobody.getRoot('/metrics')).body)?.[1])

const eventually = async (what: () => Promise<boolean>) => {
  while (!(await what())) await setImmediate()
}

describe('the live stream', () => {
  test(
    'is server-sent events, with the headers of every answer',
    verifies('session.stream-and-live'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const watch = await watching(owner)
      expect(watch.status).toBe(200)
      expect(watch.headers).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.stringMatching(/^req_/),
        'content-security-policy': expect.stringContaining("default-src 'self'"),
      })
    },
  )

  test('tells members of issues, projects and comments as they change', async ({ app }) => {
    const { owner, member } = await app.workspace()
    const watch = await watching(member)
    const { id } = (await owner.post('/issues', { title: 'A bug' })).body
    await owner.put(`/issues/${id}`, { title: 'A bad bug' })
    await owner.put(`/issues/${id}`, { sort_order: 7 })
    const comment = (await owner.post('/comments', { target_type: 'issue', target_id: id, text: 'Hm' })).body
    await owner.put(`/comments/${comment.id}`, { is_resolved: true })
    await owner.delete(`/comments/${comment.id}`)
    await owner.delete(`/issues/${id}`)
    const project = (await owner.post('/projects', { title: 'Plan' })).body
    await owner.put(`/projects/${project.id}`, { title: 'A plan' })
    const note = { target_type: 'project', target_id: project.id, text: 'Between us', internal: true }
    const internal = (await owner.post('/comments', note)).body
    await owner.delete(`/projects/${project.id}`)
    expect(await watch.take(11)).toEqual([
      change('Issue', id, 'create'),
      change('Issue', id, 'update'),
      change('Issue', id, 'update'),
      change('Comment', comment.id, 'create', id),
      change('Comment', comment.id, 'update', id),
      change('Comment', comment.id, 'remove', id),
      change('Issue', id, 'remove'),
      change('Project', project.id, 'create'),
      change('Project', project.id, 'update'),
      change('Comment', internal.id, 'create', project.id),
      change('Project', project.id, 'remove'),
    ])
  })

  test('tells nothing of what was refused or rolled back', async ({ app }) => {
    const { owner } = await app.workspace()
    const watch = await watching(owner)
    expect((await owner.post('/issues', { title: 'A bug', parent_id: 'iss_nothing' })).status).toBe(422)
    const failing = app.ctx.db.tx(async (tx) => {
      tellLive(tx, [{ workspace_id: owner.workspaceId, type: 'Issue', id: 'iss_x', action: 'create' }])
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    const marked = await mark(owner)
    expect(await watch.next()).toEqual(marked)
  })

  test('tells of both sides of a block, and of what an app does', async ({ app }) => {
    const { owner, member } = await app.workspace()
    const robot = await app.installed(owner)
    const { id: team_id } = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
    const one = (await owner.post('/issues', { title: 'One' })).body
    const watch = await watching(member)
    const two = (await robot.post('/issues', { title: 'Two', team_id })).body
    await owner.put(`/issues/${one.id}`, { blocks_ids: [two.id] })
    expect(await watch.take(3)).toEqual([
      change('Issue', two.id, 'create'),
      change('Issue', one.id, 'update'),
      change('Issue', two.id, 'update'),
    ])
  })

  test('tells an inbox to its owner alone', async ({ app }) => {
    const { owner, admin, member } = await app.workspace()
    const [theirs, others] = [await watching(member), await watching(admin)]
    const { id } = (await owner.post('/issues', { title: 'A bug', assignee_id: member.user.id })).body
    const [entry] = (await member.get('/inbox')).body.data
    await member.patch(`/inbox/${entry.id}`, { read: true })
    await admin.patch(`/inbox/${entry.id}`, { read: false })
    await member.patch(`/inbox/${entry.id}`, { read: false })
    await member.post('/inbox/read')
    await member.post('/inbox/read')
    const marked = await mark(owner)
    expect(await theirs.take(5)).toEqual([
      change('Issue', id, 'create'),
      inboxOf(member),
      inboxOf(member),
      inboxOf(member),
      inboxOf(member),
    ])
    expect(await theirs.next()).toEqual(marked)
    expect(await others.take(2)).toEqual([change('Issue', id, 'create'), marked])
  })

  test('tells of what is personal to its owner alone', async ({ app }) => {
    const { owner, member } = await app.workspace()
    const [mine, others] = [await watching(member), await watching(owner)]
    const issue = (await member.post('/issues', { title: 'My diary', personal: true })).body
    const other = (await member.post('/issues', { title: 'My other diary', personal: true })).body
    await member.put(`/issues/${issue.id}`, { title: 'Our diary', blocks_ids: [other.id] })
    await member.put(`/issues/${issue.id}`, { sort_order: 3 })
    const comment = (await member.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Dear' })).body
    await member.delete(`/comments/${comment.id}`)
    await member.delete(`/issues/${issue.id}`)
    const project = (await member.post('/projects', { title: 'My plan', personal: true })).body
    await member.put(`/projects/${project.id}`, { title: 'Plan' })
    await member.delete(`/projects/${project.id}`)
    const marked = await mark(owner)
    expect(await mine.take(12)).toEqual([
      change('Issue', issue.id, 'create'),
      change('Issue', other.id, 'create'),
      change('Issue', issue.id, 'update'),
      change('Issue', other.id, 'update'),
      change('Issue', issue.id, 'update'),
      change('Comment', comment.id, 'create', issue.id),
      change('Comment', comment.id, 'remove', issue.id),
      change('Issue', issue.id, 'remove'),
      change('Project', project.id, 'create'),
      change('Project', project.id, 'update'),
      change('Project', project.id, 'remove'),
      marked,
    ])
    expect(await others.next()).toEqual(marked)
  })

  test.for(['issue', 'project'] as const)(
    'shows something that was shared (%s) and becomes personal as removed to everybody else, and as new when it is shared again',
    async (noun, { app }) => {
      const { owner, member } = await app.workspace()
      const type = noun === 'issue' ? 'Issue' : 'Project'
      const { id } = (await member.post(`/${noun}s`, { title: 'Ours' })).body
      const [mine, others] = [await watching(member), await watching(owner)]
      const comment = (await member.post('/comments', { target_type: noun, target_id: id, text: 'Hm' })).body
      await member.put(`/${noun}s/${id}`, { personal: true })
      await member.put(`/${noun}s/${id}`, { title: 'Mine' })
      await member.put(`/${noun}s/${id}`, { personal: false })
      expect(await others.take(4)).toEqual([
        change('Comment', comment.id, 'create', id),
        change(type, id, 'remove'),
        change(type, id, 'create'),
        change('Comment', comment.id, 'create', id),
      ])
      expect(await mine.take(4)).toEqual([
        change('Comment', comment.id, 'create', id),
        change(type, id, 'update'),
        change(type, id, 'update'),
        change(type, id, 'create'),
      ])
    },
  )

  test('tells nothing of another workspace', async ({ app }) => {
    const [here, there] = [await app.workspace(), await app.workspace()]
    const { body } = await there.owner.post('/workspaces/me/invitations', {
      email: here.owner.user.email,
      role: 'member',
    })
    await here.owner.post('/invitations/accept', { token: body.token })
    const watch = await watching(here.owner)
    const elsewhere = await watching(within(here.owner, there.id))
    const theirs = await mark(there.owner)
    const ours = await mark(here.owner)
    expect(await watch.next()).toEqual(ours)
    expect(await elsewhere.next()).toEqual(theirs)
  })

  test('names a hundred changes of one commit, and says resync for more', async ({ app }) => {
    const { owner, member } = await app.workspace()
    const [theirs, others] = [await watching(owner), await watching(member)]
    const many = (count: number) =>
      owner.post('/issues/import', { issues: Array.from({ length: count }, () => ({ title: 'One' })) })
    const { data } = (await many(100)).body
    const named = data.map(({ id }: { id: string }) => change('Issue', id, 'create'))
    expect(await others.take(100)).toEqual(named)
    await many(101)
    expect(await others.next()).toEqual(resync)
    const own = { workspace_id: owner.workspaceId, type: 'Issue', action: 'update', only: owner.user.id } as const
    tellLive(
      app.ctx.db,
      Array.from({ length: 101 }, (_, index) => ({ ...own, id: `iss_${index}` })),
    )
    const marked = await mark(owner)
    expect(await others.next()).toEqual(marked)
    expect((await theirs.take(103)).slice(100)).toEqual([resync, resync, marked])
  })
})

describe('who watches', () => {
  test(
    'names the workspace in the header, or in the query where no header can be sent',
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
      // Elsewhere a query names no workspace.
      expect(await app.nobody.with(bearer).get(`/inbox?workspace_id=${owner.workspaceId}`)).toMatchObject({
        status: 400,
        body: { code: 'WORKSPACE_REQUIRED' },
      })
    },
  )

  test('must be a person, and a member', async ({ app }) => {
    const { owner, id } = await app.workspace()
    const robot = await app.installed(owner)
    expect(await robot.get('/live')).toMatchObject({ status: 403, body: { code: 'SESSION_ONLY_ROUTE' } })
    expect(await app.nobody.get(`/live?workspace_id=${id}`)).toMatchObject({
      status: 401,
      body: { code: 'UNAUTHORIZED' },
    })
    expect(await within(await app.person(), id).get('/live')).toMatchObject({
      status: 403,
      body: { code: 'WORKSPACE_ACCESS_DENIED' },
    })
  })

  test('hears a heartbeat every 15 seconds', verifies('session.stream-heartbeat'), async ({ startApp }) => {
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

  test('hears one resync after a reconnect', verifies('session.stream-resume'), async ({ app }) => {
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

  test('hears nothing more once the login is over', async ({ startApp }) => {
    const app = await startApp()
    const { owner, admin, member, id } = await app.workspace()
    const watches = [await watching(member), await watching(admin), await watching(owner)]
    const [signedOut, removed, stays] = watches as [Watch, Watch, Watch]
    const { body } = await app.nobody.post('/auth/sign-in', { email: owner.user.email, password: owner.password })
    const elsewhere = await watching(within(Object.assign(owner, { token: body.token }), id))
    await member.post('/auth/sign-out')
    await owner.delete(`/workspaces/me/members/${admin.user.id}`)
    await owner.post('/auth/password', { current_password: owner.password, new_password: 'another horse' })
    app.clock.advance({ seconds: 15 })
    // That a member left is the last they hear.
    const left = change('Workspace', id, 'update')
    for (const watch of [signedOut, removed, elsewhere]) {
      expect(await watch.take(3)).toEqual([left, beat, undefined])
      expect(watch.end).toBe('whole')
    }
    const marked = await mark(owner)
    expect(await stays.take(3)).toEqual([left, beat, marked])
    expect(await watchers(app)).toBe(1)
  })

  test('is looked at again at a heartbeat that comes before the last look is over', async ({ startApp }) => {
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
    }
    const looks: ((letIn: boolean) => void)[] = []
    const mayGoOn = () => new Promise<boolean>((resolve) => void looks.push(resolve))
    const stream = streamFor(app.ctx, caller, () => () => {}, { mayGoOn })
    stream.begin()
    const beats = () => app.clock.advance({ seconds: 15 })
    beats()
    await eventually(async () => looks.length === 1)
    // However many came meanwhile, one more look says how it is now.
    for (let count = 0; count < 3; count++) beats()
    looks[0]?.(true)
    await eventually(async () => looks.length === 2)
    expect(stream.over).toBe(false)
    looks[1]?.(false)
    await eventually(async () => stream.over)
    expect(looks).toHaveLength(2)
    expect(app.clock.waiting).toBe(0)
  })

  test('does not keep a login alive by watching', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const watch = await watching(owner)
    app.clock.advance({ days: 30 })
    expect(await watch.next()).toEqual(beat)
    await owner.get('/inbox')
    app.clock.advance({ days: 30, milliseconds: 1 })
    expect(await watch.take(2)).toEqual([beat, undefined])
  })

  test('is forgotten when they go', async ({ startApp }) => {
    const app = await startApp()
    const { owner, member } = await app.workspace()
    const watches = [await watching(owner), await watching(owner), await watching(member)]
    expect(await watchers(app)).toBe(3)
    for (const watch of watches) watch.close()
    await eventually(async () => (await watchers(app)) === 0)
    expect(app.clock.waiting).toBe(0)
  })

  test('is asked to wait with a hundred streams open', async ({ startApp }) => {
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

  test('by HEAD sees the headers alone', async ({ startApp }) => {
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
    const [reading, deaf] = [await watching(owner), await watching(member)]
    await overwhelm(app, deaf, 4)
    const before = Date.now()
    await app.stop()
    expect(Date.now() - before).toBeLessThan(5000)
    while (await reading.next()) {
      // What came before the end.
    }
    expect(reading.end).toBe('whole')
    expect(app.clock.waiting).toBe(0)
  })

  test('when its reader does not keep up, and no other', async ({ startApp }) => {
    const app = await startApp()
    const { owner, member } = await app.workspace()
    const [reading, deaf] = [await watching(owner), await watching(member)]
    const sent = await overwhelm(app, deaf, 1000)
    await eventually(async () => (await watchers(app)) === 1)
    expect(sent).toBeLessThan(1000)
    expect(await reading.take(sent)).not.toContain(undefined)
    deaf.goOn()
    while (await deaf.next()) {
      // What had been sent before.
    }
    expect(deaf.end).toBe('cut')
  })
})

/** Tells large things, as fast as others can read them, until one who does not read is gone; says how many. */
async function overwhelm(app: TestApp, deaf: Watch, atMost: number) {
  deaf.stopReading()
  const [workspace] = await app.ctx.db.rows<{ id: string }>(sql`select id from workspaces`)
  const all = await watchers(app)
  let sent = 0
  while (sent < atMost && (await watchers(app)) === all) {
    const id = `${sent++}`.padEnd(100_000, 'x')
    tellLive(app.ctx.db, [{ workspace_id: workspace?.id ?? '', type: 'Issue', id, action: 'update' }])
    await setImmediate()
  }
  return sent
}

describe.skipIf(!process.env.DATABASE_URL)('two processes on one database', () => {
  /** Another process's worth of service over the database of `app`. */
  async function another(app: TestApp, env = {}) {
    const [database] = await app.ctx.db.rows<{ name: string }>(sql`select current_database() as name`)
    const db = new Db(connectPostgres(withDatabase(process.env.DATABASE_URL as string, database?.name ?? ''), () => {}))
    const { http } = await createApp({ ...app.ctx, db, config: { ...app.ctx.config, ...env } }, { stopping: false })
    await http.listen({ host: '127.0.0.1', port: 0 })
    onTestFinished(async () => {
      await http.close()
      await db.close()
    })
    await eventually(async () => (await listeners(app)) === 2)
    return { rootUrl: `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`, db }
  }

  /** In the other process, when what was told before has arrived there. */
  async function caughtUp(person: TestPerson, rootUrl: string) {
    const watch = await watching(person, { rootUrl })
    const marked = JSON.stringify(await mark(person))
    while (JSON.stringify(await watch.next()) !== marked);
    return watch
  }

  const listening = sql`datname = current_database() and query like 'listen %baton_live%' and state = 'idle'`
  const listeners = async ({ ctx }: TestApp) =>
    (await ctx.db.rows(sql`select pid from pg_stat_activity where ${listening}`)).length

  test('a change in one reaches those who watch the other, once', async ({ startApp }) => {
    const app = await startApp()
    const { owner, member } = await app.workspace()
    const { rootUrl } = await another(app)
    const there = await caughtUp(owner, rootUrl)
    const [here, theirs] = [await watching(owner), await watching(member, { rootUrl })]
    const { id } = (await owner.post('/issues', { title: 'A bug', assignee_id: member.user.id })).body
    // Heard before it is read, because two hints of one inbox may come as one.
    expect(await theirs.take(2)).toEqual([change('Issue', id, 'create'), inboxOf(member)])
    await member.post('/inbox/read')
    const personal = (await owner.post('/issues', { title: 'Mine', personal: true })).body
    const marked = await mark(owner)
    const ours = [change('Issue', id, 'create'), change('Issue', personal.id, 'create'), marked]
    expect(await here.take(3)).toEqual(ours)
    expect(await there.take(3)).toEqual(ours)
    expect(await theirs.take(2)).toEqual([inboxOf(member), marked])
    const last = await mark(owner)
    for (const watch of [here, there, theirs]) expect(await watch.next()).toEqual(last)
  })

  test('a worker tells the browsers of others', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { db } = await another(app, { role: 'worker' })
    const watch = await watching(owner)
    tellLive(db, [{ workspace_id: owner.workspaceId, type: 'Inbox', id: owner.user.id, action: 'update' }])
    expect(await watch.next()).toEqual(inboxOf(owner))
  })

  test('many changes at once all arrive, in several messages', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { rootUrl } = await another(app)
    const watch = await caughtUp(owner, rootUrl)
    const ids = Array.from({ length: 1000 }, (_, index) => `iss_${index}`.padEnd(150, 'ü'))
    for (const id of ids)
      tellLive(app.ctx.db, [{ workspace_id: owner.workspaceId, type: 'Issue', id, action: 'update' }])
    expect(await watch.take(ids.length)).toEqual(ids.map((id) => change('Issue', id, 'update')))
  })

  test('what is too much to tell is a resync', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { rootUrl } = await another(app)
    const watch = await caughtUp(owner, rootUrl)
    const huge = 'x'.repeat(8000)
    tellLive(app.ctx.db, [{ workspace_id: owner.workspaceId, type: 'Issue', id: huge, action: 'update' }])
    expect(await watch.next()).toEqual(resync)
    for (let index = 0; index < 6000; index++)
      tellLive(app.ctx.db, [{ workspace_id: owner.workspaceId, type: 'Issue', id: `${index}`, action: 'update' }])
    // None was on its way yet, and so many do not fit.
    expect(await watch.next()).toEqual(resync)
  })

  test('a connection that was lost may have missed something', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    await eventually(async () => (await listeners(app)) === 1)
    const watch = await watching(owner)
    await app.ctx.db.rows(sql`select pg_terminate_backend(pid) from pg_stat_activity where ${listening}`)
    expect(await watch.next()).toEqual(resync)
    const marked = await mark(owner)
    expect(await watch.next()).toEqual(marked)
  })
})
