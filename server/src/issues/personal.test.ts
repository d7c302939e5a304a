import { describe, expect } from 'vitest'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { makeIssue as make, issueScene as scene } from '../../test/issues.ts'

describe('personal issues', () => {
  test(
    'are visible only to their owner',
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
        for (const query of ['', '?query=Mine', '?limit=1']) {
          expect((await other.get(`/issues${query}`)).body).toEqual({ data: [], next_cursor: null })
        }
      }
    },
  )

  test(
    'emit no events until they are shared',
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
      // The history of the personal time stays visible only to the owner.
      expect((await workspace.owner.get(`/issues/${issue.id}/history`)).body.data).toEqual([])
      expect((await member.get(`/issues/${issue.id}/history`)).body.data.length).toBeGreaterThan(0)
    },
  )

  test('can be made personal only by their reporter, and lose all shared relations', async ({ app }) => {
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

  test('keep the fields of the same request, and validate them', async ({ app }) => {
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

  test('can refer to each other, but shared issues cannot refer to them', async ({ app }) => {
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
