import type { AppBudget } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { refusal, type SessionScene, sessionScene } from '../../test/agent-sessions.ts'
import { eventsOf } from '../../test/events.ts'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { Watch } from '../../test/watch.ts'
import { limitsOfMonth, limitsOfSession } from '../installations/budget.ts'

const noLimits: AppBudget = {
  currency: null,
  session_cost_micros: null,
  month_cost_micros: null,
  session_tokens: null,
  month_tokens: null,
}
const pathOf = ({ robot }: SessionScene) => `/agent-apps/${robot.app.id}`
const setBudget = (scene: SessionScene, budget: Partial<AppBudget>, by = scene.owner) =>
  by.put(`${pathOf(scene)}/budget`, { ...noLimits, ...budget })
const usageOf = async (scene: SessionScene) => (await scene.member.get(`${pathOf(scene)}/usage`)).body
const reached = (limit: 'session' | 'month', unit: string, allowed: number, used: number, currency: string | null) =>
  refusal(409, 'BUDGET_REACHED', { limit, unit, allowed, used, currency })
const entriesOf = async (person: TestPerson): Promise<{ subject_id: string; title: string; url: string }[]> =>
  (await person.get('/inbox')).body.data.filter(({ kind }: { kind: string }) => kind === 'budget_reached')

/** Refused calls store nothing and record no event. */
const nothingSent = (app: TestApp, { id }: SessionScene, work: () => Promise<void>) =>
  app.unchanged(async () => expect(await eventsOf(app, id, work)).toEqual([]))

describe('the budget of an app', () => {
  test('is set by managers, and is in the audit log', verifies('usage.budget-managers-only'), async ({ app }) => {
    const scene = await sessionScene(app)
    const { owner, admin, member, robot } = scene
    const budget = { ...noLimits, currency: 'USD', session_cost_micros: 5_000_000, month_tokens: 1e15 }
    const elsewhere = (await app.workspace()).owner
    await app.unchanged(async () => {
      expect(await setBudget(scene, budget, member)).toMatchObject(refusal(403, 'FORBIDDEN'))
      expect(await robot.put(`${pathOf(scene)}/budget`, budget)).toMatchObject(refusal(403, 'SESSION_ONLY_ROUTE'))
      expect(await setBudget(scene, budget, elsewhere)).toMatchObject(refusal(404, 'RESOURCE_NOT_FOUND'))
    })
    const bad: [field: string, body: object][] = [
      ['currency', { ...noLimits, session_cost_micros: 1 }],
      ['currency', { ...noLimits, month_cost_micros: 0 }],
      ['currency', { ...noLimits, currency: 'U$' }],
      ['session_tokens', { ...noLimits, session_tokens: -1 }],
      ['month_tokens', { ...noLimits, month_tokens: 1e15 + 1 }],
      ['month_tokens', { ...noLimits, month_tokens: undefined }],
      ['day_tokens', { ...noLimits, day_tokens: 1 }],
    ]
    await app.unchanged(async () => {
      for (const [field, body] of bad) {
        const answer = await owner.put(`${pathOf(scene)}/budget`, body)
        expect(answer).toMatchObject(refusal(422, 'VALIDATION_ERROR'))
        expect(Object.keys(answer.body.details)).toEqual([field])
      }
    })
    for (const manager of [owner, admin]) {
      expect(await setBudget(scene, budget, manager)).toMatchObject({ status: 200, body: budget })
    }
    expect(await usageOf(scene)).toEqual({ data: [], budget, month_reached: false })
    const { data } = (await owner.get('/audit-log?action=app.budget_set')).body
    expect(data).toMatchObject([
      {
        actor: { id: owner.user.id },
        subject_id: robot.app.id,
        details: {
          changes: {
            currency: { from: null, to: 'USD' },
            session_cost_micros: { from: null, to: 5_000_000 },
            month_tokens: { from: null, to: 1e15 },
          },
        },
      },
    ])
  })

  test('counts costs in its currency, and input and output tokens together', () => {
    const usage = { model: null, input_tokens: 6, output_tokens: 4, cost_micros: 10, currency: 'USD', reported_at: '' }
    const of = (budget: Partial<AppBudget>) => ({ budget: { ...noLimits, ...budget }, month: null })
    const units = (budget: Partial<AppBudget>) => limitsOfSession(of(budget), usage).map(({ unit }) => unit)
    expect(units({})).toEqual([])
    expect(units({ session_tokens: 11 })).toEqual([])
    expect(units({ session_tokens: 10 })).toEqual(['tokens'])
    expect(units({ currency: 'USD', session_cost_micros: 11, session_tokens: 10 })).toEqual(['tokens'])
    expect(units({ currency: 'USD', session_cost_micros: 10, session_tokens: 9 })).toEqual(['cost_micros', 'tokens'])
    expect(units({ currency: 'EUR', session_cost_micros: 1 })).toEqual([])
    const month = { tokens: 10, costs: { USD: 10, EUR: 3 } }
    const inMonth = (budget: Partial<AppBudget>) => limitsOfMonth({ ...of(budget), month }).map(({ used }) => used)
    expect(inMonth({ month_tokens: 11, currency: 'USD', month_cost_micros: 11 })).toEqual([])
    expect(inMonth({ month_tokens: 10, currency: 'EUR', month_cost_micros: 3 })).toEqual([3, 10])
    expect(inMonth({ session_tokens: 1 })).toEqual([])
  })
})

test(
  'a session at its limit takes no message, others do',
  verifies('usage.session-limit-refuses-messages', 'usage.limit-leaves-stop-and-app', 'usage.limit-lifted'),
  async ({ app }) => {
    const scene = await sessionScene(app)
    await setBudget(scene, { currency: 'USD', session_cost_micros: 100 })
    const [session, other] = [await scene.delegated(), await scene.delegated()]
    await session.change({ usage: { cost_micros: 99, currency: 'USD' } })
    expect((await session.write('Go on')).status).toBe(201)
    await session.change({ usage: { cost_micros: 101 } })
    expect(await session.get()).toMatchObject({ budget_reached: 'session' })
    await nothingSent(app, scene, async () => {
      expect(await session.write('Go on')).toMatchObject(reached('session', 'cost_micros', 100, 101, 'USD'))
    })
    expect(await other.get()).toMatchObject({ budget_reached: null })
    expect((await other.write('Go on')).status).toBe(201)
    expect((await scene.newIssue({ delegate_id: scene.robot.userId })).delegate_id).toBe(scene.robot.userId)
    // The app goes on, and an answer to its question is a message too.
    for (const type of ['thought', 'action', 'elicitation'] as const) expect((await session.say(type)).status).toBe(201)
    expect((await session.write('main')).status).toBe(409)
    await setBudget(scene, { currency: 'USD', session_cost_micros: 102 })
    expect(await session.get()).toMatchObject({ budget_reached: null })
    expect((await session.write('main')).status).toBe(201)
    await setBudget(scene, { currency: 'USD', session_cost_micros: 101 })
    expect((await session.stop()).status).toBe(200)
    expect((await session.say('response')).status).toBe(201)
    expect(await session.write('More')).toMatchObject(refusal(409, 'SESSION_ENDED'))
  },
)

test('a reply in the thread of a session at its limit stays a comment', async ({ app }) => {
  const scene = await sessionScene(app)
  await setBudget(scene, { session_tokens: 10 })
  const issue = await scene.newIssue()
  const session = await scene.mentioned(issue)
  await session.change({ usage: { input_tokens: 10 } })
  const before = await session.activities()
  const reply = await scene.comment(issue, 'And?', { parent_comment_id: session.comment.id })
  expect(reply.text).toBe('And?')
  expect(await session.activities()).toEqual(before)
})

test(
  'an app at its limit of the month takes no work',
  verifies('usage.month-limit-refuses-work', 'usage.limit-leaves-stop-and-app', 'usage.limit-lifted'),
  async ({ startApp }) => {
    const app = await startApp()
    const scene = await sessionScene(app)
    const { robot, member, owner, team } = scene
    const issue = await scene.newIssue()
    const thread = await scene.mentioned(issue)
    const [session, other] = [await scene.delegated(), await scene.delegated()]
    await setBudget(scene, { month_tokens: 100 })
    await session.change({ usage: { input_tokens: 60 } })
    await other.change({ usage: { output_tokens: 39 } })
    expect((await session.write('Go on')).status).toBe(201)
    await other.change({ usage: { output_tokens: 40 } })

    const refused = reached('month', 'tokens', 100, 100, null)
    expect(await usageOf(scene)).toMatchObject({ month_reached: true })
    for (const one of [session, other, thread]) expect(await one.get()).toMatchObject({ budget_reached: 'month' })
    const choice = (await member.get(`/users/select?team_id=${team.id}&query=${encodeURIComponent(robot.app.name)}`))
      .body
    expect(choice.data).toMatchObject([{ available: false, unavailable_reason: 'app_budget_reached' }])
    const unavailable = (reason: string) => refusal(422, 'DELEGATE_UNAVAILABLE', { reason })
    await nothingSent(app, scene, async () => {
      for (const one of [session, other, thread]) expect(await one.write('Go on')).toMatchObject(refused)
      expect(await robot.post('/agent-sessions', { issue_id: issue.id })).toMatchObject(refused)
      expect(await robot.post('/agent-sessions', { comment_id: thread.comment.id })).toMatchObject(refused)
      expect(await member.put(`/issues/${issue.id}`, { delegate_id: robot.userId })).toMatchObject(
        unavailable('app_budget_reached'),
      )
    })
    // Other reasons come first.
    await owner.post(`${pathOf(scene)}/webhook/disable`)
    expect(await member.put(`/issues/${issue.id}`, { delegate_id: robot.userId })).toMatchObject(
      unavailable('app_webhook_disabled'),
    )
    await owner.post(`${pathOf(scene)}/webhook/enable`)

    const sessions = async () => (await robot.get('/agent-sessions')).body.data.length
    const [count, said] = [await sessions(), await thread.activities()]
    const mention = await scene.comment(issue, `@[Robot](${robot.userId}) look`)
    const reply = await scene.comment(issue, 'And?', { parent_comment_id: thread.comment.id })
    expect([mention.mentioned_user_ids, reply.text]).toEqual([[robot.userId], 'And?'])
    expect([await sessions(), await thread.activities()]).toEqual([count, said])
    expect((await session.say('thought')).status).toBe(201)
    expect((await session.change({ usage: { input_tokens: 70 } })).status).toBe(200)
    expect((await other.stop()).status).toBe(200)

    await setBudget(scene, { month_tokens: 111 })
    expect((await session.write('Go on')).status).toBe(201)
    await session.change({ usage: { input_tokens: 71 } })
    expect(await session.write('Go on')).toMatchObject(reached('month', 'tokens', 111, 111, null))
    const next = Date.parse('2026-04-01T00:00:00.000Z')
    app.clock.advance({ milliseconds: next - app.clock.now().getTime() - 1 })
    expect((await session.write('Go on')).status).toBe(409)
    app.clock.advance({ milliseconds: 1 })
    expect((await session.write('Go on')).status).toBe(201)
    expect(await usageOf(scene)).toMatchObject({ month_reached: false })
    expect((await member.put(`/issues/${issue.id}`, { delegate_id: robot.userId })).status).toBe(200)
  },
)

test(
  'managers are notified once of each limit and session or month',
  verifies('usage.managers-told-once'),
  async ({ app }) => {
    const scene = await sessionScene(app)
    const { owner, admin, member, robot } = scene
    await setBudget(scene, { currency: 'USD', session_cost_micros: 10, session_tokens: 10, month_tokens: 25 })
    const [one, two] = [await scene.delegated({ title: 'One' }), await scene.delegated({ title: 'Two' })]
    await one.change({ usage: { cost_micros: 9, currency: 'USD' } })
    expect(await entriesOf(owner)).toEqual([])
    await one.change({ usage: { cost_micros: 10 } })
    await one.change({ usage: { cost_micros: 11 } })
    const ofOne = { subject_id: one.id, title: 'One', actor: { id: robot.userId } }
    for (const manager of [owner, admin]) expect(await entriesOf(manager)).toMatchObject([ofOne])
    // Another limit of the same session, and another session.
    await one.change({ usage: { input_tokens: 10 } })
    await two.change({ usage: { input_tokens: 12 } })
    expect(await entriesOf(owner)).toMatchObject([{ subject_id: two.id }, ofOne, ofOne])
    await two.change({ usage: { input_tokens: 15 } })
    await two.change({ usage: { input_tokens: 16 } })
    const ofMonth = { subject_id: robot.app.id, title: robot.app.name }
    for (const manager of [owner, admin]) {
      expect(await entriesOf(manager)).toMatchObject([ofMonth, { subject_id: two.id }, ofOne, ofOne])
    }
    // A higher limit is another one. The manager who sets a limit below the use needs no entry.
    await setBudget(scene, { month_tokens: 28 })
    await two.change({ usage: { input_tokens: 18 } })
    expect(await entriesOf(owner)).toHaveLength(5)
    await setBudget(scene, { month_tokens: 20 })
    await two.change({ usage: { input_tokens: 19 } })
    expect([await entriesOf(owner), await entriesOf(admin)].map(({ length }) => length)).toEqual([5, 6])
    expect(await entriesOf(member)).toEqual([])
  },
)

test('a change of the budget reaches watchers of a session', async ({ app }) => {
  const scene = await sessionScene(app)
  const session = await scene.delegated()
  await session.change({ usage: { input_tokens: 10 } })
  const watch = await Watch.as(scene.member, { path: `${session.path}/stream` })
  expect(await watch.next()).toMatchObject({ event: 'session', data: { budget_reached: null } })
  await setBudget(scene, { month_tokens: 10 })
  expect(await watch.next()).toMatchObject({ event: 'session', data: { budget_reached: 'month' } })
})
