import type { AgentFigures, AgentInsights } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { bringTo, conversation, everyScope, sessionScene } from '../../test/agent-sessions.ts'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { sweepSessions } from '../agent-sessions/retention.ts'
import { sql } from '../db/sql.ts'
import { outcomeOf } from './agent-days.ts'
import { refillInsights, rollUpDue } from './rollup.ts'

const read = async (person: TestPerson, query = ''): Promise<AgentInsights> => {
  const { status, body } = await person.get(`/insights/agents${query}`)
  expect(status).toBe(200)
  return body
}
/** Counts now, however new the figures are. */
async function roll({ ctx }: TestApp) {
  await ctx.db.run(sql`update insight_progress set as_of = as_of - interval '9 minutes'`)
  await rollUpDue(ctx)
}
const total = (figures: AgentFigures) =>
  figures.finished + figures.failed + figures.stopped + figures.stale + figures.waiting + figures.under_way

test(
  'sessions are counted by the day they were opened, each with one outcome',
  verifies('insight.agents'),
  async ({ app }) => {
    const scene = await sessionScene(app)
    const { owner, robot, team } = scene
    const day = (days: number) => new Date(app.clock.now().getTime() - days * 86_400_000).toISOString().slice(0, 10)
    const stale = await scene.delegated()
    await bringTo(app, stale, 'stale')
    for (const state of ['complete', 'complete', 'error', 'awaitingInput', 'active', 'pending', 'stopping'] as const) {
      await bringTo(app, await scene.delegated(), state)
    }
    // The agent asked twice, was answered and is done: asked once and finished.
    const answered = await scene.delegated()
    for (const answer of ['main', 'and again']) {
      await answered.say('elicitation')
      await answered.write(answer)
    }
    await answered.say('response')
    await robot.patch(answered.path, {
      usage: { input_tokens: 1000, output_tokens: 100, cost_micros: 2500, currency: 'USD' },
    })
    await roll(app)
    const today = await read(owner, `?from=${day(0)}&to=${day(0)}&by=day`)
    expect(today.periods).toHaveLength(1)
    const expected = {
      ...{ opened: 9, finished: 3, failed: 1, stopped: 1, stale: 1, waiting: 1, under_way: 2, asked: 2 },
      ...{ accepted: 0, sent_back: 0, input_tokens: 1000, output_tokens: 100 },
      costs: [{ currency: 'USD', cost_micros: 2500 }],
    }
    expect(today.periods[0]).toMatchObject({ from: day(0), to: day(0), figures: expected })
    expect(total(today.periods[0]?.figures as AgentFigures)).toBe(9)
    expect(today.agents).toMatchObject([{ agent: { id: robot.userId, name: robot.app.name }, figures: expected }])

    // The next day another session, and the outcome of an older one changes on its own day.
    app.clock.advance({ days: 1 })
    await answered.write('again')
    await bringTo(app, await scene.delegated(), 'complete')
    await roll(app)
    const both = await read(owner, `?from=${day(1)}&to=${day(0)}&by=day`)
    expect(both.periods.map(({ figures }) => [figures.opened, figures.finished, figures.under_way])).toEqual([
      [9, 2, 1],
      [1, 1, 0],
    ])
    expect(both.agents[0]?.figures.opened).toBe(10)
    // Filters; a team without sessions has none.
    expect((await read(owner, `?team_id=${team.id}&by=month`)).agents[0]?.figures.opened).toBe(10)
    for (const query of [`?team_id=${scene.otherTeam.id}`, '?team_id=elsewhere', '?agent_id=elsewhere']) {
      const { periods, agents } = await read(owner, query)
      expect([periods.reduce((sum, { figures }) => sum + figures.opened, 0), agents]).toEqual([0, []])
    }
    expect((await read(owner, `?agent_id=${robot.userId}`)).agents).toHaveLength(1)
  },
)

test('reviews are counted with the session that they are about', verifies('insight.agents'), async ({ app }) => {
  const scene = await sessionScene(app)
  const { owner, team } = scene
  await owner.put(`/teams/${team.id}/review`, { mode: 'on', accept_status: null })
  const session = await scene.delegated()
  const waiting = async () => (await owner.get(`/reviews?session_id=${session.id}`)).body.data[0].id
  await session.say('response')
  await owner.post(`/reviews/${await waiting()}/send-back`, { reason: 'Not yet' })
  await session.say('response')
  await owner.post(`/reviews/${await waiting()}/accept`, {})
  const other = await scene.delegated()
  await other.say('response')
  await roll(app)
  expect((await read(owner)).agents[0]?.figures).toMatchObject({ opened: 2, accepted: 1, sent_back: 1 })
})

test('an outcome is final after 15 days', verifies('insight.agents'), async ({ app }) => {
  const scene = await sessionScene(app)
  const session = await scene.delegated()
  await session.say('response')
  await roll(app)
  const day = app.clock.now().toISOString().slice(0, 10)
  const finished = async () => (await read(scene.owner, `?from=${day}&to=${day}`)).periods[0]?.figures
  app.clock.advance({ days: 14 })
  await session.say('error')
  await roll(app)
  expect(await finished()).toMatchObject({ opened: 1, failed: 1, finished: 0 })
  app.clock.advance({ days: 1 })
  await session.say('response')
  await roll(app)
  expect(await finished()).toMatchObject({ opened: 1, failed: 1, finished: 0 })
})

test('figures stay when their sessions are deleted', verifies('insight.agents'), async ({ startApp }) => {
  const app = await startApp({ BATON_SESSION_DAYS: '30' })
  const scene = await sessionScene(app)
  const sessions = () => app.ctx.db.rows(sql`select 1 from agent_sessions`)
  const day = app.clock.now().toISOString().slice(0, 10)
  const opened = () => app.ctx.db.row(sql`select opened from agent_days where day = ${day}::date`)
  await bringTo(app, await scene.delegated(), 'complete')
  await roll(app)
  const countedAt = app.clock.now()
  // The worker was down until the session was deleted.
  for (const milliseconds of [0, 1]) {
    app.clock.advance({ days: 30 * (1 - milliseconds), milliseconds })
    await sweepSessions(app.ctx.db, app.clock.now(), app.ctx)
    expect(await sessions()).toHaveLength(1 - milliseconds)
    await app.ctx.db.run(sql`update insight_progress set as_of = ${countedAt}`)
    await refillInsights(app.ctx.db, scene.id, app.clock.now())
    await roll(app)
    expect(await opened()).toEqual({ opened: 1 })
  }
})

test('an end without the agent leaves what the agent had said', verifies('insight.agents'), () => {
  expect(outcomeOf('complete', 'issue_deleted', null)).toBe('stopped')
  expect(outcomeOf('complete', 'issue_deleted', 'response')).toBe('finished')
  expect(outcomeOf('complete', 'uninstalled', 'error')).toBe('failed')
  expect(outcomeOf('error', 'stopped', 'error')).toBe('stopped')
})

test(
  'time to the first activity counts sessions that people opened',
  verifies('insight.durations'),
  async ({ app }) => {
    const scene = await sessionScene(app)
    const first = async () => (await read(scene.owner, '?by=month')).agents[0]?.figures.first_activity
    await scene.begun()
    await roll(app)
    expect(await first()).toBeNull()
    const seconds = [4, 30, 60, 90, 600]
    for (const wait of seconds) {
      const session = await scene.delegated()
      app.clock.advance({ seconds: wait })
      await session.say('thought')
    }
    await roll(app)
    const found = await first()
    expect(found?.count).toBe(5)
    expect(Math.abs((found?.p50_ms ?? 0) / 60_000 - 1)).toBeLessThanOrEqual(0.19)
    expect(Math.abs((found?.p90_ms ?? 0) / 600_000 - 1)).toBeLessThanOrEqual(0.19)
  },
)

describe('time to answer', () => {
  async function answers(app: TestApp, people: number, count: number) {
    const scene = await sessionScene(app)
    const persons = [scene.owner, scene.member, scene.admin, await scene.join('member')].slice(0, people)
    for (let index = 0; index < count; index++) {
      const { id } = await scene.delegated()
      const talk = conversation(scene.robot, persons[index % people] as TestPerson, id)
      await talk.say('elicitation')
      app.clock.advance({ minutes: 10 })
      expect((await talk.write('main')).status).toBe(201)
    }
    await roll(app)
    return { scene, report: await read(scene.owner, '?by=month') }
  }

  test('is null below 5 answers and below 3 people', verifies('insight.answer-time-privacy'), async ({ app }) => {
    for (const [people, count, shown] of [
      [3, 4, false],
      [2, 6, false],
      [3, 5, true],
    ] as const) {
      const { report } = await answers(app, people, count)
      const answer_time = report.agents[0]?.figures.answer_time
      expect(report.agents[0]?.figures.asked).toBe(count)
      expect(report.periods.at(-1)?.figures.answer_time).toEqual(answer_time)
      if (!shown) expect(answer_time).toBeNull()
      else {
        expect(answer_time?.count).toBe(count)
        expect(Math.abs((answer_time?.p50_ms ?? 0) / 600_000 - 1)).toBeLessThanOrEqual(0.19)
      }
    }
  })

  test('counts people over all days of a period', verifies('insight.answer-time-privacy'), async ({ app }) => {
    const scene = await sessionScene(app)
    for (const person of [scene.owner, scene.member, scene.admin, scene.owner, scene.member]) {
      const { id } = await scene.delegated()
      const talk = conversation(scene.robot, person, id)
      await talk.say('elicitation')
      await talk.write('main')
      app.clock.advance({ days: 1 })
    }
    await roll(app)
    const byDay = await read(scene.owner, `?from=${app.clock.now().toISOString().slice(0, 10).slice(0, 8)}01&by=day`)
    expect(byDay.periods.every(({ figures }) => figures.answer_time === null)).toBe(true)
    expect(byDay.agents[0]?.figures.answer_time?.count).toBe(5)
  })

  test('a stop is no answer', verifies('insight.answer-time-privacy'), async ({ app }) => {
    const scene = await sessionScene(app)
    const persons = [scene.owner, scene.member, scene.admin]
    for (let index = 0; index < 6; index++) {
      const { id } = await scene.delegated()
      const talk = conversation(scene.robot, persons[index % 3] as TestPerson, id)
      await talk.say('elicitation')
      if (index < 4) await talk.write('main')
      else await talk.stop()
    }
    await roll(app)
    expect((await read(scene.owner)).agents[0]?.figures).toMatchObject({ asked: 6, stopped: 2, answer_time: null })
  })
})

test(
  'no answer and no file names a person; personal agents are one row',
  verifies('insight.no-person'),
  async ({ app }) => {
    const scene = await sessionScene(app)
    const { owner, admin, member, robot, team } = scene
    const people = [owner, admin, member]
    for (const person of people) {
      const { body: agent } = await person.post('/agents/personal', {
        name: `Helper of ${person.user.display_name}`,
        instructions: 'Be brief.',
      })
      const { body: issue } = await person.post('/issues', { title: 'Mine', team_id: team.id })
      const opened = await person.post('/comments', {
        target_type: 'issue',
        target_id: issue.id,
        text: `@[Helper](${agent.id}) look`,
      })
      expect(opened.status).toBe(201)
    }
    const { id } = await scene.delegated()
    const talk = conversation(robot, owner, id)
    await talk.say('elicitation')
    await talk.write('main')
    // A session on a personal item is its owner's alone.
    await app.ctx.db.run(sql`
    insert into agent_sessions (id, workspace_id, agent_id, creator_id, opened_by_agent, state, quiet_since, created_at,
      updated_at, personal_of)
    values ('sess_private', ${owner.workspaceId}, ${robot.userId}, ${owner.user.id}, false, 'active', ${app.clock.now()},
      ${app.clock.now()}, ${app.clock.now()}, ${owner.user.id})`)
    await roll(app)
    const report = await read(owner)
    expect(report.agents.map(({ agent, figures }) => [agent?.id ?? null, figures.opened])).toEqual([
      [null, 3],
      [robot.userId, 1],
    ])
    expect((await read(owner, '?agent_id=personal')).agents).toMatchObject([{ agent: null, figures: { opened: 3 } }])
    const shown = [
      JSON.stringify(report),
      (await owner.get('/insights/agents/export')).body,
      JSON.stringify((await owner.get('/insights/flow')).body),
      (await owner.get('/insights/flow/export')).body,
      JSON.stringify((await owner.get('/insights/deliveries')).body),
    ]
    const stored = await app.ctx.db.rows<{ row: string }>(sql`
    select to_jsonb(d)::text as row from agent_days d union all select to_jsonb(d)::text from flow_days d`)
    for (const { user } of people) {
      for (const text of [...shown, ...stored.map(({ row }) => row)]) {
        for (const value of [user.id, user.display_name, user.email]) expect(text).not.toContain(value)
      }
      // Nor is there a filter for one: a person's id finds no session, and no other key is known.
      expect((await read(owner, `?agent_id=${user.id}`)).agents).toEqual([])
    }
    for (const key of ['user_id', 'assignee_id', 'creator_id']) {
      expect((await owner.get(`/insights/agents?${key}=${owner.user.id}`)).status).toBe(422)
    }
  },
)

test('50 agents at most, those with most sessions', verifies('insight.agents'), async ({ app }) => {
  const { owner } = await app.workspace()
  const now = app.clock.now()
  for (let index = 0; index < 52; index++) {
    const agent = await app.agent(owner.workspaceId)
    await app.ctx.db.run(sql`
      insert into agent_sessions (id, workspace_id, agent_id, creator_id, opened_by_agent, state, quiet_since, created_at,
        updated_at)
      select 'sess_' || ${agent} || n, ${owner.workspaceId}, ${agent}, ${owner.user.id}, false, 'complete', ${now}, ${now},
        ${now}
      from generate_series(0, ${index}::int) n`)
  }
  await roll(app)
  const { agents, periods } = await read(owner)
  expect(agents.map(({ figures }) => figures.opened)).toEqual(Array.from({ length: 50 }, (_, index) => 52 - index))
  expect(periods.at(-1)?.figures.opened).toBe((52 * 53) / 2)
})

test(
  'agent and delivery insights are for managers, the others for every member',
  verifies('insight.managers-only'),
  async ({ app }) => {
    const { owner, admin, member } = await app.workspace()
    const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    const { body: cycle } = await owner.post('/cycles', { name: 'Week 1', team_id: team.id })
    for (const path of ['agents', 'agents/export', 'deliveries']) {
      for (const manager of [owner, admin]) expect((await manager.get(`/insights/${path}`)).status).toBe(200)
      expect(await app.unchanged(() => member.get(`/insights/${path}`))).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN' },
      })
    }
    for (const path of ['flow', 'flow/export', `cycles/${cycle.id}`]) {
      for (const person of [owner, admin, member]) expect((await person.get(`/insights/${path}`)).status).toBe(200)
    }
    const robot = await app.installed(owner, { scopes: everyScope })
    expect((await robot.get('/insights/flow')).body.code).toBe('SESSION_ONLY_ROUTE')
  },
)
