import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { AgentActivity, AgentSession, Issue } from '@baton/protocol'
import { describe, expect, onTestFinished } from 'vitest'
import type { Client } from '../../test/client.ts'
import { test as base, TestApp, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { rollUpDue } from '../insights/rollup.ts'
import { type DemoAgent, startDemoAgent } from './agent.ts'
import { showTitle } from './agent-content.ts'
import { createDemo } from './create.ts'
import { demoLogin } from './login.ts'
import { showSteps, showStepsAtStart } from './script.ts'

const signIn = async (app: TestApp) => {
  const { body } = await app.anonymous.post('/auth/sign-in', demoLogin)
  const person = app.anonymous.with({ authorization: `Bearer ${body.token}` })
  const [workspace] = (await person.get('/auth/me')).body.workspaces
  return person.with({ 'x-workspace-id': workspace.id })
}

interface Demo {
  app: TestApp
  agent: DemoAgent
  viewers: { count: number }
  ada: Client
  /** To which this process has opened a connection since before the demo was created. */
  ports: ReadonlySet<number>
}

function watchPorts(): ReadonlySet<number> {
  const ports = new Set<number>()
  subscribe('net.client.socket', (message) => {
    const { socket } = message as { socket: Socket }
    socket.on('connectionAttempt', (_ip, port) => ports.add(port))
  })
  return ports
}

const agentIn = async ({ app, viewers }: Pick<Demo, 'app' | 'viewers'>) =>
  (await startDemoAgent(app.ctx, app.door, () => viewers.count)) as DemoAgent

/** One demo for the tests of this file, in their order: to create it takes longest. */
const test = base.extend<{ demo: Demo }>({
  demo: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
    async ({}, use) => {
      const app = await TestApp.start()
      const ports = watchPorts()
      await createDemo(app.ctx)
      const viewers = { count: 0 }
      const demo = { ports, app, viewers, agent: await agentIn({ app, viewers }), ada: await signIn(app) }
      await app.deliver()
      await demo.agent.idle()
      await use(demo)
      await demo.agent.stop()
      await app.stop()
    },
    { scope: 'file' },
  ],
})

/** Moves the clock second by second, so that every step is taken at its time. */
async function pass(app: TestApp, agent: DemoAgent, seconds: number, until: () => Promise<boolean>) {
  for (let second = 0; second <= seconds; second++) {
    await app.deliver()
    await agent.idle()
    if (await until()) return second
    app.clock.advance({ seconds: 1 })
    await agent.idle()
  }
  throw new Error(`not within ${seconds} seconds`)
}

const sessionsOf = async (person: Client, query = ''): Promise<AgentSession[]> =>
  (await person.get(`/agent-sessions?limit=100${query}`)).body.data
const activitiesOf = async (person: Client, id: string): Promise<AgentActivity[]> =>
  (await person.get(`/agent-sessions/${id}/activities?limit=100`)).body.data
const stateOf = async (person: Client, id: string) => (await person.get(`/agent-sessions/${id}`)).body.state
/** Gives an issue that no agent has to Scout, and returns the id of the session. */
async function delegateToScout(person: Client): Promise<string> {
  const { data: issues } = (await person.get('/issues?limit=100&status=todo')).body
  const issue = issues.find(({ code, delegate_id }: Issue) => code.startsWith('ENG-') && delegate_id === null)
  const { data: agents } = (await person.get('/agents?include_apps=true')).body
  const scout = agents.find(({ display_name }: { display_name: string }) => display_name === 'Scout')
  const { user } = (await person.get('/auth/me')).body
  const change = { delegate_id: scout.id, assignee_id: user.id }
  expect((await person.put(`/issues/${issue.id}`, change)).status).toBe(200)
  const [session] = await sessionsOf(person, `&issue_id=${issue.id}`)
  return session?.id as string
}
const typesOf = (activities: AgentActivity[]) => activities.map(({ type }) => type)

describe('on the first start', () => {
  test(
    'there are sessions in every state, a plan at 3 of 7 and changes to read',
    verifies('demo.states-on-first-open'),
    async ({ demo: { ada } }) => {
      const sessions = await sessionsOf(ada)
      const states = new Set(sessions.map(({ state }) => state))
      expect([...states].sort()).toEqual(['active', 'awaitingInput', 'complete', 'error', 'pending', 'stale'])
      expect(sessions.filter(({ end_reason }) => end_reason === 'stopped').length).toBeGreaterThan(1)
      const [active] = sessions.filter(({ state }) => state === 'active')
      expect(active?.plan.map(({ status }) => status)).toEqual([
        ...Array(3).fill('completed'),
        'inProgress',
        ...Array(3).fill('pending'),
      ])
      const [changed] = sessions.filter(({ changes }) => changes)
      const { body: changes } = await ada.get(`/agent-sessions/${changed?.id}/changes`)
      expect(changes.files).toHaveLength(3)
      const [silent] = sessions.filter(({ state }) => state === 'pending')
      expect(silent?.unresponsive_since).not.toBeNull()
    },
  )

  test(
    'reviews, suggestions and automations wait for the viewer, and there are figures of six weeks',
    verifies('demo.changes-and-review'),
    async ({ demo: { app, ada } }) => {
      const { data: reviews } = (await ada.get('/reviews')).body
      expect(reviews).toHaveLength(2)
      const changes = await Promise.all(
        reviews.map(async ({ id }: { id: string }) => (await ada.get(`/reviews/${id}`)).body.changes),
      )
      expect(changes.filter(Boolean)).toHaveLength(1)
      const { data: triage } = (await ada.get('/triage')).body
      expect(triage).toHaveLength(2)
      const { data: automations } = (await ada.get('/automations')).body
      expect(automations.map(({ state }: { state: string }) => state)).toEqual(['on', 'on', 'on'])
      await rollUpDue(app.ctx)
      const { body: insights } = await ada.get('/insights/agents')
      const opened = insights.periods.filter(({ figures }: { figures: { opened: number } }) => figures.opened > 0)
      expect(opened.length).toBeGreaterThanOrEqual(6)
      const accepted = insights.periods.map(({ figures }: { figures: { accepted: number } }) => figures.accepted)
      expect(Math.max(...accepted)).toBeGreaterThan(0)
    },
  )

  test('there are six weeks of sessions and of issues on their way', async ({ demo: { app, ada } }) => {
    const sessions = await sessionsOf(ada)
    expect(sessions.length).toBeGreaterThanOrEqual(30)
    const ageInDays = ({ created_at }: { created_at: string }) =>
      (app.clock.now().getTime() - Date.parse(created_at)) / (24 * 3_600_000)
    expect(Math.max(...sessions.map(ageInDays))).toBeGreaterThan(40)
    // One in each of the six weeks, in the order of their time.
    expect(new Set(sessions.map((session) => Math.floor(ageInDays(session) / 7))).size).toBe(6)
    const times = sessions.map(({ created_at }) => created_at)
    expect(times).toEqual([...times].sort().reverse())
    const { data: issues } = (await ada.get('/issues?limit=100')).body
    expect(issues.filter(({ status }: Issue) => status === 'done').length).toBeGreaterThanOrEqual(30)
    const moves = await app.ctx.db.rows<{ created_at: string }>(sql`
      select created_at from issue_changes where changes ? 'status'`)
    expect(new Set(moves.map((move) => Math.floor(ageInDays(move) / 7))).size).toBe(6)
  })

  test(
    "Scout's deliveries succeed without a connection to any address",
    verifies('demo.no-network'),
    async ({ demo: { app, agent, ada, ports } }) => {
      const id = await delegateToScout(ada)
      await pass(app, agent, 5, async () => (await stateOf(ada, id)) === 'active')
      const { data: apps } = (await ada.get('/agent-apps')).body
      const outcomes = async (name: string) => {
        const { id } = apps.find((one: { name: string }) => one.name === name)
        return (await ada.get(`/agent-apps/${id}/deliveries?limit=100`)).body.data.map(
          ({ status, attempts }: { status: string; attempts: { reason: string | null }[] }) =>
            `${status} ${attempts.map(({ reason }) => reason)}`,
        )
      }
      const scouts = await outcomes('Scout')
      expect(scouts.length).toBeGreaterThan(30)
      expect(new Set(scouts)).toEqual(new Set(['succeeded ']))
      expect(await outcomes('Night Shift')).toEqual(['pending network_error'])
      // This test itself calls the service, and on PostgreSQL the service its database.
      const database = process.env.DATABASE_URL && Number(new URL(process.env.DATABASE_URL).port || 5432)
      expect([...ports].filter((port) => port !== database)).toEqual([Number(new URL(app.rootUrl).port)])
    },
  )

  test(
    'the question waits in the inbox, and an answer makes Scout go on',
    verifies('demo.question-waits'),
    async ({ demo: { app, agent, ada } }) => {
      const { data: inbox } = (await ada.get('/inbox?unread=true&limit=100')).body
      const asked = inbox.filter(({ kind }: { kind: string }) => kind === 'agent_needs_you')
      expect(asked).toHaveLength(1)
      const [session] = await sessionsOf(ada, '&state=awaitingInput')
      const [elicitation] = (await activitiesOf(ada, session?.id ?? '')).filter(({ type }) => type === 'elicitation')
      const { options } = (elicitation as AgentActivity).signal_metadata as {
        options: { value: string; label: string }[]
      }
      expect(options).toHaveLength(3)
      const reply = {
        content: { type: 'prompt', body: options[1]?.label },
        signal_metadata: { in_reply_to: elicitation?.id, selected: [options[1]?.value] },
      }
      expect((await ada.post(`/agent-sessions/${session?.id}/activities`, reply)).status).toBe(201)
      const seconds = await pass(app, agent, 15, async () => (await stateOf(ada, session?.id ?? '')) === 'complete')
      expect(seconds).toBeLessThanOrEqual(15)
      expect((await activitiesOf(ada, session?.id ?? '')).at(-1)?.content).toMatchObject({
        body: expect.stringContaining('list of the 212'),
      })
    },
  )
})

describe('an issue that the viewer delegates to Scout', () => {
  test(
    'gets a plan, three actions and a question in 30 seconds, and a response 15 seconds after the reply',
    verifies('demo.delegation-answered'),
    async ({ demo }) => {
      const { app, agent, ada } = demo
      const id = await delegateToScout(ada)
      await pass(app, agent, 30, async () => (await stateOf(ada, id)) === 'awaitingInput')
      const { body: asking } = await ada.get(`/agent-sessions/${id}`)
      expect(asking.plan).toHaveLength(4)
      expect(asking.unresponsive_since).toBeNull()
      expect(typesOf(await activitiesOf(ada, id))).toEqual(['thought', 'action', 'action', 'action', 'elicitation'])

      await ada.post(`/agent-sessions/${id}/activities`, { content: { type: 'prompt', body: 'The smallest, please.' } })
      await pass(app, agent, 15, async () => (await stateOf(ada, id)) === 'complete')
      expect(typesOf(await activitiesOf(ada, id)).slice(5)).toEqual(['prompt', 'action', 'response'])

      await ada.post(`/agent-sessions/${id}/activities`, { content: { type: 'prompt', body: 'Thanks!' } })
      await pass(app, agent, 15, async () => (await stateOf(ada, id)) === 'complete')
      expect(typesOf(await activitiesOf(ada, id)).slice(8)).toEqual(['prompt', 'response'])
    },
  )

  test('ends at once when it is stopped', verifies('demo.delegation-answered'), async ({ demo }) => {
    const { app, agent, ada } = demo
    const id = await delegateToScout(ada)
    await pass(app, agent, 10, async () => (await activitiesOf(ada, id)).length >= 2)
    expect((await ada.post(`/agent-sessions/${id}/stop`)).body.state).toBe('stopping')
    expect(await pass(app, agent, 0, async () => (await stateOf(ada, id)) === 'complete')).toBe(0)
    const { body: ended } = await ada.get(`/agent-sessions/${id}`)
    expect(ended).toMatchObject({ end_reason: 'stopped', ended_at: app.clock.now().toISOString() })
    const activities = (await activitiesOf(ada, id)).length
    for (let seconds = 0; seconds < 30; seconds++) {
      app.clock.advance({ seconds: 1 })
      await agent.idle()
    }
    expect(await activitiesOf(ada, id)).toHaveLength(activities)
  })

  test('is continued after a restart', verifies('demo.off'), async ({ demo }) => {
    const { app, ada } = demo
    const id = await delegateToScout(ada)
    await pass(app, demo.agent, 10, async () => (await activitiesOf(ada, id)).length >= 2)
    await demo.agent.stop()
    app.clock.advance({ minutes: 5 })
    expect((await activitiesOf(ada, id)).length).toBeLessThan(5)
    demo.agent = await agentIn(demo)
    await pass(app, demo.agent, 30, async () => (await stateOf(ada, id)) === 'awaitingInput')
    expect(typesOf(await activitiesOf(ada, id))).toEqual(['thought', 'action', 'action', 'action', 'elicitation'])
  })
})

describe('the show', () => {
  /** Its sessions, the latest first. */
  const shows = async ({ ada }: Demo) => {
    const [issue] = (await ada.get(`/issues?query=${encodeURIComponent(showTitle)}`)).body.data
    return sessionsOf(ada, `&issue_id=${issue.id}`)
  }
  /** A look of the agent's timer may still begin the show, so that one of these takes no step. */
  const finish = async (demo: Demo) => {
    const look = async () => {
      demo.app.clock.advance({ seconds: 15 })
      await demo.agent.show()
      return (await shows(demo))[0]?.state
    }
    for (const _ of showSteps) await look()
    await expect.poll(look, { timeout: 10_000 }).toBe('complete')
  }

  test(
    'takes a step every 5 to 15 seconds while a viewer watches, and none otherwise',
    verifies('demo.bounded'),
    async ({ demo }) => {
      const { app, agent, ada, viewers } = demo
      const [session] = await shows(demo)
      const count = async () => (await activitiesOf(ada, session?.id ?? '')).length
      let seen = await count()
      expect(seen).toBe(showStepsAtStart)
      await app.unchanged(async () => {
        for (let looks = 0; looks < 20; looks++) await agent.show()
      })
      viewers.count = 1
      await agent.show()
      seen = await count()
      const gaps: number[] = []
      for (let gap = 1; (await stateOf(ada, session?.id ?? '')) !== 'complete'; gap++) {
        app.clock.advance({ seconds: 1 })
        await agent.show()
        if ((await count()) === seen) continue
        seen = await count()
        gaps.push(gap)
        gap = 0
      }
      expect(gaps.length).toBeGreaterThan(4)
      for (const gap of gaps) expect(gap >= 5 && gap <= 15).toBe(true)
      const { body: complete } = await ada.get(`/agent-sessions/${session?.id}`)
      expect(new Set(complete.plan.map(({ status }: { status: string }) => status))).toEqual(new Set(['completed']))
    },
  )

  test('begins anew once an hour and ten times in all', verifies('demo.bounded'), async ({ demo }) => {
    const { app, agent, ada, viewers } = demo
    /** A timer of the agent may look at the same time, and begin the show in place of this look. */
    const look = async (time: Parameters<typeof app.clock.advance>[0], expected: number) => {
      app.clock.advance(time)
      await agent.show()
      await expect.poll(async () => (await shows(demo)).length, { timeout: 10_000 }).toBe(expected)
    }
    const [first] = await shows(demo)
    const startedMs = Date.parse(first?.created_at ?? '')
    const untilAnHourMs = startedMs + 3_600_000 - app.clock.now().getTime()
    await look({ milliseconds: untilAnHourMs - 60_000 }, 1)
    viewers.count = 0
    await look({ minutes: 5 }, 1)
    viewers.count = 1
    await look({}, 2)
    // The next begins an hour after this one, although this one is stopped. A Stop works without the show, too.
    const [second] = await shows(demo)
    await ada.post(`/agent-sessions/${second?.id}/stop`)
    await app.deliver()
    await agent.idle()
    expect(await stateOf(ada, second?.id ?? '')).toBe('complete')
    await look({ milliseconds: 3_600_000 - 1 }, 2)
    await look({ milliseconds: 1 }, 3)
    for (let begun = 3; begun <= 10; begun++) {
      await finish(demo)
      await look({ minutes: 60 }, begun + 1)
    }
    await finish(demo)
    await look({ hours: 10 }, 11)
  })
})

describe('without the demo', () => {
  test('no agent is made or runs', verifies('demo.off'), async ({ startApp }) => {
    const app = await startApp()
    await app.workspace()
    expect(await startDemoAgent(app.ctx, app.door, () => 1)).toBeUndefined()
    expect(await app.ctx.db.rows(sql`select 1 from agent_apps`)).toEqual([])
  })

  test(
    'the agent of a demo database does not run with BATON_DEMO=0',
    verifies('demo.off'),
    async ({ demo: { app } }) => {
      const off = { ...app.ctx, config: { ...app.ctx.config, demo: false } }
      await app.unchanged(async () => expect(await startDemoAgent(off, app.door, () => 1)).toBeUndefined())
    },
  )

  test('an uninstalled Scout does nothing', async ({ demo: { app, agent, ada, viewers } }) => {
    const { data } = (await ada.get('/installations')).body
    const scout = data.find((one: { app: { name: string } }) => one.app.name === 'Scout')
    expect((await ada.delete(`/installations/${scout.id}`)).status).toBe(204)
    await app.deliver()
    await agent.idle()
    viewers.count = 1
    await app.unchanged(async () => {
      app.clock.advance({ seconds: 10 })
      await agent.show()
      await agent.idle()
    })
  })

  test('a demo of an earlier version stays as it is', async ({ demo: { app } }) => {
    await app.ctx.db.run(sql`delete from settings where name in ('demo_agent', 'demo_shows')`)
    await app.unchanged(async () => {
      expect(await createDemo(app.ctx)).toBe(false)
      expect(await startDemoAgent(app.ctx, app.door, () => 1)).toBeUndefined()
    })
  })
})

describe.skipIf(!process.env.DATABASE_URL)('in several processes', () => {
  test('one listens, and another takes over when it stops', verifiesOnPostgres('demo.off'), async ({ startApp }) => {
    const app = await startApp()
    await createDemo(app.ctx)
    const viewers = { count: 0 }
    const agent = await agentIn({ app, viewers })
    const other = await agentIn({ app: await startApp({}, app), viewers })
    onTestFinished(() => other.stop())
    const listeners = async () =>
      (await app.ctx.db.rows<{ id: string }>(sql`select connection_id as id from listeners`)).map(({ id }) => id)
    const [first, ...more] = await listeners()
    expect(more).toEqual([])
    await agent.stop()
    let now = await listeners()
    for (; now.length === 0 || now[0] === first; now = await listeners()) app.clock.advance({ seconds: 1 })
    expect(now).toHaveLength(1)
    expect(now[0]).not.toBe(first)
    const ada = await signIn(app)
    const id = await delegateToScout(ada)
    // On a busy machine the other process can learn of an attempt too late; it is repeated after a minute.
    await pass(app, other, 130, async () => (await stateOf(ada, id)) === 'awaitingInput')
  })
})
