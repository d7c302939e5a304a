import { describe, expect } from 'vitest'
import type { Client } from '../../test/client.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, type TestWorkspace, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'

interface Scene extends TestWorkspace {
  team: { id: string; key: string }
  other: { id: string; key: string }
}

const scene = async (app: TestApp): Promise<Scene> => {
  const workspace = await app.workspace()
  const { body: team } = await workspace.owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const { body: other } = await workspace.owner.post('/teams', { name: 'Design', key: 'DES' })
  return { ...workspace, team, other }
}

const make = async ({ owner, team }: Scene, fields: object = {}) =>
  (await owner.post('/issues', { title: 'A bug', team_id: team.id, ...fields })).body

describe('creating', () => {
  test(
    'fills in what was not sent',
    verifies(
      'issue.create-201',
      'issue.body-fields',
      'issue.unset-fields-null',
      'issue.empty-arrays',
      'issue.default-status-backlog',
      'issue.default-priority-no-priority',
      'issue.default-type-task',
      'issue.code-format',
      'issue.url-format',
    ),
    async ({ app }) => {
      const { member, team } = await scene(app)
      const { status, body } = await member.post('/issues', { title: 'A bug', team_id: team.id })
      expect(status).toBe(201)
      const now = app.clock.now().toISOString()
      expect(body).toEqual({
        id: expect.stringMatching(/^iss_/),
        code: 'ENG-1',
        title: 'A bug',
        description: '',
        status: 'backlog',
        priority: 'no_priority',
        type: 'task',
        team_id: team.id,
        project_id: null,
        milestone_id: null,
        cycle_id: null,
        parent_id: null,
        reporter_id: member.user.id,
        assignee_id: null,
        delegate_id: null,
        delegation_revision: 0,
        label_ids: [],
        blocks_ids: [],
        blocked_by_ids: [],
        time_estimate: null,
        due_date: null,
        completed_at: null,
        created_at: now,
        updated_at: now,
        url: `${app.ctx.config.appUrl}/issue/ENG-1`,
        personal: false,
        sort_order: expect.any(Number),
      })
      expect((await member.get(`/issues/${body.id}`)).body).toEqual(body)
    },
  )

  test('takes every field', verifies('issue.create-accepts-optional-fields'), async ({ app }) => {
    const { owner, member, team } = await scene(app)
    const project_id = (await owner.post('/projects', { title: 'Plan' })).body.id
    const milestone_id = (await owner.post('/milestones', { project_id, name: 'Beta' })).body.id
    const cycle_id = (await owner.post('/cycles', { team_id: team.id, name: 'Week 1' })).body.id
    const labels = [
      (await owner.post('/labels', { name: 'Red' })).body.id,
      (await owner.post('/labels', { name: 'Blue' })).body.id,
    ]
    const [parent, blocked, blocker] = await Promise.all(
      ['One', 'Two', 'Three'].map((title) => owner.post('/issues', { title })),
    )
    const fields = {
      title: 'All of it',
      team_id: team.id,
      description: '# Markdown',
      status: 'in_progress',
      priority: 'urgent',
      type: 'story',
      assignee_id: member.user.id,
      project_id,
      milestone_id,
      cycle_id,
      parent_id: parent?.body.id,
      label_ids: labels,
      blocks_ids: [blocked?.body.id],
      blocked_by_ids: [blocker?.body.id],
      time_estimate: 2.5,
      due_date: '2026-05-01T12:00:00.000Z',
    }
    const { status, body } = await owner.post('/issues', fields)
    expect(status).toBe(201)
    expect(body).toMatchObject(fields)
    expect((await owner.get(`/issues/${body.code}`)).body).toEqual(body)
    expect((await owner.get(`/issues/${blocked?.body.id}`)).body.blocked_by_ids).toEqual([body.id])
    expect((await owner.get(`/issues/${blocker?.body.id}`)).body.blocks_ids).toEqual([body.id])
  })

  test('needs a title', verifies('issue.create-title-required'), async ({ app }) => {
    const { owner, team } = await scene(app)
    const response = await app.unchanged(() => owner.post('/issues', { team_id: team.id }))
    expect(response).toMatchObject({ status: 422, body: { details: { title: 'is required' } } })
  })

  test(
    'needs no team; those without one are counted together',
    verifies('issue.create-team-optional-for-person', 'issue.teamless-code'),
    async ({ app }) => {
      const { owner, member, team } = await scene(app)
      const first = await member.post('/issues', { title: 'Loose' })
      expect(first).toMatchObject({ status: 201, body: { team_id: null, code: 'X-1' } })
      expect((await owner.post('/issues', { title: 'Loose', personal: true })).body.code).toBe('X-2')
      expect((await owner.post('/issues', { title: 'Tight', team_id: team.id })).body.code).toBe('ENG-1')
      expect((await owner.post('/issues', { title: 'Tight', team_id: team.id })).body.code).toBe('ENG-2')
    },
  )

  test.for([
    ['status', ['backlog', 'todo', 'in_progress', 'qa', 'release', 'done'], 'canceled'],
    ['priority', ['no_priority', 'low', 'medium', 'high', 'urgent'], 'asap'],
    ['type', ['bug', 'feature', 'task', 'story'], 'epic'],
  ] as const)(
    '%s is one of its values',
    verifies('issue.status-values', 'issue.priority-values', 'issue.type-values'),
    async ([field, values, wrong], { app }) => {
      const workspace = await scene(app)
      const issue = await make(workspace)
      for (const value of values) {
        expect((await workspace.owner.put(`/issues/${issue.id}`, { [field]: value })).body[field]).toBe(value)
        expect((await make(workspace, { [field]: value }))[field]).toBe(value)
      }
      for (const refuse of [
        () => workspace.owner.put(`/issues/${issue.id}`, { [field]: wrong }),
        () => workspace.owner.post('/issues', { title: 'A', [field]: wrong }),
      ]) {
        const response = await app.unchanged(refuse)
        expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
        expect(Object.keys(response.body.details)).toEqual([field])
      }
    },
  )

  test(
    'many at once, all or none, and in silence',
    verifies('issue.import-creates-many', 'issue.import-emits-nothing'),
    async ({ app }) => {
      const { id, owner, admin, team, other } = await scene(app)
      const { body: label } = await owner.post('/labels', { name: 'Old' })
      const issues = Array.from({ length: 30 }, (_, i) => ({
        title: `Old ${i}`,
        team_id: i % 2 ? team.id : other.id,
        label_ids: [label.id],
        status: 'done',
      }))
      const events = await eventsOf(app, id, async () => {
        const { status, body } = await admin.post('/issues/import', { issues })
        expect(status).toBe(201)
        expect(body.data.map((issue: { title: string }) => issue.title)).toEqual(issues.map(({ title }) => title))
        expect(body.data[1]).toMatchObject({ code: 'ENG-1', label_ids: [label.id], status: 'done' })
        expect((await owner.get(`/issues/${body.data[29].id}`)).body).toEqual(body.data[29])
      })
      expect(events).toEqual([])
      const bad = [
        { title: 'Good' },
        { title: 'Bad', team_id: 'team_x' },
        { title: 'Bad', label_ids: [label.id, 'lbl_x'] },
      ]
      const refused = await app.unchanged(() => admin.post('/issues/import', { issues: bad }))
      expect(refused.status).toBe(422)
      expect(Object.keys(refused.body.details)).toEqual(['issues.1.team_id', 'issues.2.label_ids'])
    },
  )

  test('many at once is for managers', verifies('issue.import-non-manager-refused'), async ({ app }) => {
    const { member } = await scene(app)
    const response = await app.unchanged(() => member.post('/issues/import', { issues: [{ title: 'One' }] }))
    expect(response).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  })

  test('codes are given once each, however many are made at once', async ({ app }) => {
    const workspace = await scene(app)
    const made = await Promise.all(Array.from({ length: 12 }, () => make(workspace)))
    expect(new Set(made.map(({ code }) => code)).size).toBe(12)
  })
})

describe('reading', () => {
  test(
    'by id and by code',
    verifies('issue.get-by-id', 'issue.get-by-code', 'issue.team-issue-visible-to-all-members'),
    async ({ app }) => {
      const workspace = await scene(app)
      const issue = await make(workspace)
      expect((await workspace.member.get(`/issues/${issue.id}`)).body).toEqual(issue)
      expect((await workspace.member.get('/issues/ENG-1')).body).toEqual(issue)
      for (const key of ['ENG-2', 'eng-1', 'iss_00000000000000000000000000', '%20']) {
        expect((await workspace.member.get(`/issues/${key}`)).status).toBe(404)
      }
      const stranger = await scene(app)
      expect((await stranger.owner.get(`/issues/${issue.id}`)).status).toBe(404)
    },
  )

  test(
    'by filter',
    verifies(
      'issue.filter-team',
      'issue.filter-project',
      'issue.filter-status',
      'issue.filter-assignee',
      'issue.filter-delegate',
      'issue.filter-label',
      'issue.filter-query',
    ),
    async ({ app }) => {
      const workspace = await scene(app)
      const { owner, member, team, other } = workspace
      const project_id = (await owner.post('/projects', { title: 'Plan' })).body.id
      const label = (await owner.post('/labels', { name: 'Red' })).body.id
      const login = await make(workspace, { title: 'Login fails', status: 'todo', assignee_id: member.user.id })
      const colour = await make(workspace, {
        title: 'Colour',
        description: '100% wrong_shade',
        label_ids: [label],
        team_id: other.id,
      })
      const plan = await make(workspace, { title: 'Write the plan for logins', project_id, assignee_id: owner.user.id })
      const idsFor = async (query: string) => {
        const { status, body } = await member.get(`/issues?${query}`)
        expect(status).toBe(200)
        return body.data.map((issue: { id: string }) => issue.id)
      }
      expect(await idsFor('')).toEqual([plan.id, colour.id, login.id])
      expect(await idsFor(`team_id=${team.id}`)).toEqual([plan.id, login.id])
      expect(await idsFor(`project_id=${project_id}`)).toEqual([plan.id])
      expect(await idsFor('status=todo')).toEqual([login.id])
      expect(await idsFor(`assignee_id=${member.user.id}`)).toEqual([login.id])
      expect(await idsFor(`delegate_id=${member.user.id}`)).toEqual([])
      expect(await idsFor(`label_id=${label}`)).toEqual([colour.id])
      expect(await idsFor('query=LOGIN')).toEqual([plan.id, login.id])
      expect(await idsFor('query=login+fails')).toEqual([login.id])
      expect(await idsFor('query=wrong_shade')).toEqual([colour.id])
      expect(await idsFor('query=100%25')).toEqual([colour.id])
      expect(await idsFor('query=w%25g')).toEqual([])
      expect(await idsFor(`query=${colour.code}`)).toEqual([colour.id])
      expect(await idsFor(`team_id=${team.id}&query=plan&limit=1`)).toEqual([plan.id])
      expect(await idsFor('team_id=team_nowhere')).toEqual([])
      expect((await member.get('/issues?status=lost')).status).toBe(422)
    },
  )

  test('by parent, priority and type', async ({ app }) => {
    const workspace = await scene(app)
    const { owner, member, team, other } = workspace
    const parent = await make(workspace, { title: 'Whole', priority: 'high', type: 'story' })
    const one = await make(workspace, { title: 'Part', parent_id: parent.id, priority: 'urgent', type: 'bug' })
    const two = await make(workspace, { title: 'Part', parent_id: parent.id, priority: 'urgent', team_id: other.id })
    const below = await make(workspace, { title: 'Part of a part', parent_id: one.id, type: 'bug' })
    const listOf = (client: Client) => async (query: string) => {
      const { status, body } = await client.get(`/issues?${query}`)
      expect(status).toBe(200)
      return body.data.map((issue: { id: string }) => issue.id)
    }
    const list = listOf(member)
    expect(await list(`parent_id=${parent.id}`)).toEqual([two.id, one.id])
    expect(await list(`parent_id=${one.id}`)).toEqual([below.id])
    expect(await list(`parent_id=${two.id}`)).toEqual([])
    expect(await list('priority=urgent')).toEqual([two.id, one.id])
    expect(await list('priority=high')).toEqual([parent.id])
    expect(await list('type=bug')).toEqual([below.id, one.id])
    expect(await list('type=story')).toEqual([parent.id])
    expect(await list(`parent_id=${parent.id}&priority=urgent&type=bug&status=${one.status}`)).toEqual([one.id])
    const { body: first } = await member.get(`/issues?parent_id=${parent.id}&limit=1`)
    expect(await list(`parent_id=${parent.id}&limit=1&cursor=${first.next_cursor}`)).toEqual([one.id])
    for (const query of ['priority=top', 'priority=', 'type=epic', 'parent_id=', `parent_id=${'x'.repeat(101)}`]) {
      expect((await member.get(`/issues?${query}`)).status, query).toBe(422)
    }

    const robot = await app.installed(owner, { teamIds: [team.id] })
    expect(await listOf(robot)(`parent_id=${parent.id}`)).toEqual([one.id])
    expect(await listOf(robot)('priority=urgent')).toEqual([one.id])
    const { owner: stranger } = await app.workspace()
    for (const query of [`parent_id=${parent.id}`, 'priority=urgent', 'type=bug']) {
      expect(await listOf(stranger)(query), query).toEqual([])
    }
  })
})

describe('changing', () => {
  test(
    'only what is sent',
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
        // The clock stands still, and yet each change is later than the one before.
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
    'of order alone is no change in time',
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
    'of the team gives a new code, and the old one still finds it',
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

  test('of the project leaves its milestone behind', async ({ app }) => {
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

  test('takes only days that exist, and that a database holds', async ({ app }) => {
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

  test('is remembered, with who and what', async ({ app }) => {
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

  test('lengths have their limits', verifies('http.length-limits'), async ({ app }) => {
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

describe('references', () => {
  test(
    'that cannot stand are refused on their field, when creating and when changing',
    verifies(
      'issue.assignee-agent-refused',
      'issue.assignee-non-member-refused',
      'issue.unknown-label-422',
      'issue.unknown-milestone-422',
      'issue.unknown-cycle-422',
    ),
    async ({ app }) => {
      const workspace = await scene(app)
      const { owner, member, team, other } = workspace
      const elsewhere = await scene(app)
      const foreign = await make(elsewhere)
      const stranger = await app.person()
      const theirs = (await member.post('/issues', { title: 'Mine', personal: true })).body
      const theirProject = (await member.post('/projects', { title: 'Mine', personal: true })).body
      const cycle = (await owner.post('/cycles', { team_id: other.id, name: 'Week 1' })).body
      const project = (await owner.post('/projects', { title: 'Plan' })).body
      const milestone = (await owner.post('/milestones', { project_id: project.id, name: 'Beta' })).body
      const foreignLabel = (await elsewhere.owner.post('/labels', { name: 'Red' })).body
      const issue = await make(workspace)
      const agent = await app.agent(workspace.id)
      const cases: [string, unknown][] = [
        ['team_id', elsewhere.team.id],
        ['team_id', 'team_x'],
        ['assignee_id', stranger.user.id],
        ['assignee_id', agent],
        ['delegate_id', member.user.id],
        ['delegate_id', 'usr_x'],
        ['project_id', theirProject.id],
        ['project_id', 'prj_x'],
        ['milestone_id', 'mil_x'],
        ['milestone_id', milestone.id],
        ['cycle_id', 'cyc_x'],
        ['cycle_id', cycle.id],
        ['parent_id', foreign.id],
        ['parent_id', theirs.id],
        ['parent_id', 'iss_x'],
        ['label_ids', ['lbl_x']],
        ['label_ids', [foreignLabel.id]],
        ['blocks_ids', [foreign.id]],
        ['blocks_ids', [theirs.id]],
        ['blocked_by_ids', ['iss_x']],
        ['blocked_by_ids', [issue.id, issue.id]],
      ]
      for (const [field, value] of cases) {
        for (const refuse of [
          () => owner.put(`/issues/${issue.id}`, { [field]: value }),
          () => owner.post('/issues', { title: 'New', team_id: team.id, [field]: value }),
        ]) {
          const response = await app.unchanged(refuse)
          expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
          expect(Object.keys(response.body.details)).toEqual([field])
        }
      }
    },
  )

  test('parents make no circle', async ({ app }) => {
    const workspace = await scene(app)
    const { owner } = workspace
    const [a, b, c] = [await make(workspace), await make(workspace), await make(workspace)]
    await owner.put(`/issues/${b.id}`, { parent_id: a.id })
    await owner.put(`/issues/${c.id}`, { parent_id: b.id })
    for (const [child, parent] of [
      [a, c],
      [a, b],
      [a, a],
      [b, c],
    ]) {
      const response = await app.unchanged(() => owner.put(`/issues/${child.id}`, { parent_id: parent.id }))
      expect(Object.keys(response.body.details)).toEqual(['parent_id'])
    }
    expect((await owner.put(`/issues/${c.id}`, { parent_id: a.id })).status).toBe(200)
  })

  test('blocks stand on both sides, and both are told', verifies('issue.blocks-change-emits-both'), async ({ app }) => {
    const workspace = await scene(app)
    const { owner } = workspace
    const [a, b] = [await make(workspace), await make(workspace)]
    const added = await eventsOf(app, workspace.id, () => owner.put(`/issues/${a.id}`, { blocks_ids: [b.id] }))
    expect(added.map(({ body }) => [body.data.id, Object.keys(body.updated_from).sort(), body.updated_from])).toEqual([
      [a.id, ['blocks_ids', 'updated_at'], { blocks_ids: [], updated_at: a.updated_at }],
      [b.id, ['blocked_by_ids', 'updated_at'], { blocked_by_ids: [], updated_at: b.updated_at }],
    ])
    expect((await owner.get(`/issues/${b.id}`)).body.blocked_by_ids).toEqual([a.id])
    const both = await app.unchanged(() => owner.put(`/issues/${b.id}`, { blocks_ids: [a.id] }))
    expect(both.status).toBe(422)
    const self = await app.unchanged(() => owner.put(`/issues/${b.id}`, { blocks_ids: [b.id] }))
    expect(self.status).toBe(422)
    const removed = await eventsOf(app, workspace.id, () => owner.put(`/issues/${b.id}`, { blocked_by_ids: [] }))
    expect(
      removed.map(({ body }) => [body.data.id, body.updated_from.blocks_ids ?? body.updated_from.blocked_by_ids]),
    ).toEqual([
      [b.id, [a.id]],
      [a.id, [b.id]],
    ])
  })

  test(
    'of a new issue that blocks are told on the other side too',
    verifies('issue.blocks-change-emits-both'),
    async ({ app }) => {
      const workspace = await scene(app)
      const { owner, team } = workspace
      const other = await make(workspace)
      const events = await eventsOf(app, workspace.id, () =>
        owner.post('/issues', { title: 'B', team_id: team.id, blocks_ids: [other.id] }),
      )
      expect(names(events)).toEqual(['Issue create', 'Issue update'])
      expect(events[1]?.body.updated_from).toEqual({ blocked_by_ids: [], updated_at: other.updated_at })
      const { data } = (await owner.get(`/issues/${other.id}/history`)).body
      expect(data[0].changes).toEqual({ blocked_by_ids: { from: [], to: [events[0]?.body.data.id] } })
    },
  )

  test('are at most a hundred on each side', async ({ app }) => {
    const workspace = await scene(app)
    const { owner } = workspace
    const other = await make(workspace)
    const { data } = (
      await owner.post('/issues/import', { issues: Array.from({ length: 100 }, () => ({ title: 'One of many' })) })
    ).body
    const ids = data.map((issue: { id: string }) => issue.id)
    expect((await owner.put(`/issues/${other.id}`, { blocked_by_ids: ids })).status).toBe(200)
    const refused = await app.unchanged(() => owner.post('/issues', { title: 'One more', blocks_ids: [other.id] }))
    expect(refused).toMatchObject({ status: 422 })
    expect(Object.keys(refused.body.details)).toEqual(['blocks_ids'])
  })

  test('from many sides at once neither hang nor fail', {
    ...verifiesOnPostgres('issue.blocks-change-emits-both'),
    timeout: 60_000,
  }, async ({ app }) => {
    const workspace = await scene(app)
    const { owner, team, other } = workspace
    const target = await make(workspace)
    const creates = Array.from({ length: 8 }, (_, i) =>
      owner.post('/issues', { title: `B${i}`, team_id: i % 2 ? team.id : other.id, blocked_by_ids: [target.id] }),
    )
    const moves = Array.from({ length: 6 }, (_, i) =>
      owner.put(`/issues/${target.id}`, { team_id: i % 2 ? team.id : other.id }),
    )
    expect((await Promise.all(creates)).map(({ status }) => status)).toEqual(Array(8).fill(201))
    expect((await Promise.all(moves)).map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect((await owner.get(`/issues/${target.id}`)).body.blocks_ids).toHaveLength(8)

    const ring = (await owner.post('/issues/import', { issues: Array.from({ length: 8 }, () => ({ title: 'R' })) }))
      .body.data
    const closed = await Promise.all(
      ring.map((issue: { id: string }, i: number) =>
        owner.put(`/issues/${issue.id}`, { parent_id: ring[(i + 1) % 8].id }),
      ),
    )
    expect(closed.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 422])
  })

  test(
    'never end at what has just become personal',
    verifiesOnPostgres('issue.personal-hidden-from-others'),
    async ({ app }) => {
      for (let round = 0; round < 6; round++) {
        const { owner, member, team } = await scene(app)
        const target = (await member.post('/issues', { title: 'Ours', team_id: team.id })).body
        const [hidden, made] = await Promise.all([
          member.put(`/issues/${target.id}`, { personal: true }),
          owner.post('/issues', { title: 'B', team_id: team.id, blocks_ids: [target.id], parent_id: target.id }),
        ])
        expect(hidden.status).toBe(200)
        if (made.status === 422) continue
        expect((await owner.get(`/issues/${made.body.id}`)).body).toMatchObject({ blocks_ids: [], parent_id: null })
      }
    },
  )

  test(
    'go with what they refer to, in silence',
    verifies('issue.reference-deletion-emits-nothing'),
    async ({ app }) => {
      const workspace = await scene(app)
      const { owner, team } = workspace
      const project = (await owner.post('/projects', { title: 'Plan' })).body.id
      const milestone = (await owner.post('/milestones', { project_id: project, name: 'Beta' })).body.id
      const cycle = (await owner.post('/cycles', { team_id: team.id, name: 'Week 1' })).body.id
      const label = (await owner.post('/labels', { name: 'Red' })).body.id
      const initiative = (await owner.post('/initiatives', { name: 'Growth' })).body.id
      await owner.put(`/projects/${project}`, { initiative_id: initiative, label_ids: [label] })
      const parent = await make(workspace)
      const issue = await make(workspace, {
        project_id: project,
        milestone_id: milestone,
        cycle_id: cycle,
        label_ids: [label],
        parent_id: parent.id,
      })
      const events = await eventsOf(app, workspace.id, async () => {
        for (const path of [
          `labels/${label}`,
          `milestones/${milestone}`,
          `cycles/${cycle}`,
          `initiatives/${initiative}`,
          `issues/${parent.id}`,
          `projects/${project}`,
        ]) {
          expect((await owner.delete(`/${path}`)).status).toBe(204)
        }
      })
      expect(names(events)).toEqual(['Issue remove', 'Project remove'])
      expect((await owner.get(`/issues/${issue.id}`)).body).toEqual({
        ...issue,
        project_id: null,
        milestone_id: null,
        cycle_id: null,
        parent_id: null,
        label_ids: [],
      })
    },
  )
})

describe('deleting', () => {
  test(
    'takes the comments along and tells of the issue alone',
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

describe('personal issues', () => {
  test(
    'are seen by their owner alone',
    verifies(
      'issue.personal-excludes-team',
      'issue.personal-owner-reads',
      'issue.personal-hidden-from-others',
      'issue.personal-write-by-others-404',
      'issue.personal-not-in-others-lists',
    ),
    async ({ app }) => {
      const { owner, admin, member, team } = await scene(app)
      const both = await app.unchanged(() =>
        member.post('/issues', { title: 'Mine', personal: true, team_id: team.id }),
      )
      expect(both).toMatchObject({ status: 422, body: { details: { team_id: 'must be empty on a personal issue' } } })
      const mine = (await member.post('/issues', { title: 'Mine', personal: true })).body
      expect(mine).toMatchObject({ personal: true, team_id: null })
      expect((await member.get(`/issues/${mine.id}`)).body).toEqual(mine)
      expect((await member.get('/issues')).body.data).toEqual([mine])
      for (const other of [owner, admin]) {
        for (const refuse of [
          () => other.get(`/issues/${mine.id}`),
          () => other.get(`/issues/${mine.code}`),
          () => other.get(`/issues/${mine.id}/history`),
          () => other.put(`/issues/${mine.id}`, { title: 'Yours' }),
          () => other.delete(`/issues/${mine.id}`),
          () => other.get(`/comments?target_type=issue&target_id=${mine.id}`),
        ]) {
          expect(await app.unchanged(refuse)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
        }
        expect((await other.get('/issues?query=Mine')).body.data).toEqual([])
      }
    },
  )

  test(
    'are nobody else’s news, until they are shared',
    verifies(
      'issue.personal-create-emits-nothing',
      'issue.made-personal-emits-nothing',
      'issue.personal-later-changes-emit-nothing',
      'issue.cleared-personal-emits-create',
    ),
    async ({ app }) => {
      const workspace = await scene(app)
      const { id, member, team } = workspace
      const issue = (await member.post('/issues', { title: 'Ours', team_id: team.id })).body
      const silent = await eventsOf(app, id, async () => {
        const mine = (await member.post('/issues', { title: 'Mine', personal: true })).body
        await member.put(`/issues/${mine.id}`, { title: 'Still mine' })
        await member.delete(`/issues/${mine.id}`)
        expect((await member.put(`/issues/${issue.id}`, { personal: true })).status).toBe(200)
        await member.put(`/issues/${issue.id}`, { title: 'Mine now' })
        await member.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'To myself' })
      })
      expect(silent).toEqual([])
      const shared = await eventsOf(app, id, () =>
        member.put(`/issues/${issue.id}`, { personal: false, team_id: team.id }),
      )
      expect(names(shared)).toEqual(['Issue create', 'Comment create'])
      expect(shared[0]?.body).not.toHaveProperty('updated_from')
      expect(shared[0]?.body.data).toMatchObject({ title: 'Mine now', team_id: team.id, code: 'ENG-2' })
      // What it was called while it was personal stays its owner's.
      expect((await workspace.owner.get(`/issues/${issue.id}/history`)).body.data).toEqual([])
      expect((await member.get(`/issues/${issue.id}/history`)).body.data.length).toBeGreaterThan(0)
    },
  )

  test('are made so by their reporter, and leave everything shared behind', async ({ app }) => {
    const workspace = await scene(app)
    const { id, owner, member, team } = workspace
    const other = await make(workspace)
    const issue = (
      await member.post('/issues', {
        title: 'Ours',
        team_id: team.id,
        assignee_id: owner.user.id,
        blocks_ids: [other.id],
      })
    ).body
    for (const refused of [owner, workspace.admin]) {
      const response = await app.unchanged(() => refused.put(`/issues/${issue.id}`, { personal: true }))
      expect(response).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    }
    const child = await make(workspace, { parent_id: issue.id })
    const before = (await owner.get(`/issues/${other.id}`)).body
    const events = await eventsOf(app, id, async () => {
      const { body } = await member.put(`/issues/${issue.id}`, { personal: true })
      expect(body).toMatchObject({ personal: true, team_id: null, assignee_id: null, blocks_ids: [], code: 'X-1' })
    })
    expect(events).toEqual([])
    expect((await owner.get(`/issues/${other.id}`)).body).toEqual({ ...before, blocked_by_ids: [] })
    expect((await owner.get(`/issues/${child.id}`)).body).toEqual({ ...child, parent_id: null })
    expect((await owner.get('/issues/ENG-2')).status).toBe(404)
    const held = await app.unchanged(() => member.put(`/issues/${issue.id}`, { team_id: team.id }))
    expect(Object.keys(held.body.details)).toEqual(['team_id'])
  })

  test('take what is sent with them, and check it', async ({ app }) => {
    const { owner, member, team } = await scene(app)
    const first = (await member.post('/issues', { title: 'A', personal: true, assignee_id: member.user.id })).body
    expect(first.assignee_id).toBe(member.user.id)
    const second = (await member.post('/issues', { title: 'B', personal: true, blocks_ids: [first.id] })).body
    expect(second.blocks_ids).toEqual([first.id])
    expect((await member.get(`/issues/${first.id}`)).body.blocked_by_ids).toEqual([second.id])
    const shared = (await member.post('/issues', { title: 'C', team_id: team.id })).body
    for (const bad of [{ assignee_id: owner.user.id }, { blocks_ids: ['iss_x'] }, { blocked_by_ids: [shared.id] }]) {
      for (const refuse of [
        () => member.post('/issues', { title: 'D', personal: true, ...bad }),
        () => member.put(`/issues/${shared.id}`, { personal: true, ...bad }),
      ]) {
        const response = await app.unchanged(refuse)
        expect(response).toMatchObject({ status: 422 })
        expect(Object.keys(response.body.details)).toEqual(Object.keys(bad))
      }
    }
    const hidden = await member.put(`/issues/${shared.id}`, { personal: true, blocks_ids: [first.id] })
    expect(hidden).toMatchObject({ status: 200, body: { blocks_ids: [first.id] } })
    expect((await member.get(`/issues/${shared.id}`)).body).toEqual(hidden.body)
  })

  test('refer to each other, but what is shared does not refer to them', async ({ app }) => {
    const { owner, member, team } = await scene(app)
    const [a, b] = [
      (await member.post('/issues', { title: 'A', personal: true })).body,
      (await member.post('/issues', { title: 'B', personal: true })).body,
    ]
    expect((await member.put(`/issues/${b.id}`, { parent_id: a.id, blocked_by_ids: [a.id] })).status).toBe(200)
    const shared = (await owner.post('/issues', { title: 'C', team_id: team.id })).body
    expect((await member.put(`/issues/${b.id}`, { parent_id: shared.id })).status).toBe(200)
    const refused = await app.unchanged(() => member.put(`/issues/${b.id}`, { blocks_ids: [shared.id] }))
    expect(Object.keys(refused.body.details)).toEqual(['blocks_ids'])
    const sharing = await app.unchanged(() => member.put(`/issues/${b.id}`, { personal: false }))
    expect(Object.keys(sharing.body.details)).toEqual(['blocked_by_ids'])
  })
})
