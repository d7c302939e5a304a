import { describe, expect } from 'vitest'
import { type Conversation, type SessionScene, sessionScene } from '../../test/agent-sessions.ts'
import { accepted } from '../../test/calls.ts'
import type { Response } from '../../test/client.ts'
import { test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { deadlocksIn } from '../../test/races.ts'

type Ending = (scene: SessionScene, issueId: string) => Promise<Response>

/** All ways to end a session immediately. */
const endings: Record<string, [end_reason: string, Ending]> = {
  'its issue is deleted': ['issue_deleted', ({ owner }, id) => owner.delete(`/issues/${id}`)],
  'its issue is moved': [
    'team_removed',
    ({ member, otherTeam }, id) => member.put(`/issues/${id}`, { team_id: otherTeam.id }),
  ],
  'its issue is made personal': ['team_removed', ({ member }, id) => member.put(`/issues/${id}`, { personal: true })],
  'its team is removed from the installation': [
    'team_removed',
    ({ owner, robot, otherTeam }) =>
      owner.patch(`/installations/${robot.installationId}`, { team_ids: [otherTeam.id] }),
  ],
  'its app is uninstalled': [
    'uninstalled',
    ({ owner, robot }) => owner.delete(`/installations/${robot.installationId}`),
  ],
  'its app is deleted': ['uninstalled', ({ owner, robot }) => owner.delete(`/agent-apps/${robot.app.id}`)],
}

/** Activities, messages and changes at the same time, with the ending among them. */
const writeAndEnd = (session: Conversation, ending: () => Promise<Response>): Promise<Response[]> =>
  Promise.all([
    ...Array.from({ length: 4 }, () => session.say('thought')),
    session.say('elicitation'),
    session.write('Hm'),
    ending(),
    session.say('response'),
    session.change({ plan: [{ content: 'Look', status: 'pending' }] }),
    session.write('Hm?'),
    session.say('thought', { ephemeral: true }),
  ])

describe('during concurrent writes', () => {
  for (const [what, [end_reason, ending]] of Object.entries(endings)) {
    test(
      `${what}, and nothing is written after that`,
      verifies('session.ended-refuses-writes', 'activity.seq-increasing-under-concurrency'),
      async ({ app }) => {
        const scene = await sessionScene(app)
        const session = await scene.delegated()
        const issueId = (await session.get()).issue?.id as string
        const answers = await writeAndEnd(session, () => ending(scene, issueId))
        expect(answers[6]?.status).toBeLessThan(300)
        for (const { status } of answers) expect([200, 201, 204, 401, 404, 409]).toContain(status)
        const creator = scene.member
        const over = await session.get(creator)
        expect(over).toMatchObject({ state: 'complete', end_reason, ended_at: over.updated_at })
        const { data } = (await creator.get(`${session.path}/activities`)).body
        expect(data).toHaveLength(answers.filter(({ status }) => status === 201).length)
        expect(data.map(({ seq }: { seq: number }) => seq)).toEqual(data.map((_: unknown, index: number) => index + 1))
        for (const write of [() => session.say('thought'), () => session.write('Hm'), () => session.stop()]) {
          expect([401, 409]).toContain((await app.unchanged(write)).status)
        }
      },
    )
  }

  test(
    'Stop and a change of the delegate give one end reason',
    verifies('session.second-stop-is-noop', 'session.stopping-response-ends-complete'),
    async ({ app }) => {
      const scene = await sessionScene(app)
      for (let round = 0; round < 4; round++) {
        const session = await scene.delegated()
        const issueId = (await session.get()).issue?.id
        const answers = await writeAndEnd(session, async () => {
          const [stopped, taken] = await Promise.all([
            session.stop(),
            scene.owner.put(`/issues/${issueId}`, { delegate_id: null }),
          ])
          expect([200, 409]).toContain(stopped.status)
          return taken
        })
        for (const { status } of answers) expect([200, 201, 409]).toContain(status)
        const activities = await session.activities()
        const signals = activities.filter(({ signal }) => signal === 'stop')
        expect(signals).toHaveLength(1)
        const shown = await session.get()
        expect(shown.end_reason).toBe(signals[0]?.signal_metadata?.reason)
        const finalActivity = activities.find(({ type, seq }) => type === 'response' && seq > (signals[0]?.seq ?? 0))
        expect([shown.state, shown.ended_at !== null]).toEqual(finalActivity ? ['complete', true] : ['stopping', false])
        if (finalActivity) expect(activities.at(-1)).toEqual(finalActivity)
      }
    },
  )

  test(
    'no ending causes a deadlock',
    verifiesOnPostgres('activity.seq-increasing-under-concurrency', 'session.ended-refuses-writes'),
    async ({ startApp }) => {
      const app = await startApp()
      const before = await deadlocksIn(app)
      for (const [, ending] of Object.values(endings)) {
        const scene = await sessionScene(app)
        const session = await scene.delegated()
        const issueId = (await session.get()).issue?.id as string
        await writeAndEnd(session, () => ending(scene, issueId))
      }
      expect(await deadlocksIn(app)).toBe(before)
    },
  )
})

test(
  'of many requests by two processes to open a session in one thread exactly one opens it',
  verifiesOnPostgres('session.app-reopen-on-comment-is-200'),
  async ({ startApp }) => {
    const app = await startApp()
    const second = await startApp({}, app)
    const { robot, owner, newIssue, comment } = await sessionScene(app)
    const elsewhere = second.anonymous.with({
      authorization: `Bearer ${robot.token}`,
      'x-workspace-id': owner.workspaceId,
    })
    for (let round = 0; round < 3; round++) {
      const { id: comment_id } = await comment(await newIssue(), 'Hm')
      const open = (index: number) => (index % 2 === 0 ? robot : elsewhere).post('/agent-sessions', { comment_id })
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => open(index)))
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201])
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
      expect((await robot.get('/agent-sessions?limit=100')).body.data).toHaveLength(round + 1)
    }
  },
)

describe('reports of usage at the same time', () => {
  test(
    'are all counted, and managers are notified once',
    verifiesOnPostgres('usage.month-totals', 'usage.managers-told-once'),
    async ({ app }) => {
      const scene = await sessionScene(app)
      const { owner, robot } = scene
      const limits = { session_cost_micros: null, month_cost_micros: null, session_tokens: null }
      await owner.put(`/agent-apps/${robot.app.id}/budget`, { currency: null, ...limits, month_tokens: 30 })
      const sessions = [await scene.delegated(), await scene.delegated(), await scene.delegated()]
      // Two reports in each session, and three sessions in one month.
      const reports = sessions.flatMap((session) =>
        [10, 20].map((input_tokens) => session.change({ usage: { input_tokens } })),
      )
      for (const { status } of await Promise.all(reports)) expect([200, 422]).toContain(status)
      for (const session of sessions) expect((await session.get()).usage?.input_tokens).toBe(20)
      const { body } = await owner.get(`/agent-apps/${robot.app.id}/usage`)
      expect(body).toMatchObject({ data: [{ sessions: 3, input_tokens: 60 }], month_reached: true })
      const { data } = (await owner.get('/inbox')).body
      expect(data.filter(({ kind }: { kind: string }) => kind === 'budget_reached')).toHaveLength(1)
    },
  )
})

describe('changes stored while a session ends', () => {
  for (const [what, [end_reason, ending]] of Object.entries(endings)) {
    test(
      `${what}: each is stored or refused as a whole`,
      verifiesOnPostgres('changes.ended-session-409', 'changes.replace-and-same'),
      async ({ app }) => {
        const scene = await sessionScene(app)
        const session = await scene.delegated()
        const issueId = (await session.get()).issue?.id as string
        const put = (additions: number) =>
          scene.robot.put(`${session.path}/changes`, { ...accepted.setSessionChanges, additions })
        const answers = await Promise.all([put(1), put(2), put(3), ending(scene, issueId), put(4), put(5)])
        for (const { status } of answers) expect([200, 204, 401, 409]).toContain(status)
        const stored = answers.filter(({ body }) => body?.version !== undefined)
        expect(stored.map(({ body }) => body.version).sort()).toEqual(stored.map((_, index) => index + 1))
        const { end_reason: reason, changes } = await session.get(scene.member)
        expect(reason).toBe(end_reason)
        const last = stored.find(({ body }) => body.version === stored.length)?.body
        expect(changes ?? undefined).toEqual(last && { ...changes, version: last.version, additions: last.additions })
      },
    )
  }
})
