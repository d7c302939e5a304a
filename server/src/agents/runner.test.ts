import { expect } from 'vitest'
import { done } from '../../test/delegation.ts'
import { test } from '../../test/harness.ts'
import { insideScene, typesOf } from '../../test/inside-agents.ts'
import { workBell } from '../agent-sessions/hand-over.ts'
import { sql } from '../db/sql.ts'
import { Wakeups } from '../relay/wakeups.ts'
import type { Mind } from './mind.ts'
import { AgentRunner } from './runner.ts'

/** Begins to work and goes on until it is told to stop. */
const endless = () => {
  let begun = () => {}
  const working = new Promise<void>((resolve) => {
    begun = resolve
  })
  const mind: Mind = {
    async work(_, hands) {
      await hands.thought('begun', 'I begin.')
      begun()
      await new Promise((resolve) => hands.aborted.addEventListener('abort', resolve))
      // Whoever is told to stop waits for nothing more.
      await hands.pause(60_000)
    },
  }
  return { mind, working }
}

test('Stop ends what is under way, with a last word', async ({ app }) => {
  const { member, builtIn, issueOf, sessionOn, said } = await insideScene(app)
  const { mind, working } = endless()
  const runner = new AgentRunner(app.ctx, app.door, new Wakeups(app.ctx.db, app.ctx.log, 'work'), mind)
  const issue = await issueOf({ delegate_id: builtIn })
  const drained = runner.drain()
  await working
  const session = await sessionOn(issue)
  await done(member.post(`/agent-sessions/${session.id}/stop`))
  await runner.renew()
  await drained
  expect(await sessionOn(issue)).toMatchObject({
    state: 'complete',
    end_reason: 'stopped',
    ended_at: expect.any(String),
  })
  expect(typesOf(await said(session))).toEqual(['thought', 'prompt', 'response'])
  expect(await app.ctx.db.rows(sql`select 1 from agent_work`)).toEqual([])
})

test('a session that waits says its last word when it is stopped or taken away', async ({ app }) => {
  const { member, builtIn, issueOf, sessionOn, said } = await insideScene(app)
  const issue = await issueOf({ delegate_id: builtIn })
  await app.work()
  await done(member.put(`/issues/${issue.id}`, { delegate_id: null }))
  expect(await sessionOn(issue)).toMatchObject({ state: 'stopping', end_reason: 'undelegated' })
  await app.work()
  const session = await sessionOn(issue)
  expect(session).toMatchObject({ state: 'complete', end_reason: 'undelegated', ended_at: expect.any(String) })
  expect((await said(session)).at(-1)).toMatchObject({ type: 'response' })
})

test('work whose worker is gone is taken over when its lease ends, and nothing is said twice', async ({ app }) => {
  const { builtIn, issueOf, sessionOn, said } = await insideScene(app)
  const issue = await issueOf({ delegate_id: builtIn, type: 'bug' })
  let [begun, wake] = [() => {}, () => {}]
  const asleep = new Promise<void>((resolve) => {
    begun = resolve
  })
  const slept = new Promise<void>((resolve) => {
    wake = resolve
  })
  const sleeper = new AgentRunner(app.ctx, app.door, new Wakeups(app.ctx.db, app.ctx.log, 'work'), {
    async work(_, hands) {
      await hands.action('read', 'Read', 'something', 'else')
      await hands.thought('begun', 'I begin.')
      begun()
      await slept
      await hands.thought('late', 'Where was I?')
    },
  })
  const drained = sleeper.drain()
  await asleep
  await app.work()
  expect(typesOf(await said(await sessionOn(issue)))).toEqual(['action', 'thought'])
  app.clock.advance({ seconds: 10 })
  await app.work()
  const session = await sessionOn(issue)
  expect(session.state).toBe('complete')
  // Its reading was said by the one before.
  expect(typesOf(await said(session))).toEqual(['action', 'thought', 'action', 'action', 'action', 'response'])
  // It wakes up before it is told that the work is somebody else's.
  wake()
  await drained
  expect(await said(session)).toHaveLength(6)
  expect(await app.ctx.db.rows(sql`select 1 from agent_work`)).toEqual([])
})

test('a mind that fails is tried again, and at last says so', async ({ app }) => {
  const { builtIn, issueOf, sessionOn, said } = await insideScene(app)
  const issue = await issueOf({ delegate_id: builtIn })
  let tries = 0
  const broken: Mind = {
    async work() {
      tries++
      throw new Error('no idea')
    },
  }
  for (let round = 0; round < 5; round++) {
    await app.work(broken)
    app.clock.advance({ minutes: 1 })
  }
  expect(tries).toBe(3)
  const session = await sessionOn(issue)
  expect(session.state).toBe('error')
  expect(await said(session)).toMatchObject([{ type: 'error', content: { reason_code: 'internal_error' } }])
})

const onPostgres = Boolean(process.env.DATABASE_URL)

test.skipIf(!onPostgres)(
  'another node hears of work, and takes over from one that is gone',
  async ({ app, startApp }) => {
    const { builtIn, issueOf, sessionOn, said } = await insideScene(app)
    const node = await startApp({}, app)
    const wakeups = new Wakeups(node.ctx.db, node.ctx.log, 'work')
    let rang = () => {}
    const heard = new Promise<void>((resolve) => {
      rang = resolve
    })
    wakeups.on(workBell, () => rang())
    const { mind, working } = endless()
    const gone = new AgentRunner(app.ctx, app.door, new Wakeups(app.ctx.db, app.ctx.log, 'work'), mind)
    const issue = await issueOf({ delegate_id: builtIn, type: 'bug' })
    await heard
    const drained = gone.drain()
    await working
    const other = new AgentRunner(node.ctx, node.door, wakeups)
    await other.drain()
    expect(typesOf(await said(await sessionOn(issue)))).toEqual(['thought'])
    app.clock.advance({ seconds: 10 })
    await Promise.all([other.drain(), other.drain(), new AgentRunner(node.ctx, node.door, wakeups).drain()])
    const session = await sessionOn(issue)
    expect(session.state).toBe('complete')
    expect(typesOf(await said(session))).toEqual(['thought', 'action', 'action', 'action', 'action', 'response'])
    await gone.renew()
    await drained
    await wakeups.stop()
  },
)
