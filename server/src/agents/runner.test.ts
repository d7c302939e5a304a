import { expect } from 'vitest'
import { done } from '../../test/delegation.ts'
import { test } from '../../test/harness.ts'
import { insideScene, typesOf } from '../../test/inside-agents.ts'
import { workWakeup } from '../agent-sessions/work-queue.ts'
import { sql } from '../db/sql.ts'
import { Wakeups } from '../relay/wakeups.ts'
import type { AgentStrategy } from './agent-strategy.ts'
import { AgentRunner } from './runner.ts'

/** Works until it is aborted. */
const endless = () => {
  let begun = () => {}
  const working = new Promise<void>((resolve) => {
    begun = resolve
  })
  const strategy: AgentStrategy = {
    async work(_, session) {
      await session.thought('begun', 'I begin.')
      begun()
      await new Promise((resolve) => session.aborted.addEventListener('abort', resolve))
      // Rejects at once after an abort.
      await session.pause(60_000)
    },
  }
  return { strategy, working }
}

test('Stop aborts work in progress, and the agent posts a final response', async ({ app }) => {
  const { member, builtIn, createIssue, sessionOn, readActivities } = await insideScene(app)
  const { strategy, working } = endless()
  const runner = new AgentRunner(app.ctx, app.door, new Wakeups(app.ctx.db, app.ctx.log, 'work'), strategy)
  const issue = await createIssue({ delegate_id: builtIn })
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
  expect(typesOf(await readActivities(session))).toEqual(['thought', 'prompt', 'response'])
  expect(await app.ctx.db.rows(sql`select 1 from agent_work`)).toEqual([])
})

test('an idle session posts a final response when the issue is undelegated', async ({ app }) => {
  const { member, builtIn, createIssue, sessionOn, readActivities } = await insideScene(app)
  const issue = await createIssue({ delegate_id: builtIn })
  await app.work()
  await done(member.put(`/issues/${issue.id}`, { delegate_id: null }))
  expect(await sessionOn(issue)).toMatchObject({ state: 'stopping', end_reason: 'undelegated' })
  await app.work()
  const session = await sessionOn(issue)
  expect(session).toMatchObject({ state: 'complete', end_reason: 'undelegated', ended_at: expect.any(String) })
  expect((await readActivities(session)).at(-1)).toMatchObject({ type: 'response' })
})

test('another worker takes over work after its lease expires, and no activity is posted twice', async ({ app }) => {
  const { builtIn, createIssue, sessionOn, readActivities } = await insideScene(app)
  const issue = await createIssue({ delegate_id: builtIn, type: 'bug' })
  let [begun, wake] = [() => {}, () => {}]
  const asleep = new Promise<void>((resolve) => {
    begun = resolve
  })
  const slept = new Promise<void>((resolve) => {
    wake = resolve
  })
  const sleeper = new AgentRunner(app.ctx, app.door, new Wakeups(app.ctx.db, app.ctx.log, 'work'), {
    async work(_, session) {
      await session.action('read', 'Read', 'something', 'else')
      await session.thought('begun', 'I begin.')
      begun()
      await slept
      await session.thought('late', 'Where was I?')
    },
  })
  const drained = sleeper.drain()
  await asleep
  await app.work()
  expect(typesOf(await readActivities(await sessionOn(issue)))).toEqual(['action', 'thought'])
  app.clock.advance({ seconds: 10 })
  await app.work()
  const session = await sessionOn(issue)
  expect(session.state).toBe('complete')
  // The first attempt posted the action `read`.
  expect(typesOf(await readActivities(session))).toEqual([
    'action',
    'thought',
    'action',
    'action',
    'action',
    'response',
  ])
  // It resumes before it learns that it lost the claim.
  wake()
  await drained
  expect(await readActivities(session)).toHaveLength(6)
  expect(await app.ctx.db.rows(sql`select 1 from agent_work`)).toEqual([])
})

test('failing work is retried, and after three attempts the session fails', async ({ app }) => {
  const { builtIn, createIssue, sessionOn, readActivities } = await insideScene(app)
  const issue = await createIssue({ delegate_id: builtIn })
  let tries = 0
  const broken: AgentStrategy = {
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
  expect(await readActivities(session)).toMatchObject([{ type: 'error', content: { reason_code: 'internal_error' } }])
})

const onPostgres = Boolean(process.env.DATABASE_URL)

test.skipIf(!onPostgres)(
  'another node is notified of work, and takes over from a node that stopped',
  async ({ app, startApp }) => {
    const { builtIn, createIssue, sessionOn, readActivities } = await insideScene(app)
    const node = await startApp({}, app)
    const wakeups = new Wakeups(node.ctx.db, node.ctx.log, 'work')
    let wake = () => {}
    const woken = new Promise<void>((resolve) => {
      wake = resolve
    })
    wakeups.on(workWakeup, () => wake())
    const { strategy, working } = endless()
    const gone = new AgentRunner(app.ctx, app.door, new Wakeups(app.ctx.db, app.ctx.log, 'work'), strategy)
    const issue = await createIssue({ delegate_id: builtIn, type: 'bug' })
    await woken
    const drained = gone.drain()
    await working
    const other = new AgentRunner(node.ctx, node.door, wakeups)
    await other.drain()
    expect(typesOf(await readActivities(await sessionOn(issue)))).toEqual(['thought'])
    app.clock.advance({ seconds: 10 })
    await Promise.all([other.drain(), other.drain(), new AgentRunner(node.ctx, node.door, wakeups).drain()])
    const session = await sessionOn(issue)
    expect(session.state).toBe('complete')
    expect(typesOf(await readActivities(session))).toEqual([
      'thought',
      'action',
      'action',
      'action',
      'action',
      'response',
    ])
    await gone.renew()
    await drained
    await wakeups.stop()
  },
)
