import { describe, expect } from 'vitest'
import { done } from '../../test/delegation.ts'
import { connect, deliver, pullRequest } from '../../test/git.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { asApp } from '../../test/oauth.ts'
import { inboxOf, reviewScene } from '../../test/reviews.ts'
import { sql } from '../db/sql.ts'

const stateOf = ({ ctx }: TestApp, { id }: { id: string }) =>
  ctx.db.row<{ state: string; decided_by: string | null }>(sql`select state, decided_by from reviews where id = ${id}`)

describe('a waiting review', () => {
  test(
    'is accepted by a person who moves the issue to release or done',
    verifies('review.accepted-by-status'),
    async ({ app }) => {
      const { delivered, owner, member, id } = await reviewScene(app)
      for (const status of ['release', 'done']) {
        const { review, issue } = await delivered()
        await done(owner.put(`/issues/${issue.id}`, { status: 'qa' }))
        expect(await stateOf(app, review)).toEqual({ state: 'waiting', decided_by: null })
        await done(owner.put(`/issues/${issue.id}`, { status }))
        expect(await stateOf(app, review)).toEqual({ state: 'accepted', decided_by: owner.user.id })
        const [entry] = (await inboxOf(member)).filter(({ kind }) => kind === 'review_requested')
        expect(entry?.read_at).not.toBeNull()
      }
      // A token moves the issue without a person who looks at the work.
      const { body: created } = await owner.post('/personal-tokens', { name: 'Script', scopes: ['read', 'write'] })
      const { review, issue } = await delivered()
      await done(asApp(app, id, created.token).put(`/issues/${issue.id}`, { status: 'done' }))
      expect(await stateOf(app, review)).toEqual({ state: 'withdrawn', decided_by: null })
    },
  )

  test('is withdrawn by a rule for pull requests', verifies('review.withdrawn'), async ({ app }) => {
    const { delivered, owner, issueOf } = await reviewScene(app)
    const { review, issue, session } = await delivered()
    const connection = await connect(owner)
    const title = `Fixes ${issue.code}`
    const send = (fields: object) =>
      deliver(app.anonymous, connection, pullRequest({ title, ...fields }), 'pull_request')
    await done(send({}))
    expect(await stateOf(app, review)).toMatchObject({ state: 'waiting' })
    await done(send({ action: 'closed', state: 'closed', merged: true, updated: '2026-03-02T10:00:00Z' }))
    expect((await issueOf(session)).status).toBe('done')
    expect(await stateOf(app, review)).toEqual({ state: 'withdrawn', decided_by: null })
  })

  test(
    'is withdrawn by a message, Stop, another delegate, and a deleted, personal or moved issue',
    verifies('review.withdrawn'),
    async ({ app }) => {
      const { delivered, owner, member, team, otherTeam } = await reviewScene(app)
      const both = await app.installed(owner, {
        scopes: ['app:assignable'],
        teamIds: [team.id, otherTeam.id],
        webhook: 'https://robots.example.com/hook',
      })
      const acts: Record<string, (made: Awaited<ReturnType<typeof delivered>>) => Promise<unknown>> = {
        message: ({ session }) => done(session.write('One more thing')),
        stop: ({ session }) => done(session.stop()),
        'another delegate': ({ issue }) => done(member.put(`/issues/${issue.id}`, { delegate_id: both.userId })),
        'no delegate': ({ issue }) => done(member.put(`/issues/${issue.id}`, { delegate_id: null })),
        deleted: ({ issue }) => done(member.delete(`/issues/${issue.id}`)),
        personal: ({ issue }) => done(member.put(`/issues/${issue.id}`, { personal: true })),
        moved: ({ issue }) => done(member.put(`/issues/${issue.id}`, { team_id: otherTeam.id })),
      }
      for (const [name, act] of Object.entries(acts)) {
        const made = await delivered()
        await act(made)
        expect({ name, ...(await stateOf(app, made.review)) }).toEqual({
          name,
          state: 'withdrawn',
          decided_by: null,
        })
        const unread = (await inboxOf(member)).filter(({ kind, read_at }) => kind === 'review_requested' && !read_at)
        expect({ name, unread }).toEqual({ name, unread: [] })
      }
      expect((await done(owner.get('/reviews'))).data).toEqual([])
    },
  )

  test('is withdrawn by a move to a team that the agent covers too', verifies('review.withdrawn'), async ({ app }) => {
    const { newIssue, owner, member, team, otherTeam, reviewOf } = await reviewScene(app)
    const both = await app.installed(owner, {
      scopes: ['app:assignable'],
      teamIds: [team.id, otherTeam.id],
      webhook: 'https://robots.example.com/hook',
    })
    const issue = await newIssue({ delegate_id: both.userId })
    const session = (await both.get('/agent-sessions')).body.data[0]
    await done(both.post(`/agent-sessions/${session.id}/activities`, { content: { type: 'response', body: 'Done' } }))
    const review = await reviewOf(session)
    await done(member.put(`/issues/${issue.id}`, { priority: 'low' }))
    expect(await stateOf(app, review)).toMatchObject({ state: 'waiting' })
    await done(member.put(`/issues/${issue.id}`, { team_id: otherTeam.id }))
    expect(await stateOf(app, review)).toMatchObject({ state: 'withdrawn' })
  })
})
