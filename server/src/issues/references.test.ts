import { describe, expect } from 'vitest'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { makeIssue as make, issueScene as scene } from '../../test/issues.ts'

describe('references', () => {
  test(
    'that are invalid are refused on their field, on create and update',
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

  test('parents cannot form a cycle', async ({ app }) => {
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

  test(
    'blocks change both issues, with an event for each',
    verifies('issue.blocks-change-emits-both'),
    async ({ app }) => {
      const workspace = await scene(app)
      const { owner } = workspace
      const [a, b] = [await make(workspace), await make(workspace)]
      const added = await eventsOf(app, workspace.id, () => owner.put(`/issues/${a.id}`, { blocks_ids: [b.id] }))
      expect(added.map(({ body }) => [body.data.id, Object.keys(body.updated_from).sort(), body.updated_from])).toEqual(
        [
          [a.id, ['blocks_ids', 'updated_at'], { blocks_ids: [], updated_at: a.updated_at }],
          [b.id, ['blocked_by_ids', 'updated_at'], { blocked_by_ids: [], updated_at: b.updated_at }],
        ],
      )
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
    },
  )

  test(
    'a new issue that blocks another emits an update for the other',
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

  test('blocks are limited to 100 per issue and direction', async ({ app }) => {
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

  test('concurrent changes of related issues neither hang nor fail', {
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
    'never point to an issue that has just become personal',
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
    'are cleared without events when their target is deleted',
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
