import type { UsageReport } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { invalid, refusal, type SessionScene, sessionScene } from '../../test/agent-sessions.ts'
import { test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { afterReport } from './usage.ts'

const usageOf = async ({ member, robot }: SessionScene) => (await member.get(`/agent-apps/${robot.app.id}/usage`)).body

describe('a report of usage', () => {
  test('sets the totals of the session', verifies('usage.set-on-session'), async ({ app }) => {
    const { delegated } = await sessionScene(app)
    const session = await delegated()
    const report = async (usage: UsageReport) => {
      app.clock.advance({ seconds: 1 })
      const { status, body } = await session.change({ usage })
      expect({ status, body }).toEqual({ status: 200, body: await session.get() })
      return body.usage
    }
    const nothing = { model: null, input_tokens: null, output_tokens: null, cost_micros: null, currency: null }
    const at = () => ({ reported_at: app.clock.now().toISOString() })
    expect(await report({})).toEqual({ ...nothing, ...at() })
    expect(await report({ input_tokens: 7 })).toEqual({ ...nothing, input_tokens: 7, ...at() })
    const whole = { model: 'qwen3', input_tokens: 1e15, output_tokens: 0, cost_micros: 1e15, currency: 'USD' }
    expect(await report(whole)).toEqual({ ...whole, ...at() })
    // The same again is a new report. Keys left out keep their value, and the model may change.
    expect(await report(whole)).toEqual({ ...whole, ...at() })
    expect(await report({ model: null })).toEqual({ ...whole, model: null, ...at() })
    expect(await session.get()).toMatchObject({ state: 'pending', plan: [] })
  })

  test('with a bad value is refused', verifies('usage.set-on-session'), async ({ app }) => {
    const { delegated, member } = await sessionScene(app)
    const session = await delegated()
    const usage = { model: 'qwen3', input_tokens: 10, output_tokens: 10, cost_micros: 10, currency: 'USD' }
    await session.change({ usage })
    const bad: [field: string, usage: unknown][] = [
      ...(['input_tokens', 'output_tokens', 'cost_micros'] as const).flatMap((key): [string, unknown][] =>
        [9, null, -1, 10.5, 1e15 + 1, '11'].map((value) => [key, { [key]: value }]),
      ),
      ...['EUR', 'usd', null, '', 'US1', 'x'.repeat(17)].map((currency): [string, unknown] => [
        'currency',
        { currency },
      ]),
      ['model', { model: '' }],
      ['model', { model: 'x'.repeat(201) }],
      ['reported_at', { reported_at: '2026-03-02T09:00:00.000Z' }],
    ]
    await app.unchanged(async () => {
      for (const [field, usage] of bad) {
        const answer = await session.change({ usage })
        expect(answer, JSON.stringify(usage)).toMatchObject(invalid)
        expect(Object.keys(answer.body.details), JSON.stringify(usage)).toEqual([`usage.${field}`])
      }
      // Nothing of a request is stored if a part of it is refused.
      const plan = [{ content: 'Look', status: 'pending' }]
      expect(await session.change({ plan, usage: { input_tokens: 1 } })).toMatchObject(invalid)
      for (const usage of [null, 5, []]) expect(await session.change({ usage })).toMatchObject(invalid)
      expect(await member.patch(session.path, { usage })).toMatchObject(refusal(403, 'FORBIDDEN'))
    })
    await session.stop()
    await session.change({ usage: { input_tokens: 11 } })
    await session.say('response')
    expect(await app.unchanged(() => session.change({ usage: { input_tokens: 12 } }))).toMatchObject(
      refusal(409, 'SESSION_ENDED'),
    )
  })

  test('may name the currency later than the cost', () => {
    const now = new Date('2026-03-02T09:00:00.000Z')
    const first = afterReport(null, { cost_micros: 5 }, now)
    expect(afterReport(first, { currency: 'USD' }, now)).toMatchObject({ cost_micros: 5, currency: 'USD' })
    expect(() => afterReport(first, { cost_micros: null }, now)).toThrow()
  })
})

test(
  'sums what reports add by app and UTC month, each currency apart',
  verifies('usage.month-totals'),
  async ({ startApp }) => {
    const app = await startApp()
    const scene = await sessionScene(app)
    expect(await usageOf(scene)).toEqual({ data: [], budget: null, month_reached: false })
    const month = app.clock.now().toISOString().slice(0, 7)
    const [one, two] = [await scene.delegated(), await scene.delegated()]
    await one.change({ usage: { input_tokens: 10, output_tokens: 1, cost_micros: 100, currency: 'USD' } })
    await one.change({ usage: { input_tokens: 15 } })
    await two.change({ usage: { cost_micros: 7 } })
    await two.change({ usage: { cost_micros: 9, currency: 'EUR' } })
    const first = {
      month,
      sessions: 2,
      input_tokens: 15,
      output_tokens: 1,
      costs: [
        { currency: 'EUR', cost_micros: 9 },
        { currency: 'USD', cost_micros: 100 },
      ],
    }
    expect((await usageOf(scene)).data).toEqual([first])
    // To the first millisecond of the next month. The session counts there with what it adds.
    const [year = 0, number = 0] = month.split('-').map(Number)
    const next = new Date(Date.UTC(year, number, 1))
    app.clock.advance({ milliseconds: next.getTime() - app.clock.now().getTime() })
    await one.change({ usage: { input_tokens: 20, cost_micros: 130 } })
    const second = {
      month: next.toISOString().slice(0, 7),
      sessions: 1,
      input_tokens: 5,
      output_tokens: 0,
      costs: [{ currency: 'USD', cost_micros: 30 }],
    }
    expect((await usageOf(scene)).data).toEqual([second, first])
    const elsewhere = await app.workspace()
    expect(await elsewhere.owner.get(`/agent-apps/${scene.robot.app.id}/usage`)).toMatchObject({ status: 404 })
  },
)

test('shows the last twelve months, and sums that stay exact numbers', async ({ app }) => {
  const scene = await sessionScene(app)
  const { id: workspaceId, robot } = scene
  for (let month = 1; month <= 12; month++) {
    await app.ctx.db.run(sql`
      insert into app_usage (app_id, month, workspace_id, sessions, input_tokens, output_tokens, costs)
      values (${robot.app.id}, ${`2025-${String(month).padStart(2, '0')}`}, ${workspaceId}, 1, 1, 1, '{}')`)
  }
  for (let count = 0; count < 10; count++) {
    const session = await scene.delegated()
    await session.change({ usage: { input_tokens: 1e15, cost_micros: 1e15, currency: 'USD' } })
  }
  const { data } = await usageOf(scene)
  const months = data.map(({ month }: { month: string }) => month)
  expect([months.length, months[0], months[1], months[11]]).toEqual([12, '2026-03', '2025-12', '2025-02'])
  expect(data[0]).toMatchObject({
    sessions: 10,
    input_tokens: Number.MAX_SAFE_INTEGER,
    costs: [{ currency: 'USD', cost_micros: Number.MAX_SAFE_INTEGER }],
  })
})
