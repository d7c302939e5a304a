import { describe, expect } from 'vitest'
import { done, teamwork } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestPerson, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { issueScene, makeIssue } from '../../test/issues.ts'
import { sql } from '../db/sql.ts'

const membership = ({ user }: TestPerson) => `/workspaces/me/members/${user.id}`
const history = async (by: TestPerson, issue: { id: string }) =>
  (await done(by.get(`/issues/${issue.id}/history`))).data

describe('a member who leaves', () => {
  test('is unassigned from every issue', verifies('member.leaving-unassigns'), async ({ app }) => {
    const scene = await issueScene(app)
    const { id, owner, admin, member, team, other } = scene
    const assigned = [
      await makeIssue(scene, { assignee_id: member.user.id }),
      await makeIssue(scene, { assignee_id: member.user.id, team_id: other.id, status: 'done' }),
      await makeIssue(scene, { assignee_id: member.user.id, team_id: null }),
    ]
    const own = await done(member.post('/issues', { title: 'Mine', personal: true, assignee_id: member.user.id }))
    const others = [await makeIssue(scene, { assignee_id: owner.user.id }), await makeIssue(scene)]
    // The same person in another workspace keeps their issue there.
    const elsewhere = await app.workspace()
    const invitation = { email: member.user.email, role: 'member' }
    const { token } = await done(elsewhere.owner.post('/workspaces/me/invitations', invitation))
    await done(member.post('/invitations/accept', { token }))
    const there = await done(elsewhere.owner.post('/issues', { title: 'There', assignee_id: member.user.id }))

    app.clock.advance({ minutes: 1 })
    const events = await eventsOf(app, id, () => done(admin.delete(membership(member))))
    expect(names(events)).toEqual(assigned.map(() => 'Issue update'))
    for (const issue of assigned) {
      const after = await done(owner.get(`/issues/${issue.id}`))
      expect(after).toEqual({ ...issue, assignee_id: null, updated_at: app.clock.now().toISOString() })
      const { sort_order, personal, url, ...data } = after
      expect(events.find(({ body }) => body.data.id === issue.id)?.body).toMatchObject({
        actor: { id: admin.user.id, type: 'user', name: admin.user.display_name },
        data,
        updated_from: { assignee_id: member.user.id, updated_at: issue.updated_at },
        url: issue.url,
      })
      expect((await history(owner, issue))[0]).toMatchObject({
        actor: { id: admin.user.id },
        changes: { assignee_id: { from: member.user.id, to: null } },
      })
    }
    expect(events.map(({ team_ids }) => team_ids)).toEqual([[team.id], [other.id], []])
    for (const issue of others) expect(await done(owner.get(`/issues/${issue.id}`))).toEqual(issue)
    expect((await done(elsewhere.owner.get(`/issues/${there.id}`))).assignee_id).toBe(member.user.id)
    // It can no longer be read through the API.
    const stored = await app.ctx.db.row(sql`select assignee_id from issues where id = ${own.id}`)
    expect(stored).toEqual({ assignee_id: null })
  })

  test(
    'by themselves, is the actor of these changes',
    verifies('member.leaving-unassigns'),
    async ({ app, receiver }) => {
      const { owner, member, robot, issueIn, receivedDuring, outside, team } = await teamwork(app, receiver, {
        resourceTypes: ['Issue'],
      })
      const issue = await issueIn(team.id, { assignee_id: member.user.id })
      await issueIn(outside.id, { assignee_id: member.user.id })
      const received = await receivedDuring(() => done(member.delete(membership(member))))
      // The app gets the update of the team that it covers.
      expect(received.map(({ body }) => [body.type, body.action, body.data.id, body.actor.id])).toEqual([
        ['Issue', 'update', issue.id, member.user.id],
      ])
      expect((await history(owner, issue))[0].actor).toMatchObject({ id: member.user.id })
      expect((await robot.get(`/issues/${issue.id}`)).body.assignee_id).toBeNull()
    },
  )

  test(
    'leaves delegated issues to the person who removed them',
    verifies('member.leaving-delegated-keeps-human'),
    async ({ app, receiver }) => {
      const { owner, admin, member, robot, delegated, reread, rereadSession } = await teamwork(app, receiver)
      const { issue, session } = await delegated(member)
      expect(issue.assignee_id).toBe(member.user.id)
      await done(admin.delete(membership(member)))
      expect(await reread(issue)).toMatchObject({
        assignee_id: admin.user.id,
        delegate_id: robot.userId,
        delegation_revision: issue.delegation_revision,
      })
      expect(await rereadSession(session)).toMatchObject({ state: 'pending', end_reason: null, ended_at: null })
      const activity = await robot.post(`/agent-sessions/${session.id}/activities`, {
        content: { type: 'response', body: 'Done' },
      })
      expect(activity.status).toBe(201)
      // It was their own action.
      expect((await done(admin.get('/inbox'))).data).toEqual([])
      expect((await done(owner.get('/inbox'))).data).toEqual([])
    },
  )

  test(
    'by themselves, leaves delegated issues to the owner of longest standing',
    verifies('member.leaving-delegated-keeps-human'),
    async ({ app, receiver }) => {
      const { id, owner, member, robot, join, delegated, issueIn, reread, rereadSession, team } = await teamwork(
        app,
        receiver,
      )
      app.clock.advance({ minutes: 1 })
      const second = await join('owner')
      // The account of the other owner is older, the membership is not.
      await app.ctx.db.run(sql`
        update memberships set joined_at = joined_at - interval '1 day' where user_id = ${second.user.id}`)
      const { issue, session } = await delegated(member)
      const plain = await issueIn(team.id, { assignee_id: member.user.id })
      const events = await eventsOf(app, id, () => done(member.delete(membership(member))))
      expect(names(events)).toEqual(['Issue update', 'Issue update'])
      expect(await reread(issue)).toMatchObject({ assignee_id: second.user.id, delegate_id: robot.userId })
      expect((await reread(plain)).assignee_id).toBeNull()
      expect((await rereadSession(session)).end_reason).toBeNull()
      const { data } = await done(second.get('/inbox'))
      expect(data).toMatchObject([{ kind: 'assignment', subject_id: issue.id, actor: { id: member.user.id } }])

      // An owner who leaves is not their own successor.
      await done(second.delete(membership(second)))
      expect((await done(owner.get(`/issues/${issue.id}`))).assignee_id).toBe(owner.user.id)
    },
  )

  test('loses their own agents, so issues delegated to those become free', async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member } = scene
    const agent = await done(member.post('/agents/personal', { name: 'Helper', instructions: 'Help' }))
    const issue = await makeIssue(scene, { assignee_id: member.user.id })
    await done(owner.put(`/teams/${scene.team.id}/members/${member.user.id}`))
    await done(member.put(`/issues/${issue.id}`, { delegate_id: agent.id }))
    await done(owner.delete(membership(member)))
    expect(await done(owner.get(`/issues/${issue.id}`))).toMatchObject({ assignee_id: null, delegate_id: null })
  })

  test(
    'gets no issue that was assigned to them concurrently',
    verifiesOnPostgres('member.leaving-unassigns'),
    async ({ app }) => {
      const scene = await issueScene(app)
      for (let round = 0; round < 5; round++) {
        const leaver = await scene.join('member')
        const issue = await makeIssue(scene)
        const to = { assignee_id: leaver.user.id }
        const answers = await Promise.all([
          scene.owner.put(`/issues/${issue.id}`, to),
          scene.admin.delete(membership(leaver)),
          scene.owner.post('/issues', { title: 'New', team_id: scene.team.id, ...to }),
        ])
        expect(answers[1].status).toBe(204)
        for (const { status } of [answers[0], answers[2]]) expect([200, 201, 422]).toContain(status)
        const { data } = await done(scene.owner.get(`/issues?assignee_id=${leaver.user.id}`))
        expect(data).toEqual([])
      }
    },
  )
})
