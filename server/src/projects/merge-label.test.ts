import { describe, expect } from 'vitest'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, test, verifiesOnPostgres } from '../../test/harness.ts'
import { issueScene, makeIssue } from '../../test/issues.ts'

const scene = async (app: TestApp) => {
  const issues = await issueScene(app)
  const label = async (name: string) => (await issues.owner.post('/labels', { name })).body
  return { ...issues, from: await label('defect'), into: await label('bug'), other: await label('urgent') }
}

describe('merging labels', () => {
  test('gives issues and projects the other label with ordinary updates, and deletes the label', async ({ app }) => {
    const place = await scene(app)
    const { owner, member, from, into, other } = place
    const one = await makeIssue(place, { label_ids: [from.id, other.id] })
    const both = await makeIssue(place, { label_ids: [from.id, into.id] })
    const without = await makeIssue(place, { label_ids: [other.id] })
    const { body: own } = await member.post('/issues', { title: 'Mine', personal: true, label_ids: [from.id] })
    const { body: project } = await owner.post('/projects', { title: 'Plan', label_ids: [from.id] })
    app.clock.advance({ seconds: 1 })

    const events = await eventsOf(app, owner.workspaceId, async () => {
      const merged = await member.post(`/labels/${from.id}/merge`, { into_label_id: into.id })
      expect(merged).toMatchObject({ status: 200, body: into })
    })
    expect(names(events).sort()).toEqual(['Issue update', 'Issue update', 'Project update'])
    expect(events.map(({ body }) => body.data.id).sort()).toEqual([one.id, both.id, project.id].sort())

    const labelsOf = async (path: string, by = owner) => new Set((await by.get(path)).body.label_ids)
    expect(await labelsOf(`/issues/${one.id}`)).toEqual(new Set([other.id, into.id]))
    expect(await labelsOf(`/issues/${both.id}`)).toEqual(new Set([into.id]))
    expect(await labelsOf(`/issues/${without.id}`)).toEqual(new Set([other.id]))
    expect(await labelsOf(`/issues/${own.id}`, member)).toEqual(new Set([into.id]))
    expect(await labelsOf(`/projects/${project.id}`)).toEqual(new Set([into.id]))
    expect((await owner.get('/labels')).body.data.map(({ id }: { id: string }) => id)).not.toContain(from.id)

    const { body: history } = await owner.get(`/issues/${one.id}/history`)
    expect(history.data[0]).toMatchObject({ actor: { id: member.user.id }, changes: { label_ids: {} } })
  })

  test('names the remaining label in the history of issues, also after a second merge', async ({ app }) => {
    const place = await scene(app)
    const { owner, from, into, other } = place
    const issue = await makeIssue(place)
    await owner.put(`/issues/${issue.id}`, { label_ids: [from.id] })
    await owner.post(`/labels/${from.id}/merge`, { into_label_id: into.id })
    const labelChanges = async () =>
      (await owner.get(`/issues/${issue.id}/history`)).body.data.map(
        ({ changes }: { changes: { label_ids: unknown } }) => changes.label_ids,
      )
    const [unchanged, added] = [(id: string) => ({ from: [id], to: [id] }), (id: string) => ({ from: [], to: [id] })]
    expect(await labelChanges()).toEqual([unchanged(into.id), added(into.id)])

    await owner.post(`/labels/${into.id}/merge`, { into_label_id: other.id })
    expect(await labelChanges()).toEqual([unchanged(other.id), unchanged(other.id), added(other.id)])
  })

  test('refuses itself, an unknown label and one of another workspace, and changes nothing', async ({ app }) => {
    const place = await scene(app)
    const { owner, from, into } = place
    await makeIssue(place, { label_ids: [from.id] })
    const { from: foreign, owner: stranger } = await scene(app)
    for (const into_label_id of [from.id, foreign.id, 'lbl_unknown']) {
      const refused = await app.unchanged(() => owner.post(`/labels/${from.id}/merge`, { into_label_id }))
      expect(refused).toMatchObject({ status: 422, body: { details: { into_label_id: expect.any(String) } } })
    }
    const missing = () => owner.post('/labels/lbl_unknown/merge', { into_label_id: into.id })
    const theirs = () => stranger.post(`/labels/${from.id}/merge`, { into_label_id: foreign.id })
    for (const refuse of [missing, theirs]) expect(await app.unchanged(refuse)).toMatchObject({ status: 404 })
  })

  test('of two merges into each other one succeeds', verifiesOnPostgres('issue.labels-crud'), async ({ app }) => {
    const place = await scene(app)
    const { owner, from, into } = place
    const issue = await makeIssue(place, { label_ids: [from.id, into.id] })
    const answers = await Promise.all([
      owner.post(`/labels/${from.id}/merge`, { into_label_id: into.id }),
      owner.post(`/labels/${into.id}/merge`, { into_label_id: from.id }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    expect((await owner.get(`/issues/${issue.id}`)).body.label_ids).toHaveLength(1)
  })
})
