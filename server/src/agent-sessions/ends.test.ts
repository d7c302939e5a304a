import { describe, expect } from 'vitest'
import { at, done, eventNames, say, type Teamwork, teamwork, workScopes } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { consent } from '../../test/oauth.ts'

const ended = (app: TestApp, reason: string) => ({
  state: 'complete',
  end_reason: reason,
  ended_at: app.clock.now().toISOString(),
})

/** Verifies that each write is refused with the reason and changes nothing. */
async function isOver(app: TestApp, { robot, owner }: Teamwork, session: { id: string }, reason: string) {
  const path = `/agent-sessions/${session.id}`
  for (const write of [
    () => robot.post(`${path}/activities`, { content: { type: 'thought', body: 'Still here' } }),
    () => robot.patch(path, { plan: [] }),
    () => owner.post(`${path}/activities`, { content: { type: 'prompt', body: 'Still there?' } }),
    () => owner.post(`${path}/stop`),
  ]) {
    expect(await app.unchanged(write)).toMatchObject({
      status: 409,
      body: { code: 'SESSION_ENDED', details: { end_reason: reason } },
    })
  }
}

describe('an installation that loses a team', () => {
  test(
    'loses the delegations and sessions on issues of that team',
    verifies(
      'delegation.released-on-team-removal',
      'installation.removed-team-releases-delegations',
      'installation.removed-team-ends-sessions',
      'installation.removed-team-ends-project-sessions',
      'installation.immediate-ends-send-no-prompted',
      'event.no-prompted-on-immediate-end',
    ),
    async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver, { resourceTypes: ['Issue'] })
      const { id, owner, member, robot, team, outside, issueIn, delegated, sessionsOn, sessions, reread } = scene
      const path = `/installations/${robot.installationId}`
      await done(owner.patch(path, { team_ids: [team.id, outside.id] }))
      const { issue: lost, session } = await delegated()
      const { issue: mentioned } = { issue: await issueIn(team.id) }
      await say(member, mentioned, at(robot))
      await done(robot.post('/agent-sessions', { issue_id: mentioned.id }))
      const kept = await issueIn(outside.id, { assignee_id: member.user.id })
      await done(member.put(`/issues/${kept.id}`, { delegate_id: robot.userId }))
      const project = (team_ids: string[]) => done(member.post('/projects', { title: 'A plan', team_ids }))
      for (const team_ids of [[team.id], [team.id, outside.id]]) await say(member, await project(team_ids), at(robot))
      const [both, alone] = await sessions()
      const keptBefore = await reread(kept)

      app.clock.advance({ seconds: 5 })
      const arrived = await scene.receivedDuring(async () => {
        const events = await eventsOf(app, id, () => owner.patch(path, { team_ids: [outside.id] }))
        expect(names(events)).toEqual(['PermissionChange teamAccessChanged', 'Issue update'])
        expect(events[1]?.body).toMatchObject({
          actor: { id: owner.user.id, type: 'user' },
          data: { id: lost.id, delegate_id: null, delegation_revision: 2, assignee_id: member.user.id },
          updated_from: { delegate_id: robot.userId, delegation_revision: 1 },
        })
      })
      expect(eventNames(arrived)).toEqual(['PermissionChange teamAccessChanged'])
      const released = await reread(lost)
      expect(released).toMatchObject({ delegate_id: null, delegation_revision: 2, assignee_id: member.user.id })
      expect(released.updated_at > lost.updated_at).toBe(true)
      expect(await reread(kept)).toEqual(keptBefore)
      const over = [session, ...(await sessionsOn(mentioned)), alone]
      expect(over).toHaveLength(4)
      for (const one of over) {
        expect(await scene.rereadSession(one)).toMatchObject(ended(app, 'team_removed'))
        await isOver(app, scene, one, 'team_removed')
      }
      for (const one of [both, ...(await sessionsOn(kept))]) {
        expect(await scene.rereadSession(one)).toMatchObject({ state: 'pending', end_reason: null, ended_at: null })
      }
      expect((await owner.get(`/issues/${lost.id}/history`)).body.data[0]).toMatchObject({
        actor: { id: owner.user.id },
        changes: { delegate_id: { from: robot.userId, to: null } },
      })
    },
  )

  test('by a new approval loses them too', async ({ app, receiver }) => {
    const { id, owner, robot, team, outside, delegated, rereadSession, reread } = await teamwork(app, receiver)
    const { issue, session } = await delegated()
    const approve = (teamId: string) => () =>
      consent(owner, robot.app.client_id, { team_ids: [teamId] }, { scope: workScopes.join(' ') })
    expect(await eventsOf(app, id, approve(team.id))).toEqual([])
    expect(await rereadSession(session)).toMatchObject({ ended_at: null })
    const events = await eventsOf(app, id, approve(outside.id))
    expect(names(events)).toEqual(['PermissionChange teamAccessChanged', 'Issue update'])
    expect(await reread(issue)).toMatchObject({ delegate_id: null })
    expect(await rereadSession(session)).toMatchObject(ended(app, 'team_removed'))
  })

  test('by changing from all teams to some loses those on issues without a team', async ({ app, receiver }) => {
    const scene = await teamwork(app, receiver, { everywhere: true })
    const { owner, member, robot, team, issueIn, delegated, sessionsOn, reread } = scene
    const teamless = await issueIn(null)
    await done(member.put(`/issues/${teamless.id}`, { delegate_id: robot.userId }))
    const { issue } = await delegated()
    await done(owner.patch(`/installations/${robot.installationId}`, { team_ids: [team.id] }))
    expect(await reread(teamless)).toMatchObject({ delegate_id: null })
    expect(await sessionsOn(teamless)).toMatchObject([ended(app, 'team_removed')])
    expect(await reread(issue)).toMatchObject({ delegate_id: robot.userId })
    expect(await sessionsOn(issue)).toMatchObject([{ ended_at: null }])
  })

  test('keeps the end reason of a session whose stopping timeout has passed, but not of one that is still stopping', async ({
    app,
    receiver,
  }) => {
    const scene = await teamwork(app, receiver)
    const { owner, member, robot, outside, delegated, rereadSession } = scene
    const old = await delegated()
    await done(member.post(`/agent-sessions/${old.session.id}/stop`))
    const stoppedAt = app.clock.now().getTime()
    app.clock.advance({ seconds: 60 })
    const fresh = await delegated()
    await done(member.post(`/agent-sessions/${fresh.session.id}/stop`))
    await done(owner.patch(`/installations/${robot.installationId}`, { team_ids: [outside.id] }))
    expect(await rereadSession(old.session)).toMatchObject({
      end_reason: 'stopped',
      ended_at: new Date(stoppedAt + 60_000).toISOString(),
    })
    expect(await rereadSession(fresh.session)).toMatchObject(ended(app, 'team_removed'))
  })
})

test(
  'uninstalling or deleting the app ends its delegations and sessions, with `revoked` as the only event',
  verifies(
    'delegation.released-on-uninstall',
    'installation.uninstall-releases-delegations',
    'installation.uninstall-ends-sessions',
    'installation.immediate-ends-send-no-prompted',
    'event.no-prompted-on-immediate-end',
  ),
  async ({ app, receiver }) => {
    for (const gone of ['installation', 'app']) {
      const scene = await teamwork(app, receiver, { everywhere: true, resourceTypes: ['Issue'] })
      const { id, owner, member, robot, outside, issueIn, delegated, sessions, reread } = scene
      const issues = [(await delegated()).issue, await issueIn(outside.id, { assignee_id: owner.user.id })]
      await done(member.put(`/issues/${issues[1].id}`, { delegate_id: robot.userId }))
      const finished = await issueIn(outside.id, { assignee_id: owner.user.id })
      await done(member.put(`/issues/${finished.id}`, { delegate_id: robot.userId }))
      await done(member.put(`/issues/${finished.id}`, { status: 'done' }))
      issues.push(finished)
      const project = await done(member.post('/projects', { title: 'A plan' }))
      await say(member, project, at(robot))
      await say(member, issues[0], at(robot))
      expect(await sessions()).toHaveLength(5)
      app.clock.advance({ seconds: 5 })
      const arrived = await scene.receivedDuring(async () => {
        const events = await eventsOf(app, id, () =>
          owner.delete(gone === 'app' ? `/agent-apps/${robot.app.id}` : `/installations/${robot.installationId}`),
        )
        expect(names(events)).toEqual(['Issue update', 'Issue update', 'Issue update', 'OAuthApp revoked'])
      })
      expect(eventNames(arrived)).toEqual(['OAuthApp revoked'])
      for (const issue of issues)
        expect(await reread(issue)).toMatchObject({ delegate_id: null, delegation_revision: 2 })
      for (const session of await sessions()) expect(session).toMatchObject(ended(app, 'uninstalled'))
      // The history names the app, which no list has any more.
      const { data } = await done(member.get(`/issues/${issues[1].id}/history`))
      const robots = [{ id: robot.userId, name: robot.app.name }]
      expect(data).toMatchObject([
        { changes: { delegate_id: { to: null } }, former_agents: robots },
        { changes: { delegate_id: { to: robot.userId } }, former_agents: robots },
      ])
    }
  },
)

describe('an issue', () => {
  test(
    'that moves to a team that is not covered loses its delegate',
    verifies('installation.issue-moved-out', 'event.no-prompted-on-immediate-end'),
    async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver, { resourceTypes: ['Issue'] })
      const { id, owner, member, robot, outside, delegated, sessionsOn, receivedDuring, reread } = scene
      for (const team_id of [outside.id, null]) {
        const { issue } = await delegated()
        await say(member, issue, at(robot))
        app.clock.advance({ seconds: 5 })
        const arrived = await receivedDuring(async () => {
          const events = await eventsOf(app, id, () => owner.put(`/issues/${issue.id}`, { team_id }))
          expect(names(events)).toEqual(['Issue update'])
        })
        expect(eventNames(arrived)).toEqual(['Issue update'])
        expect(arrived[0]?.body).toMatchObject({
          data: { team_id, delegate_id: null, delegation_revision: 2, assignee_id: member.user.id },
          updated_from: { team_id: issue.team_id, delegate_id: robot.userId },
        })
        expect(await reread(issue)).toMatchObject({ team_id, delegate_id: null })
        const over = await sessionsOn(issue)
        expect(over).toHaveLength(2)
        for (const session of over) {
          expect(session).toMatchObject(ended(app, 'team_removed'))
          await isOver(app, scene, session, 'team_removed')
        }
      }
    },
  )

  test('that moves between covered teams keeps delegate and session', async ({ app, receiver }) => {
    const scene = await teamwork(app, receiver)
    const { id, owner, robot, team, outside, delegated, sessionsOn } = scene
    await done(owner.patch(`/installations/${robot.installationId}`, { team_ids: [team.id, outside.id] }))
    const { issue } = await delegated()
    const events = await eventsOf(app, id, async () => {
      const moved = await done(owner.put(`/issues/${issue.id}`, { team_id: outside.id }))
      expect(moved).toMatchObject({ delegate_id: robot.userId, delegation_revision: 1 })
    })
    expect(names(events)).toEqual(['Issue update'])
    const [session] = await sessionsOn(issue)
    expect(session).toMatchObject({ ended_at: null, issue: { identifier: 'DES-1', team: { id: outside.id } } })
  })

  test(
    'that becomes personal loses its delegate without an event',
    verifies('issue.made-personal-loses-team', 'event.no-prompted-on-immediate-end'),
    async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver, { resourceTypes: ['Issue', 'Comment'] })
      const { id, owner, member, robot, delegated, sessions, rereadSession, receivedDuring } = scene
      const { issue, session } = await delegated()
      const root = await say(member, issue, at(robot))
      const [mentioned] = await sessions()
      const own = (by: typeof owner) => by.put(`/issues/${issue.id}`, { personal: true })
      expect(await app.unchanged(() => own(owner))).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      app.clock.advance({ seconds: 5 })
      const arrived = await receivedDuring(async () => {
        const events = await eventsOf(app, id, async () => {
          expect(await done(own(member))).toMatchObject({
            personal: true,
            team_id: null,
            delegate_id: null,
            delegation_revision: 2,
            reporter_id: member.user.id,
          })
          await say(member, issue, 'To myself', { under: root })
        })
        expect(events).toEqual([])
      })
      expect(arrived).toEqual([])
      for (const one of [session, mentioned]) {
        expect(await rereadSession(one, robot)).toMatchObject(ended(app, 'team_removed'))
      }
      expect((await owner.get(`/issues/${issue.id}`)).status).toBe(404)
      expect(await robot.get(`/issues/${issue.id}`)).toMatchObject({ status: 403 })
    },
  )

  test(
    'that is deleted ends its sessions, and apps that subscribed to issues get `remove`',
    verifies('event.issue-remove-needs-opt-in', 'event.no-prompted-on-immediate-end'),
    async ({ app, receiver }) => {
      for (const resourceTypes of [['Issue'], ['Comment', 'Project']]) {
        const scene = await teamwork(app, receiver, { resourceTypes })
        const { id, owner, member, robot, delegated, sessionsOn, rereadSession, receivedDuring } = scene
        const { issue } = await delegated()
        await say(member, issue, at(robot))
        const before = await sessionsOn(issue)
        app.clock.advance({ seconds: 5 })
        const arrived = await receivedDuring(async () => {
          const events = await eventsOf(app, id, () => owner.delete(`/issues/${issue.id}`))
          expect(names(events)).toEqual(['Issue remove'])
        })
        expect(eventNames(arrived)).toEqual(resourceTypes[0] === 'Issue' ? ['Issue remove'] : [])
        expect(before).toHaveLength(2)
        for (const session of before) {
          expect(await rereadSession(session, robot)).toMatchObject({
            issue: session.issue,
            ...ended(app, 'issue_deleted'),
          })
          await isOver(app, scene, session, 'issue_deleted')
        }
      }
    },
  )
})

test(
  'a project that is deleted, becomes personal or leaves the covered teams ends its sessions',
  verifies('project.delete-ends-sessions', 'event.no-prompted-on-immediate-end'),
  async ({ app, receiver }) => {
    const scene = await teamwork(app, receiver)
    const { id, member, robot, team, outside, sessions, rereadSession, receivedDuring } = scene
    const ways: [string, string[], (path: string) => Promise<{ status: number }>][] = [
      ['issue_deleted', ['Project remove'], (path) => member.delete(path)],
      ['team_removed', [], (path) => member.put(path, { personal: true })],
      ['team_removed', ['Project update'], (path) => member.put(path, { team_ids: [outside.id] })],
    ]
    for (const [reason, expected, change] of ways) {
      const project = await done(member.post('/projects', { title: 'A plan', team_ids: [team.id, outside.id] }))
      await say(member, project, at(robot))
      const [session] = await sessions()
      await done(member.put(`/projects/${project.id}`, { team_ids: [team.id] }))
      expect(await rereadSession(session)).toMatchObject({ ended_at: null })
      const arrived = await receivedDuring(async () => {
        const events = await eventsOf(app, id, () => change(`/projects/${project.id}`))
        expect(names(events)).toEqual(expected)
      })
      expect(arrived).toEqual([])
      expect(await rereadSession(session, robot), reason).toMatchObject(ended(app, reason))
    }
  },
)

describe('an app that lost access to an issue', () => {
  const ways: Record<string, (scene: Teamwork, issue: { id: string }) => Promise<unknown>> = {
    'because it moved': ({ member, outside }, { id }) => done(member.put(`/issues/${id}`, { team_id: outside.id })),
    'because it became personal': ({ member }, { id }) => done(member.put(`/issues/${id}`, { personal: true })),
    'because its own teams changed': ({ owner, robot, outside }) =>
      done(owner.patch(`/installations/${robot.installationId}`, { team_ids: [outside.id] })),
  }
  for (const [why, lose] of Object.entries(ways)) {
    test(`${why} sees its sessions as they were at that time`, async ({ app, receiver }) => {
      const scene = await teamwork(app, receiver)
      const { member, robot, delegated, rereadSession, sessionsOn } = scene
      const { issue } = await delegated()
      const root = await say(member, issue, `${at(robot)} please`)
      const [mentioned, first] = await sessionsOn(issue)
      // Also a session that ended long before.
      await done(member.post(`/agent-sessions/${first.id}/stop`))
      app.clock.advance({ seconds: 60 })
      await lose(scene, issue)
      await done(member.put(`/issues/${issue.id}`, { title: 'A secret' }))
      await done(member.put(`/comments/${root.id}`, { text: 'Another secret' }))
      await say(member, issue, 'A third secret', { under: root })
      for (const session of [mentioned, first]) {
        const seen = await rereadSession(session, robot)
        expect(seen).toMatchObject({ issue: session.issue, comment: session.comment })
        expect((await done(robot.get(`/agent-sessions?issue_id=${issue.id}`))).data).toContainEqual(seen)
        const activities = await robot.get(`/agent-sessions/${session.id}/activities`)
        expect(JSON.stringify([seen, activities.body])).not.toContain('secret')
      }
      expect(await robot.get(`/issues/${issue.id}`)).toMatchObject({ status: 403 })
      expect(await robot.post('/agent-sessions', { issue_id: issue.id })).toMatchObject({ status: 404 })
      expect(await robot.post('/agent-sessions', { comment_id: root.id })).toMatchObject({ status: 404 })
    })
  }
})

/** Counts the statements in transactions during `work`. */
async function statements(app: TestApp, work: () => Promise<unknown>): Promise<number> {
  const { db } = app.ctx
  const tx = db.tx.bind(db)
  let made = 0
  const counted = <Query extends (...args: never[]) => unknown>(query: Query) =>
    ((...args) => {
      made += 1
      return query(...args)
    }) as Query
  db.tx = (inside) =>
    tx((inner) => inside({ ...inner, rows: counted(inner.rows), row: counted(inner.row), run: counted(inner.run) }))
  try {
    await work()
  } finally {
    db.tx = tx
  }
  return made
}

test('a change of coverage takes as many statements for two hundred issues as for two', async ({ app, receiver }) => {
  const count = async (issues: number) => {
    const { owner, member, robot, team, outside, sessions } = await teamwork(app, receiver)
    for (let number = 0; number < issues; number++) {
      const issue = { title: 'A bug', team_id: team.id, delegate_id: robot.userId }
      await done(member.post('/issues', issue))
    }
    const made = await statements(app, () =>
      done(owner.patch(`/installations/${robot.installationId}`, { team_ids: [outside.id] })),
    )
    expect((await done(owner.get(`/issues?delegate_id=${robot.userId}`))).data).toEqual([])
    expect((await sessions()).length).toBe(Math.min(issues, 50))
    for (const session of await sessions()) expect(session.end_reason).toBe('team_removed')
    return made
  }
  const two = await count(2)
  expect(two).toBeGreaterThan(0)
  expect(await count(200)).toBe(two)
})
