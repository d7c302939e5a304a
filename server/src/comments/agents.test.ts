import { describe, expect } from 'vitest'
import { at, done, eventNames, say, type Teamwork, teamwork, workScopes } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'

/** Expects that a comment is stored and recorded, and that no session changes. */
async function expectNoPrompt(
  app: TestApp,
  { id, sessions }: Teamwork,
  comment: () => Promise<{ id: string; text: string }>,
  expectedEvents = ['Comment create'],
) {
  // Without the comment: a session shows its current text, which an edit changes.
  const readSessions = async () =>
    (await sessions()).map(({ comment: _, ...session }: { id: string; comment: unknown }) => session)
  const before = await readSessions()
  const events = await eventsOf(app, id, async () => {
    expect((await comment()).id).toMatch(/^cmt_/)
  })
  expect(names(events)).toEqual(expectedEvents)
  expect(await readSessions()).toEqual(before)
}

describe('a mention', () => {
  test(
    'opens a session, and requires only the scope app:mentionable',
    verifies(
      'mention.opens-session',
      'mention.does-not-need-assignable',
      'scope.mentionable-allows-mention',
      'event.created-on-mention',
    ),
    async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver, { scopes: ['app:mentionable'] })
      const { id, member, robot, team, issueIn, sessions, receivedDuring } = scene
      const issue = await issueIn(team.id)
      let comment = { id: '' }
      const arrived = await receivedDuring(async () => {
        const events = await eventsOf(app, id, async () => {
          comment = await say(member, issue, `${at(robot)} please`)
        })
        expect(names(events)).toEqual(['Comment create', 'AgentSessionEvent created'])
      })
      expect(eventNames(arrived)).toEqual(['AgentSessionEvent created'])
      const all = await sessions()
      expect(all).toMatchObject([
        {
          state: 'pending',
          issue: { id: issue.id },
          comment: { id: comment.id, body: `${at(robot)} please` },
          creator: { id: member.user.id },
          app_user_id: robot.userId,
        },
      ])
      expect(arrived[0]?.body.data.agent_session).toEqual(all[0])
    },
  )

  test(
    'opens one session per thread and agent, even if repeated in a text',
    verifies('mention.in-other-thread-opens-second-session'),
    async ({ app, receiver }) => {
      const { id, owner, member, robot, team, issueIn, sessionsOn } = await teamwork(app, receiver)
      const second = await app.installed(owner, { scopes: workScopes, webhook: receiver.url })
      const issue = await issueIn(team.id)
      const first = await say(member, issue, `${at(robot)} and ${at(robot)} again`)
      const other = await eventsOf(app, id, () => say(member, issue, `${at(robot)} over here`))
      expect(names(other)).toEqual(['Comment create', 'AgentSessionEvent created'])
      expect((await sessionsOn(issue)).length).toBe(2)
      // A mention of the second agent in the first agent's thread prompts the first and opens a session for the second.
      const reply = await eventsOf(app, id, () => say(owner, issue, `${at(second)} too`, { under: first }))
      expect(names(reply)).toEqual(['Comment create', 'AgentSessionEvent prompted', 'AgentSessionEvent created'])
      expect((await sessionsOn(issue)).map((one: { app_user_id: string }) => one.app_user_id)).toEqual([
        second.userId,
        robot.userId,
        robot.userId,
      ])
      const both = await eventsOf(app, id, () => say(owner, issue, 'Both of you', { under: first }))
      expect(names(both)).toEqual(['Comment create', 'AgentSessionEvent prompted', 'AgentSessionEvent prompted'])
    },
  )

  test(
    'in a reply opens a session in its thread',
    verifies('mention.opens-session', 'mention.reply-in-open-thread-is-message'),
    async ({ app, receiver }) => {
      const { id, member, owner, robot, team, issueIn, sessions } = await teamwork(app, receiver)
      const issue = await issueIn(team.id)
      const root = await say(member, issue, 'It is slow')
      const reply = await say(owner, issue, `${at(robot)} why?`, { under: root })
      expect(await sessions()).toMatchObject([{ comment: { id: reply.id }, creator: { id: owner.user.id } }])
      const events = await eventsOf(app, id, () => say(member, issue, 'I know', { under: reply }))
      expect(names(events)).toEqual(['Comment create', 'AgentSessionEvent prompted'])
      expect(await sessions()).toHaveLength(1)
    },
  )

  test(
    'in a description opens no session',
    verifies('mention.in-description-opens-nothing', 'event.no-created-on-description-mention'),
    async ({ app, receiver }) => {
      const { id, member, robot, team, sessions, receivedDuring } = await teamwork(app, receiver)
      const description = `${at(robot)} please`
      const arrived = await receivedDuring(async () => {
        const events = await eventsOf(app, id, async () => {
          const issue = await done(member.post('/issues', { title: 'A bug', team_id: team.id, description }))
          const project = await done(member.post('/projects', { title: 'A plan', team_ids: [team.id], description }))
          await done(member.put(`/issues/${issue.id}`, { description: `${description}!` }))
          await done(member.put(`/projects/${project.id}`, { description: `${description}!` }))
        })
        expect(names(events)).toEqual(['Issue create', 'Project create', 'Issue update', 'Project update'])
      })
      expect(arrived).toEqual([])
      expect(await sessions()).toEqual([])
    },
  )

  test(
    'by an agent, or in an internal comment, is ignored',
    verifies('mention.app-own-comment-opens-nothing', 'mention.internal-comment-opens-nothing'),
    async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver)
      const { owner, member, robot, team, issueIn } = scene
      const second = await app.installed(owner, { scopes: workScopes, webhook: receiver.url })
      const issue = await issueIn(team.id)
      for (const agent of [robot, second]) await expectNoPrompt(app, scene, () => say(agent, issue, at(robot)))
      const internal = await say(member, issue, 'Among us', { internal: true })
      await expectNoPrompt(app, scene, () => say(member, issue, at(robot), { internal: true }), [])
      await expectNoPrompt(app, scene, () => say(member, issue, at(robot), { under: internal }), [])
      const open = await say(member, issue, `${at(robot)} go`)
      for (const agent of [robot, second]) {
        await expectNoPrompt(app, scene, () => say(agent, issue, 'A word', { under: open }))
        await expectNoPrompt(app, scene, () => say(agent, issue, at(robot), { under: open }))
      }
      await expectNoPrompt(app, scene, () => say(member, issue, at(robot), { under: open, internal: true }), [])
      const own = await done(member.post('/issues', { title: 'Mine', personal: true }))
      await expectNoPrompt(app, scene, () => say(member, own, at(robot)), [])
    },
  )

  test(
    'of an unavailable app is a plain comment',
    verifies(
      'mention.needs-team-coverage',
      'mention.needs-scope-mentionable',
      'mention.needs-webhook-enabled',
      'mention.needs-active-installation',
      'mention.unmentionable-comment-still-stored',
      'manifest.webhook-enabled-false-blocks-mention',
      'scope.mentionable-missing-opens-nothing',
    ),
    async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver)
      const { owner, member, robot, team, outside, issueIn, sessionsOn } = scene
      const scopes = ['read', 'write', 'app:assignable']
      const lacking = await app.installed(owner, { scopes, webhook: receiver.url })
      const disabled = await app.installed(owner, {
        scopes: workScopes,
        webhook: { url: receiver.url, enabled: false },
      })
      const issue = await issueIn(team.id)
      const elsewhere = await issueIn(outside.id)
      const teamless = await issueIn(null)
      for (const [place, one] of [
        [elsewhere, robot],
        [teamless, robot],
        [issue, lacking],
        [issue, disabled],
      ] as const) {
        await expectNoPrompt(app, scene, async () => {
          const comment = await say(member, place, at(one))
          expect((await member.get(`/comments/${comment.id}`)).body).toMatchObject({
            text: at(one),
            mentioned_user_ids: [one.userId],
          })
          return comment
        })
      }
      await done(owner.post(`/agent-apps/${robot.app.id}/webhook/disable`))
      await expectNoPrompt(app, scene, () => say(member, issue, at(robot)))
      await done(owner.post(`/agent-apps/${robot.app.id}/webhook/enable`))
      await say(member, issue, at(robot))
      expect(await sessionsOn(issue)).toHaveLength(1)
      await done(owner.delete(`/installations/${robot.installationId}`))
      await expectNoPrompt(app, scene, () => say(member, issue, at(robot)))
    },
  )

  test(
    'on a project requires coverage of one of its teams, or of all teams',
    verifies('mention.project-covered-by-team', 'mention.project-covered-by-all-teams', 'mention.project-not-covered'),
    async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver)
      const { id, owner, member, robot, team, outside, sessions } = scene
      const everywhere = await app.installed(owner, { scopes: workScopes, webhook: receiver.url })
      const project = (team_ids: string[]) => done(member.post('/projects', { title: 'A plan', team_ids }))
      const both = await project([team.id, outside.id])
      const other = await project([outside.id])
      const none = await project([])
      for (const [place, one] of [
        [both, robot],
        [other, everywhere],
        [none, everywhere],
      ] as const) {
        const events = await eventsOf(app, id, () => say(member, place, at(one)))
        expect(names(events)).toEqual(['Comment create', 'AgentSessionEvent created'])
        const [session] = await sessions()
        expect(session).toMatchObject({ issue: null, app_user_id: one.userId, comment: { body: at(one) } })
        expect(session.comment.url).toBe(`${place.url}#comment-${session.comment.id}`)
      }
      for (const place of [other, none]) await expectNoPrompt(app, scene, () => say(member, place, at(robot)))
    },
  )
})

describe('a thread with an open session', () => {
  test(
    'passes every reply of a person to the session',
    verifies(
      'mention.in-open-thread-is-message',
      'mention.reply-in-open-thread-is-message',
      'event.prompted-on-thread-reply',
    ),
    async ({ app, receiver }) => {
      const { owner, member, robot, team, issueIn, sessionsOn, receivedDuring } = await teamwork(app, receiver)
      const issue = await issueIn(team.id)
      const root = await say(member, issue, `${at(robot)} go`)
      const [session] = await sessionsOn(issue)
      const answers = [
        ['awaitingInput', { type: 'elicitation', body: 'Which one?' }],
        ['complete', { type: 'response', body: 'Done' }],
        ['error', { type: 'error', body: 'Oh no' }],
      ] as const
      for (const [state, content] of answers) {
        await done(robot.post(`/agent-sessions/${session.id}/activities`, { content }))
        expect((await sessionsOn(issue))[0].state).toBe(state)
        for (const text of ['The first', `${at(robot)} the first`]) {
          const arrived = await receivedDuring(() => say(owner, issue, text, { under: root }))
          expect(arrived.map(({ body }) => body)).toMatchObject([
            {
              type: 'AgentSessionEvent',
              action: 'prompted',
              actor: { id: owner.user.id },
              data: {
                agent_session: { id: session.id, state: 'pending' },
                agent_activity: { content: { type: 'prompt', body: text }, signal: null },
              },
            },
          ])
        }
      }
      expect(await sessionsOn(issue)).toHaveLength(1)
      const { data } = await done(robot.get(`/agent-sessions/${session.id}/activities`))
      expect(data.map((one: { author: { kind: string } }) => one.author.kind)).toEqual(
        answers.flatMap(() => ['app', 'user', 'user']),
      )
      // A comment outside the thread is not a message.
      expect(await receivedDuring(() => say(owner, issue, 'By the way'))).toEqual([])
    },
  )

  test('ignores replies once it is stopping; a mention after the end opens a new session', async ({
    app,
    receiver,
  }) => {
    const scene = await teamwork(app, receiver)
    const { id, member, robot, team, issueIn, sessionsOn } = scene
    const issue = await issueIn(team.id)
    const root = await say(member, issue, at(robot))
    const [first] = await sessionsOn(issue)
    await done(member.post(`/agent-sessions/${first.id}/stop`))
    for (const text of ['Wait', at(robot)]) {
      await expectNoPrompt(app, scene, () => say(member, issue, text, { under: root }))
    }
    // The session has ended by time, before a timer stored it.
    app.clock.advance({ seconds: 60 })
    await expectNoPrompt(app, scene, () => say(member, issue, 'Wait', { under: root }))
    const events = await eventsOf(app, id, () => say(member, issue, at(robot), { under: root }))
    expect(names(events)).toEqual(['Comment create', 'AgentSessionEvent created'])
    const [second, old] = await sessionsOn(issue)
    expect(second).toMatchObject({ state: 'pending', ended_at: null })
    expect(old).toMatchObject({ id: first.id, end_reason: 'stopped' })
  })

  test('continues after its first comment was deleted', async ({ app, receiver }) => {
    const { member, owner, robot, team, issueIn, sessions, rereadSession, receivedDuring } = await teamwork(
      app,
      receiver,
    )
    const issue = await issueIn(team.id)
    const project = await done(member.post('/projects', { title: 'A plan', team_ids: [team.id] }))
    for (const place of [issue, project]) {
      const root = await say(owner, place, 'Slow')
      const reply = await say(member, place, at(robot), { under: root })
      const [session] = await sessions()
      await done(member.delete(`/comments/${reply.id}`))
      expect(await rereadSession(session)).toMatchObject({ comment: null, state: 'pending', ended_at: null })
      const arrived = await receivedDuring(() => say(owner, place, 'And?', { under: root }))
      expect(arrived.map(({ body }) => body)).toMatchObject([
        { action: 'prompted', url: place.url, data: { agent_session: { id: session.id, comment: null } } },
      ])
    }
  })
})

describe('an edit', () => {
  test('opens or prompts a session only if it adds a mention', async ({ app, receiver }) => {
    const scene = await teamwork(app, receiver)
    const { id, owner, member, robot, team, issueIn, sessionsOn } = scene
    const second = await app.installed(owner, { scopes: workScopes, webhook: receiver.url })
    const issue = await issueIn(team.id)
    const root = await say(member, issue, 'Somebody?')
    const edit = (comment: { id: string }, text: string) => () => done(member.put(`/comments/${comment.id}`, { text }))
    const events = await eventsOf(app, id, edit(root, `${at(robot)}?`))
    expect(names(events)).toEqual(['Comment update', 'AgentSessionEvent created'])
    expect(events[1]?.body.data.agent_session.comment).toMatchObject({ id: root.id, body: `${at(robot)}?` })
    const reply = await say(member, issue, 'Well', { under: root })
    const editWithoutPrompt = (text: string) => expectNoPrompt(app, scene, edit(reply, text), ['Comment update'])
    await editWithoutPrompt('Well?')
    const prompted = await eventsOf(app, id, edit(reply, `${at(robot)}, well?`))
    expect(names(prompted)).toEqual(['Comment update', 'AgentSessionEvent prompted'])
    expect(prompted[1]?.body.data).toMatchObject({
      agent_session: { id: events[1]?.body.data.agent_session.id },
      agent_activity: { content: { type: 'prompt', body: `${at(robot)}, well?` }, author: { id: member.user.id } },
    })
    for (const text of [`${at(robot)}, well!`, 'Well']) await editWithoutPrompt(text)
    await expectNoPrompt(app, scene, edit(root, `${at(robot)}!`), ['Comment update'])
    const resolve = () => done(member.put(`/comments/${root.id}`, { is_resolved: true }))
    await expectNoPrompt(app, scene, resolve, ['Comment update'])
    expect(await sessionsOn(issue)).toHaveLength(1)

    // Only the newly mentioned agent is prompted.
    const others = await eventsOf(app, id, edit(root, `${at(robot)} and ${at(second)}!`))
    expect(names(others)).toEqual(['Comment update', 'AgentSessionEvent created'])
    expect(others[1]?.body.data.agent_session.app_user_id).toBe(second.userId)
    for (const session of await sessionsOn(issue)) await done(member.post(`/agent-sessions/${session.id}/stop`))
    await editWithoutPrompt(`${at(robot)}, are you there?`)
    const among = await say(member, issue, 'Among us', { under: root, internal: true })
    await expectNoPrompt(app, scene, edit(among, at(robot)), [])
  })
})

test(
  'concurrent mentions of an agent in one thread open one session',
  verifiesOnPostgres('mention.in-open-thread-is-message'),
  async ({ app, receiver }) => {
    const scene = await teamwork(app, receiver)
    const { id, owner, member, admin, robot, team, issueIn, sessionsOn } = scene
    for (let round = 0; round < 5; round++) {
      const issue = await issueIn(team.id)
      const root = await say(member, issue, 'Somebody?')
      const events = await eventsOf(app, id, () =>
        Promise.all([owner, member, admin].map((one) => say(one, issue, at(robot), { under: root }))),
      )
      expect(await sessionsOn(issue)).toHaveLength(1)
      const ofAgent = names(events).filter((name) => name.startsWith('Agent'))
      expect(ofAgent.sort()).toEqual([
        'AgentSessionEvent created',
        'AgentSessionEvent prompted',
        'AgentSessionEvent prompted',
      ])
    }
  },
)
