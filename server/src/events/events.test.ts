import { describe, expect } from 'vitest'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, test } from '../../test/harness.ts'

const scene = async (app: TestApp) => {
  const workspace = await app.workspace()
  const [a, b] = [
    (await workspace.owner.post('/teams', { name: 'A', key: 'AAA' })).body,
    (await workspace.owner.post('/teams', { name: 'B', key: 'BBB' })).body,
  ]
  return { ...workspace, a, b }
}

describe('an event', () => {
  test('of an issue has the actor, the action and the previous values', async ({ app }) => {
    const { id, owner, member, a } = await scene(app)
    const [created] = await eventsOf(app, id, () => owner.post('/issues', { title: 'A bug', team_id: a.id }))
    const issue = (await owner.get('/issues/AAA-1')).body
    const { url, personal: _, sort_order: __, ...data } = issue
    const actor = { id: owner.user.id, type: 'user', name: owner.user.display_name }
    const created_at = app.clock.now().toISOString()
    expect(created).toMatchObject({
      id: expect.stringMatching(/^evt_/),
      type: 'Issue',
      action: 'create',
      team_ids: [a.id],
    })
    expect(created?.body).toEqual({ action: 'create', type: 'Issue', actor, created_at, data, url, workspace_id: id })

    app.clock.advance({ minutes: 1 })
    const [updated] = await eventsOf(app, id, () =>
      member.put('/issues/AAA-1', { status: 'done', time_estimate: 3, title: 'A bug' }),
    )
    expect(updated?.body).toMatchObject({
      action: 'update',
      actor: { id: member.user.id },
      created_at: app.clock.now().toISOString(),
    })
    expect(updated?.body.updated_from).toEqual({
      status: 'backlog',
      time_estimate: null,
      completed_at: null,
      updated_at: issue.updated_at,
    })
    const [removed] = await eventsOf(app, id, () => owner.delete('/issues/AAA-1'))
    expect(removed?.body).toMatchObject({ action: 'remove', url })
    expect(removed?.body).not.toHaveProperty('updated_from')
  })

  test('of a project has the teams before and after the change', async ({ app }) => {
    const { id, owner, a, b } = await scene(app)
    const project = (await owner.post('/projects', { title: 'Plan', team_ids: [a.id] })).body
    const [updated] = await eventsOf(app, id, () =>
      owner.put(`/projects/${project.id}`, { team_ids: [b.id], priority: 'low' }),
    )
    expect(updated).toMatchObject({ type: 'Project', action: 'update' })
    expect(updated?.team_ids.sort()).toEqual([a.id, b.id].sort())
    expect(updated?.body.url).toBe(project.url)
    expect(updated?.body.updated_from).toEqual({
      team_ids: [a.id],
      priority: 'no_priority',
      updated_at: project.updated_at,
    })
  })

  test('of a moved issue has both teams; without a team it has none', async ({ app }) => {
    const { id, owner, a, b } = await scene(app)
    const issue = (await owner.post('/issues', { title: 'A bug', team_id: a.id })).body
    const [moved] = await eventsOf(app, id, () => owner.put(`/issues/${issue.id}`, { team_id: b.id }))
    expect(moved?.team_ids.sort()).toEqual([a.id, b.id].sort())
    expect(moved?.body.updated_from).toEqual({ team_id: a.id, code: 'AAA-1', updated_at: issue.updated_at })
    const [loose] = await eventsOf(app, id, () => owner.put(`/issues/${issue.id}`, { team_id: null }))
    expect(loose?.team_ids).toEqual([b.id])
    const [again] = await eventsOf(app, id, () => owner.put(`/issues/${issue.id}`, { title: 'B' }))
    expect(again?.team_ids).toEqual([])
  })

  test('of a comment has no updated_from, and the teams of its issue or project', async ({ app }) => {
    const { id, owner, a, b } = await scene(app)
    const issue = (await owner.post('/issues', { title: 'A bug', team_id: a.id })).body
    const project = (await owner.post('/projects', { title: 'Plan', team_ids: [a.id, b.id] })).body
    for (const [target, teams] of [
      [{ target_type: 'issue', target_id: issue.id }, [a.id]],
      [{ target_type: 'project', target_id: project.id }, [a.id, b.id]],
    ] as const) {
      const events = await eventsOf(app, id, async () => {
        const { body } = await owner.post('/comments', { ...target, text: 'Hello' })
        await owner.put(`/comments/${body.id}`, { text: 'Hello there' })
        await owner.delete(`/comments/${body.id}`)
      })
      expect(names(events)).toEqual(['Comment create', 'Comment update', 'Comment remove'])
      for (const event of events) {
        expect([...event.team_ids].sort()).toEqual([...teams].sort())
        expect(event.body).not.toHaveProperty('updated_from')
        expect(event.body.url).toMatch(/#comment-cmt_/)
        expect(Object.keys(event.body.data).sort()).toEqual([
          'author_id',
          'created_at',
          'edited_at',
          'id',
          'is_resolved',
          'mentioned_user_ids',
          'parent_comment_id',
          'target_id',
          'target_type',
          'text',
          'updated_at',
        ])
      }
    }
  })
})

describe('no event', () => {
  test('is recorded for a write that changes nothing or is refused', async ({ app }) => {
    const { id, owner, member, a } = await scene(app)
    const issue = (await owner.post('/issues', { title: 'A bug', team_id: a.id, due_date: '2026-05-01T00:00:00Z' }))
      .body
    const project = (await owner.post('/projects', { title: 'Plan' })).body
    const events = await eventsOf(app, id, async () => {
      expect((await owner.put(`/issues/${issue.id}`, {})).body).toEqual(issue)
      const same = {
        title: 'A bug',
        team_id: a.id,
        label_ids: [],
        due_date: '2026-05-01T02:00:00+02:00',
        status: 'backlog',
      }
      expect((await owner.put(`/issues/${issue.id}`, same)).body).toEqual(issue)
      expect((await owner.put(`/projects/${project.id}`, { title: 'Plan' })).body).toEqual(project)
      await owner.put(`/issues/${issue.id}`, { title: '' })
      await owner.put(`/issues/${issue.id}`, { title: 'Lost', parent_id: 'iss_x' })
      await member.put(`/issues/${issue.id}`, { personal: true })
      await owner.post('/labels', { name: 'Red' })
    })
    expect(events).toEqual([])
  })
})
