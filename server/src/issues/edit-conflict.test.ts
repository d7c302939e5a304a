import { describe, expect } from 'vitest'
import { done } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { issueScene, makeIssue } from '../../test/issues.ts'

describe('a change with if_updated_at', () => {
  test('is refused if another user changed one of its fields since', verifies('edit.conflict'), async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member } = scene
    const issue = await makeIssue(scene, { description: 'Old' })
    const read = issue.updated_at
    const theirs = await done(member.put(`/issues/${issue.id}`, { description: 'Theirs', priority: 'high' }))
    const put = (fields: object, since = read, by = owner) =>
      by.put(`/issues/${issue.id}`, { ...fields, if_updated_at: since })

    const refused = await app.unchanged(() => put({ description: 'Mine', title: 'Mine' }))
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'EDIT_CONFLICT', details: { fields: ['description'], updated_at: theirs.updated_at } },
    })
    expect((await app.unchanged(() => put({ description: 'Mine', priority: 'low' }))).body.details.fields).toEqual([
      'description',
      'priority',
    ])
    // Only other fields changed, or only the same user changed them.
    expect(await put({ title: 'Mine' })).toMatchObject({ status: 200, body: { title: 'Mine' } })
    expect(await put({ title: 'Mine again' })).toMatchObject({ status: 200 })
    expect(await put({ description: 'Theirs again' }, read, member)).toMatchObject({ status: 200 })
    const now = (await owner.get(`/issues/${issue.id}`)).body.updated_at
    expect(await put({ description: 'Mine' }, now)).toMatchObject({ status: 200, body: { description: 'Mine' } })
    expect(await put({ description: 'Mine' }, 'yesterday')).toMatchObject({ status: 422 })
    expect(await owner.put(`/issues/${issue.id}`, { description: 'Without it' })).toMatchObject({ status: 200 })
  })

  test(
    'compares times exactly, also within one millisecond of the clock',
    verifies('edit.conflict'),
    async ({ app }) => {
      const scene = await issueScene(app)
      const { owner, member } = scene
      const issue = await makeIssue(scene)
      const first = await done(member.put(`/issues/${issue.id}`, { title: 'One' }))
      const second = await done(member.put(`/issues/${issue.id}`, { title: 'Two' }))
      expect(first.updated_at < second.updated_at).toBe(true)
      const put = (since: string) => owner.put(`/issues/${issue.id}`, { title: 'Three', if_updated_at: since })
      expect((await put(first.updated_at)).status).toBe(409)
      expect((await put(second.updated_at)).status).toBe(200)
    },
  )

  test('sees changes of agents', verifies('edit.conflict'), async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, team } = scene
    const issue = await makeIssue(scene)
    const robot = await app.installed(owner, { scopes: ['read', 'write'], teamIds: [team.id] })
    await done(robot.put(`/issues/${issue.id}`, { status: 'qa' }))
    const put = (by: typeof owner | typeof robot) =>
      by.put(`/issues/${issue.id}`, { status: 'in_progress', if_updated_at: issue.updated_at })
    expect(await app.unchanged(() => put(owner))).toMatchObject({ status: 409, body: { code: 'EDIT_CONFLICT' } })
    expect(await put(robot)).toMatchObject({ status: 200 })
  })
})

test(
  'a restored description is a new change with its author',
  verifies('edit.restore-description'),
  async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member } = scene
    const issue = await makeIssue(scene, { description: 'First' })
    const changed = await done(member.put(`/issues/${issue.id}`, { description: 'Second' }))
    await done(owner.put(`/issues/${issue.id}`, { description: 'First', if_updated_at: changed.updated_at }))
    const { data } = (await owner.get(`/issues/${issue.id}/history`)).body
    expect(data).toMatchObject([
      { actor: { id: owner.user.id }, changes: { description: { from: 'Second', to: 'First' } } },
      { actor: { id: member.user.id }, changes: { description: { from: 'First', to: 'Second' } } },
    ])
  },
)
