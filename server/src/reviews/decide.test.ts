import { describe, expect } from 'vitest'
import { ended, invalid, refusal } from '../../test/agent-sessions.ts'
import { done } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { asApp } from '../../test/oauth.ts'
import { accept, inboxOf, reviewScene, sendBack } from '../../test/reviews.ts'

describe('accepting', () => {
  test(
    "moves the issue to the team's status by the person, unless it is there or beyond",
    verifies('review.accept-moves'),
    async ({ app }) => {
      const { delivered, issueOf, setReview, owner, member, id } = await reviewScene(app)
      const cases = [
        ['done', 'todo', 'done'],
        ['qa', 'in_progress', 'qa'],
        ['qa', 'qa', 'qa'],
        ['release', 'qa', 'release'],
        [null, 'todo', 'todo'],
      ] as const
      for (const [accept_status, status, expected] of cases) {
        await done(setReview({ mode: 'on', accept_status }))
        const { review, session, issue } = await delivered({ status })
        const events = await eventsOf(app, id, async () => {
          expect(await done(accept(member, review))).toMatchObject({
            id: review.id,
            state: 'accepted',
            decided_by: member.user.id,
            decided_at: expect.any(String),
            reason: null,
            issue: { status: expected },
          })
        })
        expect((await issueOf(session)).status).toBe(expected)
        expect(names(events)).toEqual(status === expected ? [] : ['Issue update'])
        if (status !== expected) {
          expect(events[0]?.body.actor).toMatchObject({ id: member.user.id, type: 'user' })
          const [change] = (await done(owner.get(`/issues/${issue.id}/history`))).data
          expect(change).toMatchObject({ actor: { id: member.user.id }, changes: { status: { to: expected } } })
        }
        // The session goes on as it was.
        expect((await session.get(owner)).state).toBe('complete')
      }
    },
  )

  test('takes a comment, which is one on the issue', verifies('review.accept-moves'), async ({ app }) => {
    const { delivered, member, owner } = await reviewScene(app)
    const { review, issue, session } = await delivered()
    for (const comment of ['', 'x'.repeat(20_001)]) {
      expect(await app.unchanged(() => accept(member, review, { comment }))).toMatchObject(invalid)
    }
    expect(await done(accept(member, review, { comment: 'Thanks' }))).toMatchObject({ reason: 'Thanks' })
    const { data } = await done(owner.get(`/comments?target_type=issue&target_id=${issue.id}`))
    expect(data).toMatchObject([{ author_id: member.user.id, text: 'Thanks' }])
    expect((await session.activities()).map(({ type }) => type)).toEqual(['response'])
  })

  test('settles the inbox of the reviewer', verifies('review.decided-once'), async ({ app }) => {
    const { delivered, member, owner } = await reviewScene(app)
    const { review } = await delivered()
    await done(accept(owner, review))
    const [entry] = (await inboxOf(member)).filter(({ kind }) => kind === 'review_requested')
    expect(entry?.read_at).not.toBeNull()
  })
})

describe('sending back', () => {
  test("is the person's message in the session", verifies('review.send-back-prompts'), async ({ app }) => {
    const { delivered, owner, member, id } = await reviewScene(app)
    const { review, session, issue } = await delivered()
    const events = await eventsOf(app, id, async () => {
      expect(await done(sendBack(owner, review, 'The upper hinge squeaks.'))).toMatchObject({
        state: 'sent_back',
        decided_by: owner.user.id,
        reason: 'The upper hinge squeaks.',
      })
    })
    expect(names(events)).toEqual(['AgentSessionEvent prompted'])
    expect(events[0]?.body).toMatchObject({
      actor: { id: owner.user.id },
      data: { agent_activity: { type: 'prompt', content: { body: 'The upper hinge squeaks.' } } },
    })
    expect((await session.activities()).at(-1)).toMatchObject({
      type: 'prompt',
      content: { type: 'prompt', body: 'The upper hinge squeaks.' },
      author: { id: owner.user.id },
    })
    expect((await session.get(owner)).state).toBe('pending')
    expect((await done(member.get(`/issues/${issue.id}`))).status).toBe(issue.status)
    const [entry] = (await inboxOf(member)).filter(({ kind }) => kind === 'review_requested')
    expect(entry?.read_at).not.toBeNull()
  })

  test('needs a reason', verifies('review.send-back-needs-reason'), async ({ app }) => {
    const { delivered, member } = await reviewScene(app)
    const { review, session } = await delivered()
    for (const body of [{}, { reason: '' }, { reason: 'x'.repeat(32_001) }, { reason: 7 }]) {
      expect(await app.unchanged(() => member.post(`/reviews/${review.id}/send-back`, body))).toMatchObject({
        ...invalid,
        body: { details: { reason: expect.any(String) } },
      })
    }
    expect((await session.activities()).map(({ type }) => type)).toEqual(['response'])
    await done(sendBack(member, review, 'x'.repeat(32_000)))
  })

  test('is refused in an ended session, where accepting works', verifies('review.session-ended'), async ({ app }) => {
    const { delivered, owner, member, robot, issueOf } = await reviewScene(app)
    const { review, session } = await delivered()
    await done(owner.delete(`/installations/${robot.installationId}`))
    expect(await app.unchanged(() => sendBack(member, review))).toMatchObject(ended('uninstalled'))
    expect(await done(member.get(`/reviews/${review.id}`))).toMatchObject({ can_decide: true, can_send_back: false })
    expect(await done(accept(member, review))).toMatchObject({ state: 'accepted' })
    expect((await issueOf(session)).status).toBe('done')
  })
})

describe('deciding', () => {
  test(
    "is for people of the issue's team and managers, never for agents and tokens",
    verifies('review.who-decides'),
    async ({ app }) => {
      const { delivered, owner, admin, member, robot, join, id } = await reviewScene(app)
      const outsider = await join('member')
      const { review } = await delivered()
      for (const decide of [() => accept(outsider, review), () => sendBack(outsider, review)]) {
        expect(await app.unchanged(decide)).toMatchObject(refusal(403, 'FORBIDDEN'))
      }
      expect(await done(outsider.get(`/reviews/${review.id}`))).toMatchObject({ can_decide: false })
      const { body: created } = await member.post('/personal-tokens', { name: 'Script', scopes: ['read', 'write'] })
      for (const client of [robot, asApp(app, id, created.token)]) {
        for (const decide of [() => accept(client, review), () => sendBack(client, review)]) {
          expect(await app.unchanged(decide)).toMatchObject(refusal(403, 'SESSION_ONLY_ROUTE'))
        }
      }
      for (const person of [admin, owner, member]) {
        const { review } = await delivered()
        expect(await done(accept(person, review))).toMatchObject({ decided_by: person.user.id })
      }
    },
  )

  test('is possible once', verifies('review.decided-once'), async ({ app }) => {
    const { delivered, owner, member } = await reviewScene(app)
    const decided = async (state: string, id: { id: string }) => {
      for (const decide of [() => accept(owner, id), () => sendBack(owner, id)]) {
        expect(await app.unchanged(decide)).toMatchObject(refusal(409, 'REVIEW_DECIDED', { state }))
      }
    }
    const { review: accepted } = await delivered()
    await done(accept(member, accepted))
    await decided('accepted', accepted)
    const { review: back } = await delivered()
    await done(sendBack(member, back))
    await decided('sent_back', back)
    const { review: withdrawn, session } = await delivered()
    await done(session.write('Wait'))
    await decided('withdrawn', withdrawn)
  })
})
