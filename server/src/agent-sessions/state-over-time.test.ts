import type { AgentSession } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { bringTo, ended, type SessionScene, sessionScene } from '../../test/agent-sessions.ts'
import { type TestApp, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

/** The results must not depend on whether a worker runs the timers. */
const worlds: [string, (app: TestApp) => Promise<void>][] = [
  ['without a timer', async () => {}],
  ['with a timer', (app) => app.tick()],
]
const link = { external_urls: [{ label: 'Change', url: 'https://example.com/1' }] }

for (const [world, tick] of worlds) {
  describe(`time, ${world},`, () => {
    test(
      'makes a session stale after 30 minutes without activity, and not before',
      verifies('session.stale-after-30-min', 'session.time-rules-without-tick', 'config.stale-after'),
      async ({ app }) => {
        const scene = await sessionScene(app)
        for (const state of ['pending', 'active'] as const) {
          const session = await scene.delegated()
          await bringTo(app, session, state)
          const nextTransitionAt = new Date(app.clock.now().getTime() + 1_800_000).toISOString()
          app.clock.advance({ minutes: 30, milliseconds: -1 })
          await tick(app)
          expect(await session.get()).toMatchObject({ state })
          app.clock.advance({ milliseconds: 1 })
          await tick(app)
          const stale = { state: 'stale', updated_at: nextTransitionAt, ended_at: null, end_reason: null }
          expect(await session.get()).toMatchObject(stale)
          app.clock.advance({ hours: 5 })
          await tick(app)
          expect(await session.get()).toMatchObject(stale)
        }
      },
    )

    test(
      'does not make a session stale that does not wait for the agent',
      verifies('session.no-stale-from-other-states'),
      async ({ app }) => {
        const { delegated } = await sessionScene(app)
        const resting: [AgentSession['state'], () => Promise<AgentSession>][] = []
        for (const state of ['awaitingInput', 'complete', 'error'] as const) {
          const session = await delegated()
          await bringTo(app, session, state)
          resting.push([state, () => session.get()])
        }
        for (const by of [{ minutes: 30 }, { days: 3 }]) {
          app.clock.advance(by)
          await tick(app)
          for (const [state, get] of resting) expect((await get()).state).toBe(state)
        }
      },
    )

    test(
      'counts from the last activity of the app or the message that reopened the session',
      verifies('session.stale-clock-restarts', 'session.stale-after-30-min'),
      async ({ app }) => {
        const { delegated } = await sessionScene(app)
        const session = await delegated()
        const state = async () => (await session.get()).state
        app.clock.advance({ minutes: 20 })
        await session.say('thought')
        app.clock.advance({ minutes: 20 })
        await session.write('Well?') // The session is active, so this does not restart the period.
        await session.change({ plan: [{ content: 'Look', status: 'pending' }], ...link })
        app.clock.advance({ minutes: 10, milliseconds: -1 })
        await tick(app)
        expect(await state()).toBe('active')
        app.clock.advance({ milliseconds: 1 })
        await tick(app)
        expect(await state()).toBe('stale')
        await session.write('Well?')
        app.clock.advance({ minutes: 30, milliseconds: -1 })
        await tick(app)
        expect(await state()).toBe('pending')
        app.clock.advance({ milliseconds: 1 })
        await tick(app)
        expect(await state()).toBe('stale')
      },
    )

    test(
      'ends a stopping session after 60 seconds, and not before',
      verifies(
        'session.stopping-timeout-60s',
        'session.time-rules-without-tick',
        'session.end-reason-kept-at-end',
        'session.ended-refuses-writes',
        'config.stopping-timeout',
      ),
      async ({ app }) => {
        const scene = await sessionScene(app)
        const ends: Record<string, (session: Awaited<ReturnType<SessionScene['delegated']>>) => Promise<unknown>> = {
          stopped: (session) => session.stop(),
          undelegated: async (session) =>
            scene.owner.put(`/issues/${(await session.get()).issue?.id}`, { delegate_id: null }),
        }
        for (const [end_reason, end] of Object.entries(ends)) {
          const session = await scene.delegated()
          await end(session)
          const ended_at = new Date(app.clock.now().getTime() + 60_000).toISOString()
          app.clock.advance({ seconds: 59, milliseconds: 999 })
          await tick(app)
          await session.say('thought')
          expect(await session.get()).toMatchObject({ state: 'stopping', ended_at: null })
          app.clock.advance({ milliseconds: 1 })
          await tick(app)
          const over = { state: 'complete', ended_at, updated_at: ended_at, end_reason }
          expect(await session.get()).toMatchObject(over)
          app.clock.advance({ minutes: 3 })
          expect(await app.unchanged(() => session.say('response'))).toMatchObject(ended(end_reason))
          expect(await app.unchanged(() => session.change({ plan: [] }))).toMatchObject(ended(end_reason))
          expect(await app.unchanged(() => session.stop())).toMatchObject(ended(end_reason))
          await tick(app)
          expect(await session.get()).toMatchObject(over)
        }
      },
    )

    test(
      'makes a session unresponsive 10 seconds after the opening, until the app answers',
      verifies(
        'session.unresponsive-after-10s',
        'session.unresponsive-cleared',
        'session.unresponsive-needs-activity-or-url',
        'config.unresponsive-after',
      ),
      async ({ app }) => {
        const { delegated } = await sessionScene(app)
        const answers: ((session: Awaited<ReturnType<typeof delegated>>) => Promise<unknown>)[] = [
          (session) => session.say('thought'),
          (session) => session.say('response'),
          (session) => session.change(link),
          (session) => session.change({ added_external_urls: link.external_urls }),
        ]
        for (const answer of answers) {
          const session = await delegated()
          const since = new Date(app.clock.now().getTime() + 10_000).toISOString()
          const shown = async () => (await session.get()).unresponsive_since
          await session.change({ plan: [{ content: 'Look', status: 'pending' }], external_urls: [] })
          await session.write('Hello?')
          app.clock.advance({ seconds: 9, milliseconds: 999 })
          await tick(app)
          expect(await shown()).toBeNull()
          app.clock.advance({ milliseconds: 1 })
          await tick(app)
          expect(await shown()).toBe(since)
          app.clock.advance({ seconds: 10 })
          await session.change({ plan: [], removed_external_urls: ['https://example.com/2'] })
          await tick(app)
          expect(await shown()).toBe(since)
          await answer(session)
          expect(await shown()).toBeNull()
          app.clock.advance({ minutes: 1 })
          await tick(app)
          expect(await shown()).toBeNull()
        }
      },
    )

    test(
      'never makes a session unresponsive if the app answered in time or opened it',
      verifies('session.unresponsive-null-when-answered', 'session.unresponsive-never-for-app-opened'),
      async ({ app }) => {
        const { delegated, begun } = await sessionScene(app)
        const [spoke, linked, own] = [await delegated(), await delegated(), await begun()]
        app.clock.advance({ seconds: 9, milliseconds: 999 })
        await spoke.say('thought')
        await linked.change(link)
        for (const by of [{ milliseconds: 1 }, { minutes: 40 }]) {
          app.clock.advance(by)
          await tick(app)
          for (const { get } of [spoke, linked, own]) expect((await get()).unresponsive_since).toBeNull()
        }
        expect((await own.get()).state).toBe('stale')
      },
    )

    test(
      'uses the periods that the operator configured',
      verifies('config.stale-after', 'config.stopping-timeout', 'config.unresponsive-after'),
      async ({ startApp }) => {
        const app = await startApp({
          BATON_STALE_AFTER: '100',
          BATON_STOPPING_TIMEOUT: '7',
          BATON_UNRESPONSIVE_AFTER: '3',
        })
        const { delegated } = await sessionScene(app)
        const session = await delegated()
        const after = async (milliseconds: number) => {
          app.clock.advance({ milliseconds })
          await tick(app)
          const { state, unresponsive_since } = await session.get()
          return [state, unresponsive_since !== null]
        }
        expect(await after(2_999)).toEqual(['pending', false])
        expect(await after(1)).toEqual(['pending', true])
        expect(await after(96_999)).toEqual(['pending', true])
        expect(await after(1)).toEqual(['stale', true])
        await session.stop()
        expect(await after(6_999)).toEqual(['stopping', true])
        expect(await after(1)).toEqual(['complete', true])
      },
    )
  })
}

describe('workers', () => {
  test(
    'store a due transition once, which reads showed already',
    verifies('session.time-rules-without-tick'),
    async ({ startApp }) => {
      const app = await startApp()
      const { delegated } = await sessionScene(app)
      const stale = await delegated()
      await stale.say('thought')
      const stopping = await delegated()
      app.clock.advance({ minutes: 29, seconds: 30 })
      await stopping.stop()
      app.clock.advance({ minutes: 1 })
      const shown = [await stale.get(), await stopping.get()]
      await Promise.all([app.tick(), app.tick()])
      expect([await stale.get(), await stopping.get()]).toEqual(shown)
      const stored = await app.ctx.db.rows(sql`select state, due_at from agent_sessions order by id`)
      expect(stored).toEqual([
        { state: 'stale', due_at: null },
        { state: 'complete', due_at: null },
      ])
      await app.unchanged(() => app.tick())
    },
  )

  test(
    'lose no activity when they run while the app posts',
    verifiesOnPostgres('session.stale-after-30-min', 'activity.seq-increasing-under-concurrency'),
    async ({ startApp }) => {
      const app = await startApp()
      const other = await startApp({}, app)
      const { delegated } = await sessionScene(app)
      const silent = [await delegated(), await delegated(), await delegated()]
      const posting = await delegated()
      app.clock.advance({ minutes: 30 })
      const answers = await Promise.all([
        ...[app, other, app, other].map((node) => node.tick()),
        posting.say('thought'),
        posting.say('thought'),
        posting.write('Well?'),
        ...[app, other, app, other].map((node) => node.tick()),
      ])
      for (const answer of answers) if (answer) expect(answer.status).toBe(201)
      for (const { get } of silent) expect((await get()).state).toBe('stale')
      expect((await posting.activities()).map(({ seq }) => seq)).toEqual([1, 2, 3])
      expect(['active', 'pending']).toContain((await posting.get()).state)
    },
  )
})
