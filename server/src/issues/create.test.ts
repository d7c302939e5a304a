import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
import { eventsOf } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { makeIssue as make, issueScene as scene } from '../../test/issues.ts'

describe('creating issues', () => {
  test(
    'fills in defaults for fields that were not sent',
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

  test('accepts every field', verifies('issue.create-accepts-optional-fields'), async ({ app }) => {
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

  test('requires a title', verifies('issue.create-title-required'), async ({ app }) => {
    const { owner, team } = await scene(app)
    const response = await app.unchanged(() => owner.post('/issues', { team_id: team.id }))
    expect(response).toMatchObject({ status: 422, body: { details: { title: 'is required' } } })
  })

  test(
    'requires no team; issues without a team share one counter',
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

  const choices: [field: string, values: string[], wrong: string, ...ids: RequirementId[]][] = [
    ['status', ['backlog', 'todo', 'in_progress', 'qa', 'release', 'done'], 'canceled', 'issue.status-values'],
    ['priority', ['no_priority', 'low', 'medium', 'high', 'urgent'], 'asap', 'issue.priority-values'],
    ['type', ['bug', 'feature', 'task', 'story'], 'epic', 'issue.type-values'],
  ]
  for (const [field, values, wrong, ...ids] of choices) {
    test(`accepts only known values of ${field}`, verifies(...ids), async ({ app }) => {
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
    })
  }

  test(
    'imports all issues or none, without events',
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

  test(
    'refuses an import by a member who is not a manager',
    verifies('issue.import-non-manager-refused'),
    async ({ app }) => {
      const { member } = await scene(app)
      const response = await app.unchanged(() => member.post('/issues/import', { issues: [{ title: 'One' }] }))
      expect(response).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    },
  )

  test('gives each issue its own code under concurrent creates', async ({ app }) => {
    const workspace = await scene(app)
    const made = await Promise.all(Array.from({ length: 12 }, () => make(workspace)))
    expect(new Set(made.map(({ code }) => code)).size).toBe(12)
  })
})
