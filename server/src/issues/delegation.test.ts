import { describe, expect } from 'vitest'
import { at, done, say, teamwork, workScopes } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'

const needsAssignee = { status: 422, body: { code: 'DELEGATION_REQUIRES_ASSIGNEE' } }
const unavailable = (reason: string) => ({
  status: 422,
  body: { code: 'DELEGATE_UNAVAILABLE', details: { reason } },
})

describe('delegating', () => {
  test(
    'sets the delegate, leaves the assignee, and opens a session',
    verifies(
      'delegation.sets-delegate-not-assignee',
      'delegation.opens-session',
      'delegation.does-not-need-mentionable',
      'scope.assignable-allows-delegation',
      'event.issue-data-delegate',
    ),
    async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver, { scopes: ['app:assignable'] })
      const { id, owner, member, robot, team, sessionsOn, issueIn } = scene
      const issue = await issueIn(team.id, { assignee_id: owner.user.id })
      expect(issue.delegate_id).toBeNull()
      const events = await eventsOf(app, id, async () => {
        const answer = await done(member.put(`/issues/${issue.id}`, { delegate_id: robot.userId }))
        expect(answer).toMatchObject({ delegate_id: robot.userId, assignee_id: owner.user.id })
      })
      expect(names(events)).toEqual(['Issue update', 'AgentSessionEvent created'])
      expect(events[0]?.body.data).toMatchObject({ delegate_id: robot.userId, assignee_id: owner.user.id })
      const { updated_at: _, ...changed } = events[0]?.body.updated_from ?? {}
      expect(changed).toEqual({ delegate_id: null, delegation_revision: 0 })
      const sessions = await sessionsOn(issue)
      expect(sessions).toMatchObject([
        {
          state: 'pending',
          issue: { id: issue.id },
          comment: null,
          creator: { id: member.user.id },
          app_user_id: robot.userId,
        },
      ])
      expect(sessions).toHaveLength(1)
    },
  )

  test(
    'makes the delegator the assignee of an unassigned issue, in the same write',
    verifies('delegation.unassigned-issue-makes-delegator-assignee'),
    async ({ app, receiver }) => {
      const { id, member, owner, robot, team, issueIn, reread } = await teamwork(app, receiver)
      const issue = await done(owner.post('/issues', { title: 'By another', team_id: team.id }))
      expect(issue).toMatchObject({ assignee_id: null, reporter_id: owner.user.id })
      const events = await eventsOf(app, id, () => member.put(`/issues/${issue.id}`, { delegate_id: robot.userId }))
      expect(await reread(issue)).toMatchObject({ delegate_id: robot.userId, assignee_id: member.user.id })
      expect(names(events)).toEqual(['Issue update', 'AgentSessionEvent created'])
      expect(events[0]?.body.updated_from).toMatchObject({ assignee_id: null, delegate_id: null })
      // An assignee in the same write is kept.
      const other = await issueIn(team.id)
      const both = { delegate_id: robot.userId, assignee_id: owner.user.id }
      expect(await done(member.put(`/issues/${other.id}`, both))).toMatchObject(both)
    },
  )

  test(
    'requires an assignee from the team if the delegator is outside the team',
    verifies(
      'delegation.outsider-unassigned-422',
      'delegation.outsider-naming-teammate-accepted',
      'delegation.outsider-assigned-issue-accepted',
      'delegation.named-assignee-must-be-teammate',
    ),
    async ({ app, receiver }) => {
      const { admin, owner, member, robot, team, join, issueIn } = await teamwork(app, receiver)
      const stranger = await join('member')
      const issue = await issueIn(team.id)
      const delegate = { delegate_id: robot.userId }
      for (const body of [
        delegate,
        ...[null, admin, stranger].map((one) => ({ ...delegate, assignee_id: one?.user.id ?? null })),
      ]) {
        expect(await app.unchanged(() => admin.put(`/issues/${issue.id}`, body)), JSON.stringify(body)).toMatchObject(
          needsAssignee,
        )
        const made = { title: 'A bug', team_id: team.id, ...body }
        expect(await app.unchanged(() => admin.post('/issues', made))).toMatchObject(needsAssignee)
      }
      const named = { ...delegate, assignee_id: member.user.id }
      expect(await done(admin.put(`/issues/${issue.id}`, named))).toMatchObject(named)
      expect(await done(admin.post('/issues', { title: 'A bug', team_id: team.id, ...named }))).toMatchObject(named)
      const assigned = await issueIn(team.id, { assignee_id: owner.user.id })
      const kept = await done(admin.put(`/issues/${assigned.id}`, delegate))
      expect(kept).toMatchObject({ ...delegate, assignee_id: owner.user.id })
      // An existing assignee is kept, even one outside the team.
      const theirs = await issueIn(team.id, { assignee_id: stranger.user.id })
      expect(await done(admin.put(`/issues/${theirs.id}`, delegate))).toMatchObject({ assignee_id: stranger.user.id })
    },
  )

  test(
    'works when creating the issue',
    verifies('delegation.on-create', 'delegation.unassigned-issue-makes-delegator-assignee'),
    async ({ app, receiver }) => {
      const { id, member, robot, team, sessionsOn } = await teamwork(app, receiver)
      let issue = { id: '' }
      const events = await eventsOf(app, id, async () => {
        issue = await done(member.post('/issues', { title: 'A bug', team_id: team.id, delegate_id: robot.userId }))
      })
      expect(issue).toMatchObject({
        delegate_id: robot.userId,
        assignee_id: member.user.id,
        delegation_revision: 1,
      })
      expect(names(events)).toEqual(['Issue create', 'AgentSessionEvent created'])
      expect(events[0]?.body.data).toMatchObject({ delegate_id: robot.userId, delegation_revision: 1 })
      expect(await sessionsOn(issue)).toMatchObject([{ issue: { id: issue.id }, creator: { id: member.user.id } }])
    },
  )

  test(
    'refuses to clear the assignee of a delegated issue',
    verifies('delegation.assignee-cannot-be-cleared'),
    async ({ app, receiver }) => {
      const { owner, member, robot, team, delegated, issueIn, reread } = await teamwork(app, receiver)
      const { issue } = await delegated()
      const clear = () => member.put(`/issues/${issue.id}`, { assignee_id: null })
      expect(await app.unchanged(clear)).toMatchObject(needsAssignee)
      const assigned = await issueIn(team.id, { assignee_id: owner.user.id })
      const swap = { assignee_id: null, delegate_id: robot.userId }
      expect(await app.unchanged(() => member.put(`/issues/${assigned.id}`, swap))).toMatchObject(needsAssignee)
      expect(await done(member.put(`/issues/${issue.id}`, { assignee_id: owner.user.id }))).toMatchObject({
        assignee_id: owner.user.id,
        delegate_id: robot.userId,
        delegation_revision: 1,
      })
      await done(member.put(`/issues/${issue.id}`, { assignee_id: null, delegate_id: null }))
      expect(await reread(issue)).toMatchObject({ assignee_id: null, delegate_id: null, delegation_revision: 2 })
    },
  )
})

describe('removing a delegation', () => {
  test(
    'sends the agent a stop signal and keeps the assignee',
    verifies(
      'delegation.removed-ends-session-undelegated',
      'delegation.removed-keeps-assignee',
      'event.prompted-on-undelegate',
    ),
    async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver)
      const { id, owner, member, robot, delegated, rereadSession, receivedDuring } = scene
      const { issue, session } = await delegated()
      const arrived = await receivedDuring(async () => {
        const events = await eventsOf(app, id, async () => {
          const answer = await done(owner.put(`/issues/${issue.id}`, { delegate_id: null }))
          expect(answer).toMatchObject({ delegate_id: null, assignee_id: member.user.id })
        })
        expect(names(events)).toEqual(['Issue update', 'AgentSessionEvent prompted'])
      })
      expect(arrived.map(({ body }) => body)).toMatchObject([
        {
          action: 'prompted',
          actor: { id: owner.user.id, type: 'user' },
          data: {
            agent_session: { id: session.id, state: 'stopping', end_reason: 'undelegated', ended_at: null },
            agent_activity: {
              content: { type: 'prompt', body: 'Stop' },
              signal: 'stop',
              signal_metadata: { reason: 'undelegated' },
            },
          },
        },
      ])
      await done(robot.post(`/agent-sessions/${session.id}/activities`, { content: { type: 'response', body: 'Bye' } }))
      expect(await rereadSession(session)).toMatchObject({
        state: 'complete',
        end_reason: 'undelegated',
        ended_at: app.clock.now().toISOString(),
      })
    },
  )

  test(
    'by delegating to another agent stops the first session and opens a second',
    verifies('delegation.moved-to-other-agent-ends-session-undelegated', 'event.prompted-on-undelegate'),
    async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver)
      const { id, owner, member, team, delegated, sessionsOn, rereadSession } = scene
      const second = await app.installed(owner, { scopes: workScopes, teamIds: [team.id], webhook: receiver.url })
      const { issue, session } = await delegated()
      const events = await eventsOf(app, id, () => owner.put(`/issues/${issue.id}`, { delegate_id: second.userId }))
      expect(names(events)).toEqual(['Issue update', 'AgentSessionEvent prompted', 'AgentSessionEvent created'])
      expect(events[1]?.body.data).toMatchObject({
        agent_session: { id: session.id },
        agent_activity: { signal: 'stop', signal_metadata: { reason: 'undelegated' } },
      })
      const [fresh, old] = await sessionsOn(issue)
      expect(old).toMatchObject({ id: session.id, state: 'stopping', end_reason: 'undelegated', ended_at: null })
      expect(fresh).toMatchObject({ app_user_id: second.userId, creator: { id: owner.user.id }, state: 'pending' })
      expect(events[2]?.body.data.agent_session.id).toBe(fresh.id)
      expect((await member.get(`/issues/${issue.id}`)).body.assignee_id).toBe(member.user.id)
      app.clock.advance({ seconds: 60 })
      expect(await rereadSession(session)).toMatchObject({ state: 'complete', end_reason: 'undelegated' })
      expect(await rereadSession(fresh)).toMatchObject({ ended_at: null })
    },
  )

  test('stops only the session of that delegation', async ({ app, receiver }) => {
    const { id, member, robot, delegated, sessionsOn, rereadSession } = await teamwork(app, receiver)
    const { issue, session } = await delegated()
    await say(member, issue, `${at(robot)} look here`)
    const own = await done(robot.post('/agent-sessions', { issue_id: issue.id }))
    const [, mentioned] = await sessionsOn(issue)
    expect(mentioned.comment.body).toContain('look here')
    // Delegating again opens a new session before the old one has ended.
    await done(member.put(`/issues/${issue.id}`, { delegate_id: null }))
    const events = await eventsOf(app, id, () => member.put(`/issues/${issue.id}`, { delegate_id: robot.userId }))
    expect(names(events)).toEqual(['Issue update', 'AgentSessionEvent created'])
    const [again] = await sessionsOn(issue)
    expect(again).toMatchObject({ state: 'pending', comment: null, creator: { id: member.user.id } })
    expect(await sessionsOn(issue)).toHaveLength(4)
    expect(await rereadSession(session)).toMatchObject({ state: 'stopping', end_reason: 'undelegated' })
    for (const other of [mentioned, own]) {
      expect(await rereadSession(other)).toMatchObject({ end_reason: null, ended_at: null })
    }
    const stopped = await eventsOf(app, id, () => member.put(`/issues/${issue.id}`, { delegate_id: null }))
    expect(names(stopped)).toEqual(['Issue update', 'AgentSessionEvent prompted'])
    expect(stopped[1]?.body.data.agent_session.id).toBe(again.id)
  })

  test('sends no stop signal to a session that has ended', async ({ app, receiver }) => {
    const { id, member, delegated, rereadSession } = await teamwork(app, receiver)
    const { issue, session } = await delegated()
    await done(member.post(`/agent-sessions/${session.id}/stop`))
    app.clock.advance({ seconds: 60 })
    const events = await eventsOf(app, id, () => member.put(`/issues/${issue.id}`, { delegate_id: null }))
    expect(names(events)).toEqual(['Issue update'])
    expect(await rereadSession(session)).toMatchObject({ end_reason: 'stopped' })
  })
})

test(
  'the revision counts only changes of the delegate',
  verifies(
    'delegation.revision-starts-at-0',
    'delegation.revision-increments-on-each-change',
    'delegation.revision-unchanged-without-delegate-change',
  ),
  async ({ app, receiver }) => {
    const { id, owner, member, robot, team, issueIn } = await teamwork(app, receiver)
    const second = await app.installed(owner, { scopes: workScopes, webhook: receiver.url })
    const issue = await issueIn(team.id)
    expect(issue.delegation_revision).toBe(0)
    const put = async (body: object) => (await done(member.put(`/issues/${issue.id}`, body))).delegation_revision
    expect(await put({ delegate_id: null })).toBe(0)
    expect(await put({ delegate_id: robot.userId })).toBe(1)
    const silent = await eventsOf(app, id, async () => expect(await put({ delegate_id: robot.userId })).toBe(1))
    expect(silent).toEqual([])
    expect(await put({ title: 'Better', status: 'todo', assignee_id: owner.user.id })).toBe(1)
    expect((await done(robot.put(`/issues/${issue.id}`, { status: 'qa' }))).delegation_revision).toBe(1)
    expect(await put({ delegate_id: second.userId })).toBe(2)
    expect(await put({ delegate_id: null })).toBe(3)
    expect(await put({ delegate_id: robot.userId })).toBe(4)
  },
)

describe('refuses a delegation, and writes nothing, if the delegate', () => {
  test('is a person or unknown', verifies('delegation.human-delegate-422'), async ({ app, receiver }) => {
    const { owner, member, robot, team, issueIn } = await teamwork(app, receiver)
    const elsewhere = await teamwork(app, receiver)
    const issue = await issueIn(team.id)
    expect(robot.userId).not.toBe(elsewhere.robot.userId)
    for (const delegate_id of [owner.user.id, member.user.id, elsewhere.robot.userId, 'usr_x', '']) {
      const refusal = { status: 422, body: { code: 'VALIDATION_ERROR', details: { delegate_id: expect.any(String) } } }
      expect(await app.unchanged(() => member.put(`/issues/${issue.id}`, { delegate_id })), delegate_id).toMatchObject(
        refusal,
      )
      const post = () => member.post('/issues', { title: 'A bug', team_id: team.id, delegate_id })
      expect(await app.unchanged(post), delegate_id).toMatchObject(refusal)
    }
  })

  test(
    'is not available, with the first reason that applies',
    verifies(
      'delegation.unavailable-not-installed-for-team',
      'delegation.unavailable-after-uninstall',
      'delegation.unavailable-missing-scope',
      'delegation.unavailable-webhook-disabled',
      'delegation.unavailable-writes-nothing',
      'delegation.first-missing-requirement-is-reason',
      'manifest.webhook-enabled-false-blocks-delegation',
      'scope.assignable-missing-refuses-delegation',
    ),
    async ({ app, receiver }) => {
      const { owner, member, robot, team, outside, issueIn } = await teamwork(app, receiver)
      const scopes = ['read', 'write', 'app:mentionable']
      const lacking = await app.installed(owner, { scopes, teamIds: [team.id], webhook: receiver.url })
      const lackingAll = await app.installed(owner, { scopes, teamIds: [team.id] })
      const off = { url: receiver.url, enabled: false }
      const disabled = await app.installed(owner, { scopes: workScopes, teamIds: [team.id], webhook: off })
      const issues = {
        covered: await issueIn(team.id),
        other: await issueIn(outside.id),
        teamless: await issueIn(null),
        personal: await issueIn(null, { personal: true }),
      }
      const refused = async (issue: { id: string }, to: { userId: string }, reason: string) => {
        const put = () => member.put(`/issues/${issue.id}`, { delegate_id: to.userId, assignee_id: member.user.id })
        expect(await app.unchanged(put)).toMatchObject(unavailable(reason))
      }
      for (const place of [issues.other, issues.teamless, issues.personal]) {
        for (const one of [robot, lackingAll, disabled]) await refused(place, one, 'app_not_installed_for_team')
      }
      for (const one of [lacking, lackingAll]) await refused(issues.covered, one, 'app_missing_scope')
      await refused(issues.covered, disabled, 'app_webhook_disabled')
      await done(owner.post(`/agent-apps/${robot.app.id}/webhook/disable`))
      await refused(issues.covered, robot, 'app_webhook_disabled')
      await done(owner.post(`/agent-apps/${robot.app.id}/webhook/enable`))
      await done(member.put(`/issues/${issues.covered.id}`, { delegate_id: robot.userId }))
      await done(owner.delete(`/installations/${robot.installationId}`))
      await refused(issues.covered, robot, 'app_not_installed_for_team')
    },
  )

  test('was set by an app', async ({ app, receiver }) => {
    const { robot, delegated } = await teamwork(app, receiver)
    const { issue } = await delegated()
    for (const delegate_id of [null, robot.userId]) {
      expect(await app.unchanged(() => robot.put(`/issues/${issue.id}`, { delegate_id }))).toMatchObject({
        status: 400,
        body: { code: 'INVALID_DELEGATE', details: { reason: 'app_actor' } },
      })
    }
  })
})

test('an issue without a team can be delegated to an app that covers all teams', async ({ app, receiver }) => {
  const { admin, robot, issueIn, sessionsOn } = await teamwork(app, receiver, { everywhere: true })
  const issue = await issueIn(null)
  // Without a team, every member counts as inside.
  expect(await done(admin.put(`/issues/${issue.id}`, { delegate_id: robot.userId }))).toMatchObject({
    assignee_id: admin.user.id,
  })
  expect(await sessionsOn(issue)).toMatchObject([{ issue: { id: issue.id, team: null } }])
})
