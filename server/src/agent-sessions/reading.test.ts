import { type AgentSession, sessionStates } from '@baton/protocol'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { type AppActivityType, bringTo, contents, invalid, sessionScene } from '../../test/agent-sessions.ts'
import type { Client } from '../../test/client.ts'
import { test, verifies } from '../../test/harness.ts'

const ids = (list: { id: string }[]) => list.map(({ id }) => id)

/** Reads all pages. */
async function pages(client: Client, query: string): Promise<AgentSession[][]> {
  const read: AgentSession[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await client.get(`/agent-sessions?${query}${cursor && `&cursor=${cursor}`}`)
    read.push(body.data)
    cursor = body.next_cursor
  }
  return read
}

describe('the list of sessions', () => {
  test(
    'has the newest first, in pages without gaps or repeats',
    verifies('session.list-shape-and-order', 'session.list-cursor', 'session.list-limit', 'session.list-own-only'),
    async ({ app }) => {
      const { robot, newIssue, owner, member } = await sessionScene(app)
      const { id: issue_id } = await newIssue()
      const another = await app.installed(owner)
      await another.post('/agent-sessions', { issue_id })
      const opened: string[] = []
      for (let count = 0; count < 101; count++) {
        opened.unshift((await robot.post('/agent-sessions', { issue_id })).body.id)
      }
      const first = (await robot.get('/agent-sessions')).body
      expect(Object.keys(first).sort()).toEqual(['data', 'next_cursor'])
      expect(ids(first.data)).toEqual(opened.slice(0, 50))
      expect((await robot.get(`/agent-sessions/${opened[0]}`)).body).toEqual(first.data[0])
      for (const limit of [7, 50, 100]) {
        const read = await pages(robot, `limit=${limit}`)
        for (const page of read.slice(0, -1)) expect(page).toHaveLength(limit)
        expect(ids(read.flat())).toEqual(opened)
      }
      expect((await robot.get('/agent-sessions?limit=100')).body.data).toHaveLength(100)
      for (const query of ['limit=101', 'limit=0', 'limit=x', 'cursor=x', 'state=done', 'state=', 'issue=x']) {
        expect(await robot.get(`/agent-sessions?${query}`), query).toMatchObject(invalid)
      }
      expect((await pages(member, 'limit=100')).flat()).toHaveLength(102)
      // A new session does not shift the pages.
      const { body } = await robot.get('/agent-sessions?limit=60')
      await robot.post('/agent-sessions', { issue_id })
      const rest = (await robot.get(`/agent-sessions?limit=60&cursor=${body.next_cursor}`)).body
      expect([...ids(body.data), ...ids(rest.data)]).toEqual(opened)
      expect(rest.next_cursor).toBeNull()
    },
  )

  test('is filtered by issue and state', verifies('session.list-filters'), async ({ app }) => {
    const { robot, member, newIssue, begun } = await sessionScene(app)
    const [one, two] = [await newIssue(), await newIssue()]
    const here = [await begun({ issue_id: one.id }), await begun({ issue_id: one.id })]
    const there = await begun({ issue_id: two.id })
    await here[0]?.say('thought')
    await there.say('thought')
    for (const client of [robot, member]) {
      const list = async (query: string) => ids((await pages(client, query)).flat())
      expect(await list(`issue_id=${one.id}`)).toEqual([here[1]?.id, here[0]?.id])
      expect(await list(`issue_id=${one.id}&limit=1`)).toEqual([here[1]?.id, here[0]?.id])
      expect(await list('state=active')).toEqual([there.id, here[0]?.id])
      expect(await list('state=active&limit=1')).toEqual([there.id, here[0]?.id])
      expect(await list(`state=active&issue_id=${one.id}`)).toEqual([here[0]?.id])
      expect(await list('state=error')).toEqual([])
      expect(await list('issue_id=iss_00000000000000000000000000')).toEqual([])
    }
  })

  test('is filtered by agent, project and whether the session is open', async ({ app }) => {
    const { robot, owner, member, newIssue, newProject, begun, mentioned } = await sessionScene(app)
    const [plan, other] = [await newProject(), await newProject()]
    const about = await mentioned(plan)
    const ended = await mentioned(other)
    await ended.stop()
    await ended.say('response')
    const mine = await begun()
    const another = await app.installed(owner)
    const theirs = (await another.post('/agent-sessions', { issue_id: (await newIssue()).id })).body.id
    const listOf = (client: Client) => async (query: string) => ids((await pages(client, `${query}&limit=1`)).flat())

    const list = listOf(member)
    expect(await list(`agent_id=${robot.userId}`)).toEqual([mine.id, ended.id, about.id])
    expect(await list(`agent_id=${another.userId}`)).toEqual([theirs])
    expect(await list(`project_id=${plan.id}`)).toEqual([about.id])
    expect(await list('open=true')).toEqual([theirs, mine.id, about.id])
    expect(await list('open=false')).toEqual([ended.id])
    expect(await list(`agent_id=${robot.userId}&project_id=${other.id}&open=true`)).toEqual([])
    expect(await list(`agent_id=${robot.userId}&project_id=${other.id}&open=false&state=complete`)).toEqual([ended.id])
    for (const query of ['open=yes', 'open=', 'agent_id=', 'project_id=', `agent_id=${'x'.repeat(101)}`]) {
      expect(await member.get(`/agent-sessions?${query}`), query).toMatchObject(invalid)
    }

    // An app gets no sessions of another app.
    expect(await listOf(robot)(`agent_id=${another.userId}`)).toEqual([])
    expect(await listOf(another)(`project_id=${plan.id}`)).toEqual([])
    expect(await listOf(another)('open=true')).toEqual([theirs])
    expect(await listOf(robot)('open=false')).toEqual([ended.id])
    // Nor do members of other workspaces, or people without access to the item.
    const { owner: stranger } = await app.workspace()
    for (const query of [`agent_id=${robot.userId}`, `project_id=${plan.id}`, 'open=true', 'open=false']) {
      expect(await listOf(stranger)(query), query).toEqual([])
    }
    await owner.put(`/projects/${plan.id}`, { personal: true })
    expect(await list(`project_id=${plan.id}`)).toEqual([])
    expect(await listOf(owner)(`project_id=${plan.id}`)).toEqual([about.id])
  })

  test(
    'filtered by state agrees with the state of each session at any time',
    verifies('session.list-filters'),
    async ({ startApp }) => {
      const app = await startApp()
      const { delegated, member, robot, owner } = await sessionScene(app)
      const act = fc.oneof(
        fc.constantFrom(
          ...(Object.keys(contents) as AppActivityType[]),
          'write' as const,
          'stop' as const,
          'undelegate' as const,
        ),
        fc.constant('tick' as const),
      )
      const step = fc.record({
        act,
        which: fc.nat(2),
        waitMs: fc.constantFrom(0, 1, 59_999, 60_000, 1_799_999, 1_800_000),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
          const sessions = [await delegated(), await delegated(), await delegated()]
          for (const { act, which, waitMs } of steps) {
            app.clock.advance({ milliseconds: waitMs })
            const session = sessions[which] as (typeof sessions)[number]
            if (act === 'tick') await app.tick()
            else if (act === 'write') await session.write('Hm')
            else if (act === 'stop') await session.stop()
            else if (act === 'undelegate') {
              await owner.put(`/issues/${(await session.get()).issue?.id}`, { delegate_id: null })
            } else await session.say(act)
            const shown = await Promise.all(sessions.map(({ get }) => get()))
            const mine = new Set(ids(shown))
            for (const client of [robot, member]) {
              for (const state of sessionStates) {
                const { body } = await client.get(`/agent-sessions?state=${state}&limit=100`)
                const listed = (body.data as AgentSession[]).filter(({ id }) => mine.has(id))
                expect(listed).toEqual(shown.filter((one) => one.state === state).reverse())
              }
              for (const open of [true, false]) {
                const { body } = await client.get(`/agent-sessions?open=${open}&limit=100`)
                const listed = (body.data as AgentSession[]).filter(({ id }) => mine.has(id))
                expect(listed).toEqual(shown.filter((one) => (one.ended_at === null) === open).reverse())
              }
            }
          }
        }),
        { numRuns: 8, endOnFailure: true },
      )
    },
  )
})

describe('the list of activities', () => {
  test(
    'continues after a seq until the end',
    verifies(
      'activity.list-shape',
      'activity.list-after-seq',
      'activity.list-limit',
      'activity.default-limit-and-empty-page',
      'activity.list-includes-people',
    ),
    async ({ app }) => {
      const { delegated, robot, member } = await sessionScene(app)
      const session = await delegated()
      const list = async (query = '', client: Client = robot) =>
        (await client.get(`${session.path}/activities${query}`)).body
      expect(await list()).toEqual({ data: [], has_more: false, last_seq: 0 })
      const posted: { id: string; author: { kind: string } }[] = []
      for (let count = 0; count < 201; count++) {
        app.clock.advance({ milliseconds: 100 })
        posted.push((await (count % 40 === 20 ? session.write('Well?') : session.say('thought'))).body)
      }
      const first = await list()
      expect(first).toMatchObject({ has_more: true, last_seq: 50 })
      expect(first.data).toEqual(posted.slice(0, 50))
      expect(first.data.filter(({ author }: (typeof posted)[0]) => author.kind === 'user')).toHaveLength(1)
      expect(await list('?limit=200')).toEqual({ data: posted.slice(0, 200), has_more: true, last_seq: 200 })
      for (const client of [robot, member]) {
        const read: unknown[] = []
        for (let after = 0, more = true; more; ) {
          const page = await list(`?after_seq=${after}&limit=67`, client)
          read.push(...page.data)
          after = page.last_seq
          more = page.has_more
        }
        expect(read).toEqual(posted)
      }
      expect(await list('?after_seq=1&limit=200')).toEqual({ data: posted.slice(1), has_more: false, last_seq: 201 })
      expect(await list('?after_seq=201')).toEqual({ data: [], has_more: false, last_seq: 201 })
      expect(await list('?after_seq=999')).toEqual({ data: [], has_more: false, last_seq: 999 })
      for (const query of ['limit=201', 'limit=0', 'after_seq=-1', 'after_seq=x', 'after_seq=1.5', 'after=1']) {
        expect(await robot.get(`${session.path}/activities?${query}`), query).toMatchObject(invalid)
      }
    },
  )

  test('can be read by the app in every state', verifies('activity.list-includes-people'), async ({ app }) => {
    const { delegated, member } = await sessionScene(app)
    for (const state of ['complete', 'stale', 'stopping'] as const) {
      const session = await delegated()
      const { body } = await session.write('Hello')
      await bringTo(app, session, state)
      app.clock.advance({ minutes: 5 })
      expect((await session.activities())[0]).toEqual(body)
      expect(body.author).toMatchObject({ kind: 'user', id: member.user.id })
    }
  })
})
