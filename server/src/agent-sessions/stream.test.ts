import { expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { type StreamEvent, Watch } from '../../test/watch.ts'
import { sql } from '../db/sql.ts'
import { storeDueTransitions } from './timers.ts'

/** A delegated issue and its session. */
async function scene(app: TestApp) {
  const workspace = await app.workspace()
  const { owner } = workspace
  const webhook = 'https://robots.example.com/hook'
  const robot = await app.installed(owner, { scopes: ['app:assignable', 'app:mentionable'], webhook })
  const issue = (await owner.post('/issues', { title: 'Fix it', delegate_id: robot.userId })).body
  const session = (await owner.get(`/agent-sessions?issue_id=${issue.id}`)).body.data[0]
  const path = `/agent-sessions/${session.id}`
  const think = (body: string) => robot.post(`${path}/activities`, { content: { type: 'thought', body } })
  return { ...workspace, robot, issue, session, path, think }
}

const activityOf = (received: StreamEvent | undefined) => {
  if (!received || !('event' in received)) throw new Error(`not an event: ${JSON.stringify(received)}`)
  const { event, id, data } = received as {
    event: string
    id?: string
    data: { seq?: number; content?: { body: string } }
  }
  return { event, id, seq: data.seq, body: data.content?.body }
}
const thought = (seq: number, body: string) => ({ event: 'activity', id: String(seq), seq, body })

/** Skips `session` events. */
async function nextActivity(watch: Watch) {
  for (;;) {
    const received = await watch.next()
    if (received && 'event' in received && received.event === 'session') continue
    return activityOf(received)
  }
}

test(
  'a person gets the session and each new activity of both sides',
  verifies('session.stream-and-live'),
  async ({ app }) => {
    const { owner, member, path, session, think, robot } = await scene(app)
    await think('One')
    const watch = await Watch.as(member, { path: `${path}/stream` })
    expect(watch.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(await watch.next()).toMatchObject({ event: 'session', data: { id: session.id, state: 'active' } })
    expect(activityOf(await watch.next())).toEqual(thought(1, 'One'))
    await think('Two')
    expect(await nextActivity(watch)).toEqual(thought(2, 'Two'))
    const question = await robot.post(`${path}/activities`, { content: { type: 'elicitation', body: 'Which?' } })
    expect(await watch.next()).toMatchObject({ event: 'session', data: { state: 'awaitingInput' } })
    expect(await watch.next()).toEqual({ event: 'activity', id: '3', data: question.body })
    await owner.post(`${path}/activities`, { content: { type: 'prompt', body: 'This' } })
    expect(await watch.next()).toMatchObject({ event: 'session', data: { state: 'pending' } })
    expect(activityOf(await watch.next())).toEqual(thought(4, 'This'))
    await robot.patch(path, { plan: [{ content: 'Do it', status: 'pending' }] })
    expect(await watch.next()).toMatchObject({ event: 'session', data: { plan: [{ content: 'Do it' }] } })
    await owner.post(`${path}/stop`)
    expect(await watch.next()).toMatchObject({ event: 'session', data: { state: 'stopping', end_reason: 'stopped' } })
    expect(activityOf(await watch.next())).toEqual(thought(5, 'Stop'))
    app.clock.advance({ seconds: 60 })
    await storeDueTransitions(app.ctx)
    // There were heartbeats during the minute.
    let received = await watch.next()
    while (received && 'comment' in received) received = await watch.next()
    expect(received).toMatchObject({ event: 'session', data: { state: 'complete', ended_at: expect.any(String) } })
  },
)

test(
  'a reconnecting client gets the activities after its last seq, without gaps or repeats',
  verifies('session.stream-resume'),
  async ({ app }) => {
    const { member, path, think } = await scene(app)
    const first = await Watch.as(member, { path: `${path}/stream` })
    for (const [index, body] of ['One', 'Two', 'Three'].entries()) {
      await think(body)
      expect(await nextActivity(first)).toEqual(thought(index + 1, body))
    }
    first.close()
    await think('Four')
    for (const [options, from] of [
      [{ path: `${path}/stream`, headers: { 'last-event-id': '2' } }, 3],
      [{ path: `${path}/stream?after_seq=3` }, 4],
      [{ path: `${path}/stream?after_seq=1`, headers: { 'last-event-id': '3' } }, 4],
      [{ path: `${path}/stream`, headers: { 'last-event-id': 'nonsense' } }, 1],
    ] as const) {
      const again = await Watch.as(member, options)
      const bodies = ['One', 'Two', 'Three', 'Four']
      for (let seq = from; seq <= 4; seq++) {
        expect(await nextActivity(again)).toEqual(thought(seq, bodies[seq - 1] as string))
      }
      again.close()
    }
    const last = await Watch.as(member, { path: `${path}/stream`, headers: { 'last-event-id': '4' } })
    app.clock.advance({ seconds: 1 })
    await think('Five')
    expect(await nextActivity(last)).toEqual(thought(5, 'Five'))
  },
)

test('a long history is sent completely, also to a slow reader', async ({ startApp }) => {
  const app = await startApp({ BATON_SESSION_RATE: '1000' })
  const { member, path, think } = await scene(app)
  const count = 230
  for (let n = 1; n <= count; n++) await think(`${n} ${'x'.repeat(10_000)}`)
  const watch = await Watch.as(member, { path: `${path}/stream` })
  watch.stopReading()
  for (let turn = 0; turn < 20; turn++) await member.get(path)
  watch.resumeReading()
  for (let n = 1; n <= count; n++) {
    const { seq, body } = await nextActivity(watch)
    expect([seq, body?.split(' ')[0]]).toEqual([n, String(n)])
  }
})

test(
  'a session stream has a heartbeat every 15 seconds',
  verifies('session.stream-heartbeat'),
  async ({ startApp }) => {
    const app = await startApp()
    const { member, path } = await scene(app)
    const watch = await Watch.as(member, { path: `${path}/stream` })
    expect(await watch.next()).toMatchObject({ event: 'session' })
    for (let round = 0; round < 3; round++) {
      app.clock.advance({ seconds: 15 })
      expect(await watch.next()).toEqual({ comment: '' })
    }
  },
)

test('the workspace can be given in the query', verifies('session.stream-workspace-in-query'), async ({ app }) => {
  const { member, path, id } = await scene(app)
  const headers = { authorization: `Bearer ${member.token}` }
  const named = await Watch.open({ rootUrl: app.rootUrl, path: `${path}/stream?workspace_id=${id}`, headers })
  expect(named.status).toBe(200)
  expect(await named.next()).toMatchObject({ event: 'session' })
  const unnamed = await Watch.open({ rootUrl: app.rootUrl, path: `${path}/stream`, headers })
  expect(unnamed.status).toBe(400)
})

test('a stream without access gets 404, and ends when access is lost', async ({ app }) => {
  const { owner, member, path, issue, robot } = await scene(app)
  const stranger = (await app.workspace()).owner
  expect((await stranger.get(`${path}/stream`)).status).toBe(404)
  expect((await robot.get(`${path}/stream`)).body.code).toBe('SESSION_ONLY_ROUTE')
  const watch = await Watch.as(member, { path: `${path}/stream` })
  expect(await watch.next()).toMatchObject({ event: 'session' })
  await owner.put(`/issues/${issue.id}`, { personal: true })
  expect(await watch.next()).toBeUndefined()
  expect((await member.get(`${path}/stream`)).status).toBe(404)
  expect(await (await Watch.as(owner, { path: `${path}/stream` })).next()).toMatchObject({
    event: 'session',
    data: { end_reason: 'team_removed' },
  })
})

test('nothing is read for a client that has disconnected', async ({ startApp }) => {
  const app = await startApp()
  const { member, path, session, robot } = await scene(app)
  // More than the buffers of a socket can hold.
  await app.ctx.db.run(sql`
    insert into agent_activities (session_id, seq, id, workspace_id, type, content, ephemeral, author_kind, author_id,
      created_at)
    select ${session.id}, n, 'act_' || lpad(n::text, 26, '0'), ${member.workspaceId}, 'thought',
      json_build_object('type', 'thought', 'body', repeat('x', 30000)), false, 'app', ${robot.userId}, ${app.clock.now()}
    from generate_series(1, 600) n`)
  let pages = 0
  const { rows } = app.ctx.db
  app.ctx.db.rows = (statement) => {
    if (/a\.seq > .* limit/s.test(statement.text)) pages++
    return rows.call(app.ctx.db, statement) as never
  }
  const watch = await Watch.as(member, { path: `${path}/stream` })
  watch.stopReading()
  while (pages === 0) await member.get(path)
  watch.close()
  for (let turn = 0; turn < 20; turn++) await member.get(path)
  const read = pages
  expect(read).toBeLessThan(50)
  await member.get(path)
  expect(pages).toBe(read)
})
