import { describe, expect } from 'vitest'
import { at, done, eventNames, say, type Teamwork, teamwork } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'

const post = (by: Teamwork['owner'] | Teamwork['robot'], session: { id: string }, content: object) =>
  done(by.post(`/agent-sessions/${session.id}/activities`, { content }))

const person = ({ user }: Teamwork['owner']) => ({ id: user.id, type: 'user', name: user.display_name })

describe('created', () => {
  test(
    'is sent for a delegation, with the whole session',
    verifies(
      'event.created-on-delegation',
      'event.created-payload',
      'event.created-event-id',
      'envelope.actor-person-on-session-event',
    ),
    async ({ app, receiver }) => {
      const { id, member, robot, delegated, receivedDuring, rereadSession } = await teamwork(app, receiver)
      let given: Awaited<ReturnType<typeof delegated>> | undefined
      const arrived = await receivedDuring(async () => {
        given = await delegated()
      })
      const { issue, session } = given as NonNullable<typeof given>
      expect(arrived).toHaveLength(1)
      const { data, ...envelope } = arrived[0]?.body ?? {}
      const now = app.clock.now().toISOString()
      expect(envelope).toEqual({
        type: 'AgentSessionEvent',
        action: 'created',
        actor: person(member),
        created_at: now,
        url: issue.url,
        workspace_id: id,
        webhook_id: expect.stringMatching(/^whk_/),
        webhook_timestamp: app.clock.now().getTime(),
        installation_id: robot.installationId,
        app_user_id: robot.userId,
      })
      expect(data).toEqual({
        event_id: `ase_${session.id}_created`,
        agent_session: await rereadSession(session, robot),
        previous_comments: [],
        guidance: [],
        prompt_context: expect.stringContaining('<issue '),
      })
      expect(data.agent_session).toEqual({
        id: session.id,
        state: 'pending',
        unresponsive_since: null,
        issue: {
          id: issue.id,
          identifier: issue.code,
          title: 'A bug',
          url: issue.url,
          team: { id: issue.team_id, key: 'ENG', name: 'Engineering' },
        },
        comment: null,
        creator: { id: member.user.id, name: member.user.display_name },
        app_user_id: robot.userId,
        plan: [],
        external_urls: [],
        changes: null,
        usage: null,
        budget_reached: null,
        created_at: now,
        updated_at: now,
        ended_at: null,
        end_reason: null,
      })
    },
  )

  test(
    'of a mention has the URL of the comment, and the comment as it was then',
    verifies('event.created-on-mention', 'envelope.actor-person-on-session-event'),
    async ({ app, receiver }) => {
      const { owner, member, robot, team, issueIn, receivedDuring } = await teamwork(app, receiver)
      const issue = await issueIn(team.id)
      const arrived = await receivedDuring(async () => {
        const comment = await say(owner, issue, at(robot))
        await done(member.put(`/issues/${issue.id}`, { title: 'Another bug' }))
        await done(owner.put(`/comments/${comment.id}`, { text: 'Never mind' }))
      })
      expect(arrived.map(({ body }) => body)).toMatchObject([
        {
          action: 'created',
          actor: person(owner),
          url: expect.stringMatching(/\/issue\/ENG-1#comment-cmt_/),
          data: { agent_session: { issue: { title: 'A bug' }, comment: { body: at(robot) } } },
        },
      ])
      const { url, data } = arrived[0]?.body ?? {}
      expect(data.agent_session.comment.url).toBe(url)
    },
  )

  test(
    'is not sent for a session that the app opened itself',
    verifies('event.no-created-on-app-opened-session'),
    async ({ app, receiver }) => {
      const { id, owner, member, robot, team, issueIn, receivedDuring } = await teamwork(app, receiver)
      const issue = await issueIn(team.id)
      const comment = await say(member, issue, 'Slow')
      const opened: { id: string }[] = []
      const silent = await receivedDuring(async () => {
        const events = await eventsOf(app, id, async () => {
          for (const body of [{ issue_id: issue.id }, { comment_id: comment.id }]) {
            opened.push(await done(robot.post('/agent-sessions', body)))
          }
        })
        expect(events).toEqual([])
      })
      expect(silent).toEqual([])
      // People can write in it as in any other session.
      for (const session of opened) {
        const arrived = await receivedDuring(() => post(owner, session, { type: 'prompt', body: 'What is it?' }))
        expect(eventNames(arrived)).toEqual(['AgentSessionEvent prompted'])
      }
    },
  )
})

describe('prompted', () => {
  test(
    'is sent for every message, in every state',
    verifies(
      'event.prompted-on-message',
      'event.prompted-payload',
      'event.prompted-event-id',
      'envelope.actor-person-on-session-event',
    ),
    async ({ app, receiver }) => {
      const { owner, robot, delegated, receivedDuring, rereadSession } = await teamwork(app, receiver)
      const { issue, session } = await delegated()
      const states: [string, () => Promise<unknown>][] = [
        ['pending', async () => {}],
        ['active', () => post(robot, session, { type: 'thought', body: 'Hm' })],
        ['awaitingInput', () => post(robot, session, { type: 'elicitation', body: 'Which?' })],
        ['complete', () => post(robot, session, { type: 'response', body: 'Done' })],
        ['error', () => post(robot, session, { type: 'error', body: 'Oh' })],
        ['stale', async () => app.clock.advance({ minutes: 30 })],
      ]
      for (const [state, lead] of states) {
        await lead()
        expect((await rereadSession(session)).state).toBe(state)
        let message = { id: '', seq: 0 }
        const arrived = await receivedDuring(async () => {
          message = await post(owner, session, { type: 'prompt', body: `While ${state}` })
        })
        expect(arrived, state).toHaveLength(1)
        const { type, action, actor, url, data } = arrived[0]?.body ?? {}
        expect({ type, action, actor, url }).toEqual({
          type: 'AgentSessionEvent',
          action: 'prompted',
          actor: person(owner),
          url: issue.url,
        })
        expect(data).toEqual({
          event_id: `ase_${session.id}_act_${message.seq}`,
          agent_session: await rereadSession(session),
          agent_activity: {
            id: message.id,
            seq: message.seq,
            type: 'prompt',
            content: { type: 'prompt', body: `While ${state}` },
            signal: null,
            signal_metadata: null,
            author: { id: owner.user.id, name: owner.user.display_name },
            created_at: app.clock.now().toISOString(),
          },
        })
      }
    },
  )

  test('has the selected values of an answer', verifies('event.prompted-on-message'), async ({ app, receiver }) => {
    const { owner, robot, delegated, receivedDuring } = await teamwork(app, receiver)
    const { session } = await delegated()
    const path = `/agent-sessions/${session.id}/activities`
    const asked = await done(
      robot.post(path, {
        content: { type: 'elicitation', body: 'Which?' },
        signal: 'select',
        signal_metadata: { options: [{ value: 'a' }, { value: 'b' }] },
      }),
    )
    const signal_metadata = { in_reply_to: asked.id, selected: ['b'] }
    const arrived = await receivedDuring(() =>
      done(owner.post(path, { content: { type: 'prompt', body: 'b' }, signal_metadata })),
    )
    expect(arrived.map(({ body }) => body.data.agent_activity)).toMatchObject([{ signal: null, signal_metadata }])
  })

  test(
    'is sent once for Stop',
    verifies('event.prompted-on-stop', 'envelope.actor-person-on-session-event'),
    async ({ app, receiver }) => {
      const { owner, member, delegated, receivedDuring } = await teamwork(app, receiver)
      const { session } = await delegated()
      const arrived = await receivedDuring(async () => {
        await done(owner.post(`/agent-sessions/${session.id}/stop`))
        await done(member.post(`/agent-sessions/${session.id}/stop`))
      })
      expect(arrived.map(({ body }) => body)).toMatchObject([
        {
          action: 'prompted',
          actor: person(owner),
          data: {
            event_id: `ase_${session.id}_act_1`,
            agent_session: { state: 'stopping', end_reason: 'stopped', ended_at: null },
            agent_activity: {
              seq: 1,
              content: { type: 'prompt', body: 'Stop' },
              signal: 'stop',
              signal_metadata: { reason: 'stopped' },
            },
          },
        },
      ])
      const refused = await app.unchanged(() =>
        owner.post(`/agent-sessions/${session.id}/activities`, { content: { type: 'prompt', body: 'No, go on' } }),
      )
      expect(refused).toMatchObject({ status: 409, body: { code: 'SESSION_ENDED' } })
    },
  )

  test(
    'is not sent for activities, plans and links of the app',
    verifies('event.no-event-for-app-activity'),
    async ({ app, receiver }) => {
      const { id, robot, delegated, receivedDuring } = await teamwork(app, receiver)
      const { session } = await delegated()
      const arrived = await receivedDuring(async () => {
        const events = await eventsOf(app, id, async () => {
          for (const type of ['thought', 'elicitation', 'error', 'response'])
            await post(robot, session, { type, body: 'x' })
          await post(robot, session, { type: 'action', action: 'Read', parameter: '' })
          const change = {
            plan: [{ content: 'Look', status: 'pending' }],
            external_urls: [{ label: 'PR', url: 'https://example.com/1' }],
          }
          await done(robot.patch(`/agent-sessions/${session.id}`, change))
        })
        expect(events).toEqual([])
      })
      expect(arrived).toEqual([])
    },
  )
})

describe('the actor of an event that an app causes', () => {
  test(
    'is the person who delegated, on an issue delegated to it',
    verifies('envelope.actor-under-delegation'),
    async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver, { resourceTypes: ['Issue'] })
      const { id, owner, member, robot, team, issueIn, delegated, receivedDuring } = scene
      const actors = async (work: () => Promise<unknown>) =>
        (await eventsOf(app, id, work)).map(({ type, action, body }) => [`${type} ${action}`, body.data.id, body.actor])
      const itself = { id: robot.userId, type: 'application', name: robot.app.name }
      const plain = await issueIn(team.id)
      const { issue } = await delegated(owner)
      const update = () => done(robot.put(`/issues/${issue.id}`, { status: 'in_progress' }))
      expect(await actors(update)).toEqual([['Issue update', issue.id, person(owner)]])
      // Only one side of a block is delegated to it.
      const block = () => done(robot.put(`/issues/${issue.id}`, { blocks_ids: [plain.id] }))
      expect(await actors(block)).toEqual([
        ['Issue update', issue.id, person(owner)],
        ['Issue update', plain.id, itself],
      ])
      const unblock = () => done(robot.put(`/issues/${plain.id}`, { blocked_by_ids: [] }))
      expect(await actors(unblock)).toEqual([
        ['Issue update', plain.id, itself],
        ['Issue update', issue.id, person(owner)],
      ])
      const create = () => done(robot.post('/issues', { title: 'Found', team_id: team.id, blocks_ids: [issue.id] }))
      expect(await actors(create)).toEqual([
        ['Issue create', expect.any(String), itself],
        ['Issue update', issue.id, person(owner)],
      ])
      // Delegated again by another person; the assignee does not matter.
      await done(owner.put(`/issues/${issue.id}`, { delegate_id: null }))
      expect(await actors(() => done(robot.put(`/issues/${issue.id}`, { status: 'qa' })))).toEqual([
        ['Issue update', issue.id, itself],
      ])
      await done(member.put(`/issues/${issue.id}`, { delegate_id: robot.userId }))
      // Changes by people name the person; a comment of the app names the app.
      expect(await actors(() => done(owner.put(`/issues/${issue.id}`, { title: 'New' })))).toEqual([
        ['Issue update', issue.id, person(owner)],
      ])
      expect(await actors(() => say(robot, issue, 'Working'))).toEqual([['Comment create', expect.any(String), itself]])
      const arrived = await receivedDuring(async () => {
        expect(await actors(() => robot.delete(`/issues/${issue.id}`))).toEqual([
          ['Issue remove', issue.id, person(member)],
        ])
      })
      expect(arrived.map(({ body }) => body.actor)).toEqual([person(member)])
    },
  )

  test(
    'is the person who opened the session, on a project with an open session of the app',
    verifies('event.project-actor-under-session', 'envelope.actor-under-delegation'),
    async ({ app, receiver }) => {
      const { id, owner, robot, team, sessions, member } = await teamwork(app, receiver)
      const project = await done(member.post('/projects', { title: 'A plan', team_ids: [team.id] }))
      let number = 0
      const actor = async () => {
        const change = () => done(robot.put(`/projects/${project.id}`, { title: `Plan ${++number}` }))
        const events = await eventsOf(app, id, change)
        expect(names(events)).toEqual(['Project update'])
        return events[0]?.body.actor
      }
      const itself = { id: robot.userId, type: 'application', name: robot.app.name }
      expect(await actor()).toEqual(itself)
      const comment = await say(owner, project, at(robot))
      const [session] = await sessions()
      expect(await actor()).toEqual(person(owner))
      // A session that the app opened itself does not change that.
      const other = await say(member, project, 'By the way')
      const own = await done(robot.post('/agent-sessions', { comment_id: other.id }))
      expect(await actor()).toEqual(person(owner))
      await done(owner.post(`/agent-sessions/${session.id}/stop`))
      expect(await actor()).toEqual(person(owner))
      // No timer has run: the session ended by its timeout.
      app.clock.advance({ seconds: 60 })
      expect(await actor()).toEqual(itself)
      expect(own.creator.id).toBe(robot.userId)
      await say(member, project, at(robot), { under: comment })
      const events = await eventsOf(app, id, () => robot.delete(`/projects/${project.id}`))
      expect(names(events)).toEqual(['Project remove'])
      expect(events[0]?.body.actor).toEqual(person(member))
    },
  )
})
