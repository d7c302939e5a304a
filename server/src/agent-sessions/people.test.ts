import { describe, expect } from 'vitest'
import { contents, ended, missing, type SessionScene, sessionScene } from '../../test/agent-sessions.ts'
import type { Client } from '../../test/client.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestPerson, test, verifies } from '../../test/harness.ts'

const prompt = { content: { type: 'prompt', body: 'Hello' } }

/** Everything a person can do with a session. */
const calls = (person: Client, path: string) => [
  () => person.get(path),
  () => person.get(`${path}/activities`),
  () => person.post(`${path}/activities`, prompt),
  () => person.post(`${path}/stop`),
]

describe('people', () => {
  test('of the workspace read every session that they can see', verifies('session.person-reads'), async ({ app }) => {
    const { delegated, mentioned, newProject, owner, admin, member, join } = await sessionScene(app)
    const newcomer = await join('member')
    for (const session of [await delegated(), await mentioned(await newProject())]) {
      await session.say('thought')
      const [shown, said] = [await session.get(), await session.activities()]
      for (const person of [owner, admin, member, newcomer]) {
        expect(await person.get(session.path)).toMatchObject({ status: 200, body: shown })
        expect(await person.get(`${session.path}/activities`)).toMatchObject({ status: 200, body: { data: said } })
        expect((await person.get('/agent-sessions')).body.data).toContainEqual(shown)
      }
      for (const person of [owner, admin, member, newcomer]) {
        expect((await person.post(`${session.path}/activities`, prompt)).status).toBe(201)
      }
    }
  })

  test(
    'of another workspace, and those who cannot see the issue, find nothing',
    verifies('session.person-cannot-read-unseen', 'session.foreign-404'),
    async ({ app }) => {
      const { delegated, owner, admin, member, mentioned, newProject, id } = await sessionScene(app)
      const elsewhere = await app.workspace()
      const session = await delegated()
      for (const call of calls(elsewhere.owner, session.path)) {
        expect(await app.unchanged(call)).toMatchObject(missing)
      }
      expect((await elsewhere.owner.get('/agent-sessions')).body.data).toEqual([])
      for (const call of calls(elsewhere.owner.with({ 'x-workspace-id': id }), session.path)) {
        expect((await app.unchanged(call)).status).toBe(403)
      }
      for (const call of calls(member, '/agent-sessions/sess_00000000000000000000000000')) {
        expect(await app.unchanged(call)).toMatchObject(missing)
      }
      for (const call of calls(app.anonymous.with({ 'x-workspace-id': id }), session.path)) {
        expect((await app.unchanged(call)).status).toBe(401)
      }
      const project = await newProject()
      const planned = await mentioned(project)
      await member.put(`/issues/${(await session.get()).issue?.id}`, { personal: true })
      await owner.put(`/projects/${project.id}`, { personal: true })
      const hidden: [string, TestPerson[], TestPerson][] = [
        [session.path, [owner, admin], member],
        [planned.path, [member, admin], owner],
      ]
      for (const [path, others, own] of hidden) {
        for (const other of others) {
          for (const call of calls(other, path)) expect(await app.unchanged(call)).toMatchObject(missing)
          const listed = (await other.get('/agent-sessions')).body.data.map((one: { id: string }) => one.id)
          expect(listed).not.toContain(path.split('/').at(-1))
        }
        for (const [index, call] of calls(own, path).entries()) {
          const answer = await app.unchanged(call)
          expect(answer).toMatchObject(index < 2 ? { status: 200 } : ended('team_removed'))
        }
      }
    },
  )
})

describe('threads', () => {
  const mention = ({ robot }: SessionScene, text = 'look') => `@[Robot](${robot.userId}) ${text}`

  test(
    'begin a session with a mention, and go on with every reply of a person',
    verifies(
      'session.mention-opens',
      'session.reply-in-open-thread-is-message',
      'session.one-open-per-delegation-and-thread',
    ),
    async ({ app }) => {
      const scene = await sessionScene(app)
      const { newIssue, newProject, comment, mentioned, owner, robot, id } = scene
      for (const target of [await newIssue(), await newProject()]) {
        const events = await eventsOf(app, id, () => comment(target, 'Hm'))
        expect(names(events)).not.toContain('AgentSessionEvent created')
        const session = await mentioned(target)
        const reply = { parent_comment_id: session.comment.id }
        const texts = ['and?', mention(scene, 'again'), 'thanks']
        for (const text of texts) {
          const heard = await eventsOf(app, id, () => comment(target, text, reply, owner))
          expect(names(heard)).toContain('AgentSessionEvent prompted')
          expect(names(heard)).not.toContain('AgentSessionEvent created')
        }
        await comment(target, 'working on it', reply, robot)
        await comment(target, 'between us', { ...reply, internal: true })
        await comment(target, 'elsewhere')
        const said = await session.activities()
        expect(said.map(({ content }) => content)).toEqual(texts.map((body) => ({ type: 'prompt', body })))
        expect(said.map(({ author }) => author.id)).toEqual(texts.map(() => owner.user.id))
        expect((await robot.get('/agent-sessions?limit=1')).body.data[0].id).toBe(session.id)
        const second = await mentioned(target)
        expect(second.id).not.toBe(session.id)
      }
    },
  )

  test(
    'of a session that is stopping are comments and no more; a mention after the end begins a new one',
    verifies('session.thread-reply-while-stopping', 'session.mention-opens'),
    async ({ app }) => {
      const scene = await sessionScene(app)
      const { newIssue, comment, mentioned, latest, id } = scene
      const issue = await newIssue()
      const session = await mentioned(issue)
      const reply = { parent_comment_id: session.comment.id }
      const quiet = async (text: string) => {
        const before = await session.activities()
        const events = await eventsOf(app, id, async () => {
          expect((await comment(issue, text, reply)).id).toMatch(/^cmt_/)
        })
        expect(names(events).filter((name) => name.startsWith('AgentSession'))).toEqual([])
        expect(await session.activities()).toEqual(before)
        expect((await latest()).id).toBe(session.id)
      }
      await session.stop()
      await quiet('wait')
      await quiet(mention(scene))
      app.clock.advance({ seconds: 60 })
      await quiet('still there?')
      const events = await eventsOf(app, id, () => comment(issue, mention(scene), reply))
      expect(names(events)).toContain('AgentSessionEvent created')
      expect((await latest()).id).not.toBe(session.id)
      expect(await latest()).toMatchObject({ state: 'pending' })
    },
  )

  test(
    'begin nothing for what an app says, or for an app that cannot be mentioned there',
    verifies('session.app-comment-opens-nothing', 'session.unmentionable-opens-nothing'),
    async ({ app }) => {
      const scene = await sessionScene(app)
      const { owner, member, robot, newIssue, otherTeam, id } = scene
      const other = await app.installed(owner, { scopes: ['read', 'write'] })
      const deaf = await app.installed(owner, { scopes: ['read', 'app:mentionable'] })
      const near = await newIssue()
      const far = await newIssue({ team_id: otherTeam.id })
      const opens: [Client, { id: string }, string][] = [
        [other, near, robot.userId],
        [robot, near, robot.userId],
        [member, near, other.userId],
        [member, near, deaf.userId],
        [member, far, robot.userId],
      ]
      for (const [by, issue, userId] of opens) {
        const text = `@[Robot](${userId}) look`
        const events = await eventsOf(app, id, async () => {
          const body = { target_type: 'issue', target_id: issue.id, text }
          expect(await by.post('/comments', body)).toMatchObject({ status: 201, body: { text } })
        })
        expect(names(events)).not.toContain('AgentSessionEvent created')
      }
      expect((await member.get('/agent-sessions')).body.data).toEqual([])
    },
  )

  test(
    'begin one session when many mention at once',
    verifies('session.one-open-per-delegation-and-thread'),
    async ({ app }) => {
      const scene = await sessionScene(app)
      const issue = await scene.newIssue()
      const root = await scene.comment(issue, 'Hm')
      const reply = { parent_comment_id: root.id }
      await Promise.all(Array.from({ length: 6 }, () => scene.comment(issue, mention(scene), reply)))
      const { data } = (await scene.robot.get('/agent-sessions')).body
      expect(data).toHaveLength(1)
      expect(await scene.at(data[0].id).activities()).toHaveLength(5)
    },
  )
})

describe('the inbox', () => {
  const told = async (person: Client) =>
    (await person.get('/inbox')).body.data.filter(({ kind }: { kind: string }) => kind.startsWith('agent_'))

  test('of who asked says that the agent needs them, once while unread', async ({ app }) => {
    const { owner, member, robot, newIssue, at, latest } = await sessionScene(app)
    const issue = await newIssue({ assignee_id: owner.user.id, delegate_id: robot.userId })
    const session = at((await latest()).id)
    for (const type of ['thought', 'action'] as const) await session.say(type)
    expect(await told(member)).toEqual([])
    await session.say('elicitation')
    const entry = {
      kind: 'agent_needs_you',
      subject_id: session.id,
      title: issue.title,
      url: issue.url,
      actor: { id: robot.userId, name: robot.app.name },
      read_at: null,
    }
    expect(await told(member)).toMatchObject([entry])
    await session.say('elicitation')
    expect(await told(member)).toHaveLength(1)
    await member.post('/inbox/read')
    await session.say('elicitation')
    expect(await told(member)).toMatchObject([entry, { kind: 'agent_needs_you' }])
    expect(await told(owner)).toEqual([])
  })

  test('says that the agent has finished, well or not', async ({ app }) => {
    const { delegated, mentioned, newProject, member } = await sessionScene(app)
    const project = await newProject()
    const sessions = [await delegated(), await delegated(), await mentioned(project)]
    for (const [index, session] of sessions.entries()) {
      await session.say(index === 1 ? 'error' : 'response')
      await session.say('response')
    }
    const entries = await told(member)
    expect(entries).toMatchObject(
      sessions.toReversed().map(({ id }) => ({ kind: 'agent_finished', subject_id: id, read_at: null })),
    )
    expect(entries[0]).toMatchObject({ title: project.title, url: `${app.ctx.config.appUrl}/project/${project.id}` })
  })

  test('asks for nobody once the question is answered, or the agent has gone on without', async ({ app }) => {
    const { delegated, member } = await sessionScene(app)
    for (const settle of [
      (id: string) => member.post(`/agent-sessions/${id}/activities`, { content: { type: 'prompt', body: 'Yes' } }),
      (id: string) => member.post(`/agent-sessions/${id}/stop`),
    ]) {
      const session = await delegated()
      await session.say('elicitation')
      expect((await told(member))[0]).toMatchObject({ subject_id: session.id, read_at: null })
      await settle(session.id)
      expect((await told(member))[0]).toMatchObject({ kind: 'agent_needs_you', read_at: expect.any(String) })
    }
    const session = await delegated()
    for (const type of ['elicitation', 'response'] as const) await session.say(type)
    expect((await told(member)).slice(0, 2)).toMatchObject([
      { kind: 'agent_finished', subject_id: session.id, read_at: null },
      { kind: 'agent_needs_you', subject_id: session.id, read_at: expect.any(String) },
    ])
  })

  test('does not tell who pressed Stop that the agent has stopped', async ({ app }) => {
    const { delegated, owner, member } = await sessionScene(app)
    for (const [person, entries] of [
      [member, 0],
      [owner, 1],
    ] as const) {
      const session = await delegated()
      await person.post(`/agent-sessions/${session.id}/stop`)
      await session.say('response')
      expect((await told(member)).filter((one: { subject_id: string }) => one.subject_id === session.id)).toHaveLength(
        entries,
      )
    }
  })

  test('of the assignee hears of a session that the agent began', async ({ app }) => {
    const { begun, newIssue, owner, member } = await sessionScene(app)
    const assigned = await begun({ issue_id: (await newIssue({ assignee_id: owner.user.id })).id })
    const nobodys = await begun({ issue_id: (await newIssue()).id })
    for (const type of ['elicitation', 'response'] as const) {
      await assigned.say(type)
      await nobodys.say(type)
    }
    expect(await told(owner)).toMatchObject([
      { kind: 'agent_finished', subject_id: assigned.id },
      { kind: 'agent_needs_you', subject_id: assigned.id },
    ])
    expect(await told(member)).toEqual([])
  })

  test('hears nothing of what was refused or came again, or from people', async ({ app }) => {
    const { delegated, member, robot } = await sessionScene(app)
    const session = await delegated()
    const headers = { 'idempotency-key': 'k' }
    await session.write('Hello')
    await session.say({ type: 'response', body: '' })
    expect(await told(member)).toEqual([])
    await session.say('response', {}, headers)
    await member.post('/inbox/read')
    await robot.post(`${session.path}/activities`, { content: contents.response }, { headers })
    expect(await told(member)).toHaveLength(1)
  })
})
