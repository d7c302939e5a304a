import { describe, expect } from 'vitest'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { makeIssue as make, issueScene as scene } from '../../test/issues.ts'

describe('updating issues', () => {
  test(
    'changes only the fields that were sent',
    verifies('issue.put-changes-only-sent-keys', 'http.updated-at-strictly-grows'),
    async ({ app }) => {
      const workspace = await scene(app)
      let expected = await make(workspace, { description: 'It breaks.', time_estimate: 1 })
      for (const change of [
        { title: 'B' },
        { description: '' },
        { time_estimate: null },
        { due_date: '2026-05-01T00:00:00.000Z' },
        { due_date: null },
      ]) {
        const { status, body } = await workspace.member.put(`/issues/${expected.id}`, change)
        expect(status).toBe(200)
        // The clock does not advance, but each change gets a later `updated_at`.
        const updated_at = new Date(Date.parse(expected.updated_at) + 1).toISOString()
        expected = { ...expected, ...change, updated_at }
        expect(body).toEqual(expected)
        expect((await workspace.owner.get(`/issues/${expected.id}`)).body).toEqual(expected)
      }
      const removed = await eventsOf(app, workspace.id, () => workspace.owner.delete(`/issues/${expected.id}`))
      expect(removed[0]?.body.data.updated_at > expected.updated_at).toBe(true)
    },
  )

  test(
    'sets and clears completed_at',
    verifies('issue.completed-at-set-on-done', 'issue.completed-at-cleared-on-leaving-done'),
    async ({ app }) => {
      const workspace = await scene(app)
      const { id } = await make(workspace)
      const put = async (status: string) => (await workspace.owner.put(`/issues/${id}`, { status })).body.completed_at
      app.clock.advance({ minutes: 1 })
      const done = app.clock.now().toISOString()
      expect(await put('done')).toBe(done)
      app.clock.advance({ minutes: 1 })
      expect(await put('done')).toBe(done)
      expect(await put('qa')).toBeNull()
      expect((await make(workspace, { status: 'done' })).completed_at).toBe(app.clock.now().toISOString())
    },
  )

  test(
    'of only sort_order keeps updated_at',
    verifies('issue.sort-order-leaves-updated-at', 'issue.sort-order-emits-nothing'),
    async ({ app }) => {
      const workspace = await scene(app)
      const issue = await make(workspace)
      app.clock.advance({ minutes: 1 })
      const events = await eventsOf(app, workspace.id, async () => {
        const { body } = await workspace.owner.put(`/issues/${issue.id}`, { sort_order: 7.5 })
        expect(body).toEqual({ ...issue, sort_order: 7.5 })
        expect((await workspace.owner.get(`/issues/${issue.id}`)).body).toEqual(body)
      })
      expect(events).toEqual([])
    },
  )

  test(
    'of the team gives a new code, and the old code still resolves',
    verifies('issue.old-code-still-resolves'),
    async ({ app }) => {
      const workspace = await scene(app)
      const { owner, team, other } = workspace
      const cycle_id = (await owner.post('/cycles', { team_id: team.id, name: 'Week 1' })).body.id
      const issue = await make(workspace, { cycle_id })
      const moved = (await owner.put(`/issues/${issue.id}`, { team_id: other.id })).body
      expect(moved).toMatchObject({ code: 'DES-1', cycle_id: null, url: `${app.ctx.config.appUrl}/issue/DES-1` })
      const back = (await owner.put('/issues/ENG-1', { team_id: team.id })).body
      expect(back.code).toBe('ENG-2')
      for (const code of ['ENG-1', 'DES-1', 'ENG-2']) expect((await owner.get(`/issues/${code}`)).body).toEqual(back)
      expect((await make(workspace)).code).toBe('ENG-3')
    },
  )

  test('of the project clears the milestone', async ({ app }) => {
    const workspace = await scene(app)
    const { owner } = workspace
    const [one, two] = [
      (await owner.post('/projects', { title: '1' })).body.id,
      (await owner.post('/projects', { title: '2' })).body.id,
    ]
    const milestone_id = (await owner.post('/milestones', { project_id: one, name: 'Beta' })).body.id
    const issue = await make(workspace, { project_id: one, milestone_id })
    const refused = await app.unchanged(() => owner.put(`/issues/${issue.id}`, { project_id: two, milestone_id }))
    expect(Object.keys(refused.body.details)).toEqual(['milestone_id'])
    expect((await owner.put(`/issues/${issue.id}`, { project_id: two })).body).toMatchObject({
      project_id: two,
      milestone_id: null,
    })
  })

  test('refuses dates that do not exist or are out of range', async ({ app }) => {
    const workspace = await scene(app)
    const { id } = await make(workspace)
    const put = (due_date: unknown) => workspace.owner.put(`/issues/${id}`, { due_date })
    for (const day of [
      '2026-02-30T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '0000-01-01T00:00:00Z',
      '2016-12-31T23:59:60Z',
      '2026-03-02T09:00:00+23:00',
      '1899-12-31T23:59:59Z',
      '3000-01-01T00:00:00Z',
      '2026-05-01',
      'tomorrow',
      '2026-05-01T00:00:00',
      5,
    ]) {
      const response = await app.unchanged(() => put(day))
      expect(response).toMatchObject({ status: 422 })
      expect(Object.keys(response.body.details)).toEqual(['due_date'])
    }
    expect((await put('2024-02-29T23:30:00.5-02:00')).body.due_date).toBe('2024-03-01T01:30:00.500Z')
    for (const day of ['1900-01-01T00:00:00.000Z', '2999-12-31T23:59:59.999Z'])
      expect((await put(day)).body.due_date).toBe(day)
  })

  test('writes actor and changed fields into the history', async ({ app }) => {
    const workspace = await scene(app)
    const issue = await make(workspace, { title: 'Before' })
    await workspace.member.put(`/issues/${issue.id}`, { title: 'After', status: 'todo' })
    await workspace.member.put(`/issues/${issue.id}`, { title: 'After' })
    const { data } = (await workspace.owner.get(`/issues/${issue.id}/history`)).body
    expect(data).toMatchObject([
      {
        actor: { id: workspace.member.user.id, name: workspace.member.user.display_name },
        changes: { title: { from: 'Before', to: 'After' }, status: { from: 'backlog', to: 'todo' } },
      },
    ])
    expect(Object.keys(data[0].changes).sort()).toEqual(['status', 'title'])
  })

  test('refuses texts over their length limit', verifies('http.length-limits'), async ({ app }) => {
    const workspace = await scene(app)
    const { owner } = workspace
    const { id } = await make(workspace)
    const comment = { target_type: 'issue', target_id: id }
    expect(
      (await owner.put(`/issues/${id}`, { title: 'x'.repeat(255), description: '🙂'.repeat(100_000) })).status,
    ).toBe(200)
    expect((await owner.put(`/issues/${id}`, { title: 'x'.repeat(256) })).status).toBe(422)
    expect((await owner.put(`/issues/${id}`, { description: 'x'.repeat(100_001) })).status).toBe(422)
    expect((await owner.post('/comments', { ...comment, text: 'x'.repeat(20_000) })).status).toBe(201)
    expect((await owner.post('/comments', { ...comment, text: 'x'.repeat(20_001) })).status).toBe(422)
    expect((await owner.patch('/workspaces/me', { guidance: 'x'.repeat(10_000) })).status).toBe(200)
    expect((await owner.patch('/workspaces/me', { guidance: 'x'.repeat(10_001) })).status).toBe(422)
    expect((await owner.put(`/issues/${id}`, { description: 'x'.repeat(1_100_000) })).body.code).toBe('BODY_TOO_LARGE')
  })
})

describe('deleting an issue', () => {
  test(
    'deletes its comments and emits only one event',
    verifies('issue.delete-204', 'issue.delete-removes-comments', 'issue.delete-emits-one-remove'),
    async ({ app }) => {
      const workspace = await scene(app)
      const { member } = workspace
      const issue = await make(workspace)
      const comment = (await member.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })).body
      app.clock.advance({ seconds: 5 })
      const events = await eventsOf(app, workspace.id, async () => {
        expect((await member.delete(`/issues/${issue.id}`)).status).toBe(204)
      })
      expect(names(events)).toEqual(['Issue remove'])
      const { url: _, personal: __, sort_order: ___, ...data } = issue
      expect(events[0]?.body.data).toEqual({ ...data, updated_at: app.clock.now().toISOString() })
      for (const path of [`/issues/${issue.id}`, `/issues/${issue.code}`, `/comments/${comment.id}`]) {
        expect((await member.get(path)).status).toBe(404)
      }
    },
  )
})
