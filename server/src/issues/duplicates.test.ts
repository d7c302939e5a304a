import { describe, expect } from 'vitest'
import { done, teamwork } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { issueScene, makeIssue } from '../../test/issues.ts'

describe('duplicates', () => {
  test(
    'are done, lose their delegation, hand over their watchers and are shown on both issues',
    verifies('duplicate.marks-and-undo'),
    async ({ app, receiver }) => {
      const { id, owner, admin, member, delegated, issueIn, team, rereadSession } = await teamwork(app, receiver)
      const { issue, session } = await delegated()
      const original = await issueIn(team.id, { title: 'The same' })
      await done(admin.put(`/issues/${issue.id}/watch`, {}))
      await done(owner.put(`/issues/${original.id}/watch`, { muted: true }))
      await done(owner.put(`/issues/${issue.id}/watch`))
      const events = await eventsOf(app, id, async () => {
        const marked = await owner.put(`/issues/${issue.id}/duplicate-of`, { issue_id: original.id })
        expect(marked).toMatchObject({
          status: 200,
          body: { id: issue.id, status: 'done', delegate_id: null, delegation_revision: 2 },
        })
      })
      expect(names(events)).toEqual(['Issue update', 'AgentSessionEvent prompted'])
      expect((await rereadSession(session)).state).toBe('stopping')

      const on = async (one: { id: string }) => done(owner.get(`/issues/${one.id}/related`))
      const summary = ({ id, code, title, status }: typeof issue) => ({ id, code, title, status })
      expect(await on(issue)).toMatchObject({ duplicate_of: summary(original), duplicates: [] })
      const related = await on(original)
      expect(related).toMatchObject({ duplicate_of: null, duplicates: [{ ...summary(issue), status: 'done' }] })
      expect(related.watchers).toContainEqual({ user_id: admin.user.id, muted: false })
      expect(related.watchers).toContainEqual({ user_id: owner.user.id, muted: true })
      expect((await owner.get(`/issues/${issue.id}/history`)).body.data[0].changes).toEqual({
        duplicate_of_id: { from: null, to: original.id },
      })
      expect((await owner.get(`/issues/${original.id}`)).body).toEqual(original)

      expect((await member.delete(`/issues/${issue.id}/duplicate-of`)).status).toBe(204)
      expect(await on(issue)).toMatchObject({ duplicate_of: null })
      expect(await on(original)).toMatchObject({ duplicates: [] })
      expect((await owner.get(`/issues/${issue.id}`)).body.status).toBe('done')
      expect((await app.unchanged(() => member.delete(`/issues/${issue.id}/duplicate-of`))).status).toBe(204)
    },
  )

  test('cannot form a cycle', verifies('duplicate.marks-and-undo'), async ({ app }) => {
    const scene = await issueScene(app)
    const { owner } = scene
    const [a, b, c] = [await makeIssue(scene), await makeIssue(scene), await makeIssue(scene)]
    const mark = (one: { id: string }, of: { id: string }) =>
      owner.put(`/issues/${one.id}/duplicate-of`, { issue_id: of.id })
    await done(mark(a, b))
    await done(mark(b, c))
    for (const [one, of] of [
      [c, a],
      [c, b],
      [b, a],
      [a, a],
    ] as const) {
      const refused = await app.unchanged(() => mark(one, of))
      expect(refused).toMatchObject({ status: 422, body: { details: { issue_id: expect.any(String) } } })
    }
    await done(mark(a, c))
    expect((await owner.get(`/issues/${c.id}/related`)).body.duplicates.map(({ id }: { id: string }) => id)).toEqual([
      b.id,
      a.id,
    ])
    await done(owner.delete(`/issues/${c.id}`).then((response) => ({ ...response, body: {} })))
    expect((await owner.get(`/issues/${a.id}/related`)).body.duplicate_of).toBeNull()
  })

  test('never show an issue to a user without access', async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member, team, other } = scene
    const shared = await makeIssue(scene)
    const mine = await makeIssue(scene, { team_id: null, personal: true })
    const elsewhere = await makeIssue(await issueScene(app))
    for (const [one, of, by] of [
      [mine, shared, owner],
      [shared, mine, owner],
      [shared, mine, member],
      [shared, elsewhere, owner],
    ] as const) {
      const refused = await app.unchanged(() => by.put(`/issues/${one.id}/duplicate-of`, { issue_id: of.id }))
      expect(refused.status).toBe(422)
    }
    expect(
      (await app.unchanged(() => member.put(`/issues/${mine.id}/duplicate-of`, { issue_id: shared.id }))).status,
    ).toBe(404)

    const far = await makeIssue(scene, { team_id: other.id })
    await done(owner.put(`/issues/${shared.id}/duplicate-of`, { issue_id: far.id }))
    const robot = await app.installed(owner, { scopes: ['read'], teamIds: [team.id] })
    expect((await robot.get(`/issues/${shared.id}/related`)).body).toMatchObject({ duplicate_of: null })
    await done(owner.put(`/issues/${far.id}`, { personal: true }))
    await done(owner.put(`/issues/${far.id}`, { personal: false }))
    expect((await owner.get(`/issues/${shared.id}/related`)).body).toMatchObject({ duplicate_of: null })
  })
})
