import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { sessionScene } from '../../test/agent-sessions.ts'
import { test, verifies } from '../../test/harness.ts'
import { ConfigError, readConfig } from '../config.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'

test('deletes audit entries after the set days, and none without a setting', {
  ...verifies('settings.retention-audit'),
}, async ({ startApp }) => {
  const [app, forever] = [await startApp({ BATON_AUDIT_DAYS: '30' }), await startApp()]
  for (const one of [app, forever]) {
    const { owner } = await one.workspace()
    const all = async () =>
      (await one.ctx.db.rows<{ id: string }>(sql`select id from audit_entries order by id`)).map(({ id }) => id)
    const old = await all()
    expect(old.length).toBeGreaterThan(0)
    one.clock.advance({ milliseconds: 1 })
    await owner.patch('/workspaces/me', { name: 'Renamed' })
    const [young] = (await all()).filter((id) => !old.includes(id))
    one.clock.advance({ days: 30, milliseconds: -1 })
    await sweep(one.ctx)
    expect(await all()).toEqual([...old, young].sort())
    one.clock.advance({ milliseconds: 1 })
    await sweep(one.ctx)
    expect(await all()).toEqual(one === app ? [young] : [...old, young].sort())
    one.clock.advance({ days: 3650 })
    await sweep(one.ctx)
    expect(await all()).toEqual(one === app ? [] : [...old, young].sort())
  }
})

test('deletes sessions at rest with their activities, and never one that is open', {
  ...verifies('settings.retention-sessions'),
}, async ({ startApp }) => {
  const app = await startApp({
    BATON_SESSION_DAYS: '30',
    BATON_STALE_AFTER: '31536000',
    BATON_STOPPING_TIMEOUT: '31536000',
  })
  const scene = await sessionScene(app)
  const { db } = app.ctx
  const inState = {
    pending: await scene.delegated(),
    active: await scene.delegated(),
    awaitingInput: await scene.delegated(),
    stopping: await scene.delegated(),
    complete: await scene.delegated(),
    error: await scene.delegated(),
    stale: await scene.delegated(),
    ended: await scene.delegated(),
  }
  await inState.active.say('thought')
  await inState.awaitingInput.say('elicitation')
  await inState.stopping.say('thought')
  await inState.complete.say('response')
  await inState.error.say('error')
  await inState.ended.say('thought')
  await inState.stopping.stop()
  await db.run(sql`update agent_sessions set state = 'stale' where id = ${inState.stale.id}`)
  await db.run(sql`update agent_sessions set ended_at = updated_at where id = ${inState.ended.id}`)
  const left = async () => {
    const ids = new Set((await db.rows<{ id: string }>(sql`select id from agent_sessions`)).map(({ id }) => id))
    return Object.entries(inState).flatMap(([name, { id }]) => (ids.has(id) ? [name] : []))
  }
  const states = await db.rows<{ state: string }>(sql`select distinct state from agent_sessions order by 1`)
  expect(states.map(({ state }) => state)).toEqual([
    'active',
    'awaitingInput',
    'complete',
    'error',
    'pending',
    'stale',
    'stopping',
  ])
  const { at } = (await db.row<{ at: string }>(sql`select max(updated_at) as at from agent_sessions`)) as { at: string }
  const restMs = new Date(at).getTime() - app.clock.now().getTime()
  app.clock.advance({ days: 30, milliseconds: restMs })
  await sweep(app.ctx)
  expect(await left()).toEqual(Object.keys(inState))
  app.clock.advance({ milliseconds: 1 })
  await sweep(app.ctx)
  expect(await left()).toEqual(['pending', 'active', 'awaitingInput', 'stopping'])
  expect(
    await db.rows(sql`
    select 1 from agent_activities where session_id not in (select id from agent_sessions)`),
  ).toEqual([])
  expect((await db.rows(sql`select 1 from agent_activities`)).length).toBeGreaterThan(0)
})

test('keeps sessions for ever without a setting', verifies('settings.retention-sessions'), async ({ startApp }) => {
  const app = await startApp()
  const scene = await sessionScene(app)
  await (await scene.delegated()).say('response')
  app.clock.advance({ days: 4000 })
  await sweep(app.ctx)
  expect(await app.ctx.db.rows(sql`select 1 from agent_sessions`)).toHaveLength(1)
})

test('deletes inbox entries that were read before the set days, and no unread one', async ({ startApp }) => {
  const app = await startApp({ BATON_INBOX_DAYS: '30' })
  const { owner, member } = await app.workspace()
  const issueFor = async (title: string) =>
    (await owner.post('/issues', { title, assignee_id: member.user.id })).body.id as string
  const [read, unread] = [await issueFor('Read'), await issueFor('Unread')]
  const { data } = (await member.get('/inbox')).body
  const entry = data.find((one: { subject_id: string }) => one.subject_id === read)
  expect((await member.patch(`/inbox/${entry.id}`, { read: true })).status).toBe(200)
  const left = async () =>
    (
      await app.ctx.db.rows<{ id: string }>(sql`
      select issue_id as id from inbox_entries where user_id = ${member.user.id} order by id`)
    ).map(({ id }) => id)
  app.clock.advance({ days: 30 })
  await sweep(app.ctx)
  expect(await left()).toEqual([read, unread])
  app.clock.advance({ milliseconds: 1 })
  await sweep(app.ctx)
  expect(await left()).toEqual([unread])
  expect(await app.ctx.db.rows(sql`select 1 from inbox_threads where subject_id = ${read}`)).toEqual([])
})

test('a retention is 0, or 30 to 3650 days', verifies('settings.retention-range'), () => {
  const key = randomBytes(32).toString('base64')
  for (const name of ['BATON_AUDIT_DAYS', 'BATON_SESSION_DAYS', 'BATON_INBOX_DAYS']) {
    const read = (value: string) => readConfig({ [name]: value, BATON_SECRET_KEY: key }).keepDays
    for (const value of ['0', '30', '3650']) expect(Object.values(read(value))).toContain(Number(value))
    for (const value of ['1', '29', '3651', '-1', '30.5', 'x']) {
      expect(() => read(value)).toThrow(new ConfigError(`${name} must be 0, or days from 30 to 3650`))
    }
  }
})
