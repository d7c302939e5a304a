import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'

const scene = async (app: TestApp) => {
  const workspace = await app.workspace()
  const { body: team } = await workspace.owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const { body: project } = await workspace.owner.post('/projects', { title: 'Plan', team_ids: [team.id] })
  return { ...workspace, team, project }
}

describe('creating and reading projects', () => {
  test(
    'fills in defaults for fields that were not sent',
    verifies(
      'project.create-201',
      'project.get',
      'project.list',
      'project.body-fields',
      'project.arrays-of-ids',
      'project.unset-fields-null',
      'project.progress-number-or-null',
    ),
    async ({ app }) => {
      const { member } = await app.workspace()
      const { status, body } = await member.post('/projects', { title: 'Plan' })
      expect(status).toBe(201)
      const now = app.clock.now().toISOString()
      expect(body).toEqual({
        id: expect.stringMatching(/^prj_/),
        title: 'Plan',
        description: '',
        status: 'idea',
        priority: 'no_priority',
        health_status: null,
        owner_id: member.user.id,
        lead_id: null,
        initiative_id: null,
        member_ids: [],
        team_ids: [],
        label_ids: [],
        start_date: null,
        target_date: null,
        completed_at: null,
        progress: null,
        created_at: now,
        updated_at: now,
        url: `${app.ctx.config.appUrl}/project/${body.id}`,
        personal: false,
      })
      expect((await member.get(`/projects/${body.id}`)).body).toEqual(body)
      expect((await member.get('/projects')).body).toEqual({ data: [body], next_cursor: null })
    },
  )

  test('accepts every field', async ({ app }) => {
    const { owner, admin, member, team } = await scene(app)
    const fields = {
      title: 'All of it',
      description: '# Markdown',
      status: 'in_progress',
      priority: 'high',
      health_status: 'at_risk',
      owner_id: admin.user.id,
      lead_id: member.user.id,
      initiative_id: (await owner.post('/initiatives', { name: 'Growth' })).body.id,
      member_ids: [admin.user.id, member.user.id].sort(),
      team_ids: [team.id],
      label_ids: [(await owner.post('/labels', { name: 'Red' })).body.id],
      start_date: '2026-04-01T00:00:00.000Z',
      target_date: '2026-06-01T00:00:00.000Z',
    }
    const { status, body } = await owner.post('/projects', fields)
    expect(status).toBe(201)
    expect(body).toMatchObject(fields)
    expect((await member.get(`/projects/${body.id}`)).body).toEqual(body)
  })

  const choices: [field: string, values: (string | null)[], wrong: string, ...ids: RequirementId[]][] = [
    [
      'status',
      [
        'idea',
        'discovery',
        'proposal',
        'accepted',
        'ready',
        'in_progress',
        'paused',
        'maintenance',
        'completed',
        'canceled',
      ],
      'done',
      'project.status-values',
    ],
    ['priority', ['no_priority', 'low', 'medium', 'high', 'urgent'], 'asap', 'project.priority-values'],
    ['health_status', ['on_track', 'at_risk', 'off_track', null], 'well', 'project.health-status-values'],
  ]
  for (const [field, values, wrong, ...ids] of choices) {
    test(`accepts only known values of ${field}`, verifies(...ids), async ({ app }) => {
      const { owner, project } = await scene(app)
      for (const value of values) {
        expect((await owner.put(`/projects/${project.id}`, { [field]: value })).body[field]).toBe(value)
      }
      for (const refuse of [
        () => owner.put(`/projects/${project.id}`, { [field]: wrong }),
        () => owner.post('/projects', { title: 'New', [field]: wrong }),
      ]) {
        const response = await app.unchanged(refuse)
        expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
        expect(Object.keys(response.body.details)).toEqual([field])
      }
    })
  }

  test('answers 404 for a project of another workspace', async ({ app }) => {
    const { project } = await scene(app)
    const { owner: stranger } = await app.workspace()
    for (const refuse of [
      () => stranger.get(`/projects/${project.id}`),
      () => stranger.put(`/projects/${project.id}`, { title: 'Mine' }),
      () => stranger.delete(`/projects/${project.id}`),
    ]) {
      expect(await app.unchanged(refuse)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
    }
  })
})

describe('updating projects', () => {
  test('changes only the fields that were sent', verifies('project.put-changes-only-sent-keys'), async ({ app }) => {
    const { owner, member, project } = await scene(app)
    let expected = project
    for (const change of [
      { description: 'More' },
      { member_ids: [owner.user.id] },
      { target_date: '2026-06-01T00:00:00.000Z' },
      { team_ids: [] },
      { owner_id: null },
    ]) {
      const { status, body } = await member.put(`/projects/${project.id}`, change)
      expect(status).toBe(200)
      expected = { ...expected, ...change, updated_at: new Date(Date.parse(expected.updated_at) + 1).toISOString() }
      expect(body).toEqual(expected)
      expect((await owner.get(`/projects/${project.id}`)).body).toEqual(expected)
    }
  })

  test('sets and clears completed_at', verifies('project.completed-at'), async ({ app }) => {
    const { owner, project } = await scene(app)
    const put = async (status: string) => (await owner.put(`/projects/${project.id}`, { status })).body.completed_at
    expect(await put('completed')).toBe(app.clock.now().toISOString())
    expect(await put('canceled')).toBeNull()
  })

  test(
    'refuses invalid references',
    verifies('project.unknown-initiative-422', 'project.unknown-label-422'),
    async ({ app }) => {
      const { owner, project } = await scene(app)
      const elsewhere = await scene(app)
      const agent = await app.agent('wsp')
      for (const [field, value] of [
        ['owner_id', elsewhere.owner.user.id],
        ['lead_id', agent],
        ['member_ids', [owner.user.id, elsewhere.owner.user.id]],
        ['team_ids', [elsewhere.team.id]],
        ['label_ids', ['lbl_x']],
        ['initiative_id', 'ini_x'],
      ] as const) {
        for (const refuse of [
          () => owner.put(`/projects/${project.id}`, { [field]: value }),
          () => owner.post('/projects', { title: 'New', [field]: value }),
        ]) {
          const response = await app.unchanged(refuse)
          expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
          expect(Object.keys(response.body.details)).toEqual([field])
        }
      }
    },
  )
})

describe('progress', () => {
  test(
    'is the percentage of issues that are done, and cannot be written',
    verifies('project.progress', 'project.progress-change-emits-nothing', 'project.progress-number-or-null'),
    async ({ app }) => {
      const { id, owner, member, project } = await scene(app)
      const progress = async () => (await owner.get(`/projects/${project.id}`)).body.progress
      const make = async (fields: object) =>
        (await member.post('/issues', { title: 'A', project_id: project.id, ...fields })).body.id
      expect(await progress()).toBeNull()
      const first = await make({})
      expect(await progress()).toBe(0)
      for (let i = 0; i < 3; i++) await make({})
      await make({ personal: true, status: 'done' })
      const events = await eventsOf(app, id, () => owner.put(`/issues/${first}`, { status: 'done' }))
      expect(names(events)).toEqual(['Issue update'])
      expect(await progress()).toBe(25)
      expect((await owner.get(`/projects/${project.id}`)).body.updated_at).toBe(project.updated_at)
      for (const refuse of [
        () => owner.put(`/projects/${project.id}`, { progress: 50 }),
        () => owner.post('/projects', { title: 'New', progress: 50 }),
      ]) {
        const response = await app.unchanged(refuse)
        expect(response).toMatchObject({ status: 422, body: { details: { progress: 'is not a known field' } } })
      }
    },
  )
})

describe('deleting a project', () => {
  test('deletes its comments and milestones and keeps its issues', verifies('project.delete-204'), async ({ app }) => {
    const { id, owner, member, project, team } = await scene(app)
    const issue = (await owner.post('/issues', { title: 'A', team_id: team.id, project_id: project.id })).body
    const comment = (await owner.post('/comments', { target_type: 'project', target_id: project.id, text: 'Hm' })).body
    const events = await eventsOf(app, id, async () => {
      expect((await member.delete(`/projects/${project.id}`)).status).toBe(204)
    })
    expect(names(events)).toEqual(['Project remove'])
    expect((await owner.get(`/projects/${project.id}`)).status).toBe(404)
    expect((await owner.get(`/comments/${comment.id}`)).status).toBe(404)
    expect((await owner.get(`/issues/${issue.id}`)).body).toEqual({ ...issue, project_id: null })
  })
})

describe('personal projects', () => {
  test('are visible only to their owner', verifies('project.personal-hidden-from-others'), async ({ app }) => {
    const { owner, admin, member } = await app.workspace()
    const mine = (await member.post('/projects', { title: 'Mine', personal: true })).body
    const milestone = (await member.post('/milestones', { project_id: mine.id, name: 'Beta' })).body
    expect((await member.get('/projects')).body.data).toEqual([mine])
    await member.post('/issues', { title: 'Mine too', personal: true, project_id: mine.id, status: 'done' })
    expect((await member.get(`/projects/${mine.id}`)).body.progress).toBe(100)
    for (const other of [owner, admin]) {
      for (const refuse of [
        () => other.get(`/projects/${mine.id}`),
        () => other.put(`/projects/${mine.id}`, { title: 'Yours' }),
        () => other.delete(`/projects/${mine.id}`),
        () => other.delete(`/milestones/${milestone.id}`),
        () => other.put(`/milestones/${milestone.id}`, { name: 'Yours' }),
        () => other.post('/comments', { target_type: 'project', target_id: mine.id, text: 'Hm' }),
      ]) {
        expect(await app.unchanged(refuse)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
      }
      expect((await other.get('/projects')).body.data).toEqual([])
      expect((await other.get('/milestones')).body.data).toEqual([])
      expect((await other.post('/milestones', { project_id: mine.id, name: 'Mine' })).status).toBe(422)
    }
  })

  test(
    'emit no events until they are shared',
    verifies('project.personal-emits-nothing', 'project.cleared-personal-emits-create'),
    async ({ app }) => {
      const { id, owner, member, project, team } = await scene(app)
      const issue = (await member.post('/issues', { title: 'A', team_id: team.id, project_id: project.id })).body
      const refused = await app.unchanged(() => member.put(`/projects/${project.id}`, { personal: true }))
      expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      const silent = await eventsOf(app, id, async () => {
        expect((await owner.put(`/projects/${project.id}`, { personal: true })).body).toMatchObject({
          personal: true,
          owner_id: owner.user.id,
          team_ids: [],
        })
        await owner.put(`/projects/${project.id}`, { title: 'Mine now' })
        await owner.post('/comments', { target_type: 'project', target_id: project.id, text: 'To myself' })
        const held = await app.unchanged(() => owner.put(`/projects/${project.id}`, { owner_id: member.user.id }))
        expect(Object.keys(held.body.details)).toEqual(['owner_id'])
      })
      expect(silent).toEqual([])
      expect((await member.get(`/issues/${issue.id}`)).body.project_id).toBeNull()
      const shared = await eventsOf(app, id, () => owner.put(`/projects/${project.id}`, { personal: false }))
      expect(names(shared)).toEqual(['Project create', 'Comment create'])
    },
  )
})
