import { expect } from 'vitest'
import { done } from '../../test/delegation.ts'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { accept, reviewScene, sendBack } from '../../test/reviews.ts'
import { sql } from '../db/sql.ts'

const rounds = 8

test('of several people who decide at once, one wins', verifiesOnPostgres('review.decided-once'), async ({ app }) => {
  const { delivered, owner, admin, member, issueOf } = await reviewScene(app)
  for (let round = 0; round < rounds; round++) {
    const { review, session, issue } = await delivered()
    const answers = await Promise.all([
      accept(owner, review),
      sendBack(member, review, 'Not yet'),
      accept(admin, review, { comment: 'Thanks' }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const winner = answers.findIndex(({ status }) => status === 200)
    const [state, by] = [
      ['accepted', owner],
      ['sent_back', member],
      ['accepted', admin],
    ][winner] as [string, typeof owner]
    for (const { status, body } of answers) {
      if (status === 409) expect(body).toMatchObject({ code: 'REVIEW_DECIDED', details: { state } })
    }
    expect(await done(owner.get(`/reviews/${review.id}`))).toMatchObject({ state, decided_by: by.user.id })
    // The others changed nothing.
    expect((await issueOf(session)).status).toBe(state === 'accepted' ? 'done' : issue.status)
    const prompts = (await session.activities()).filter(({ type }) => type === 'prompt')
    expect(prompts).toHaveLength(winner === 1 ? 1 : 0)
    const { data: comments } = await done(owner.get(`/comments?target_type=issue&target_id=${issue.id}`))
    expect(comments).toHaveLength(winner === 2 ? 1 : 0)
  }
})

test(
  'a decision, a message, Stop and a change of the issue at once leave one outcome',
  verifiesOnPostgres('review.decided-once', 'review.withdrawn'),
  async ({ app }) => {
    const { delivered, owner, member } = await reviewScene(app)
    for (let round = 0; round < rounds; round++) {
      const { review, session, issue } = await delivered()
      const answers = await Promise.all([
        sendBack(owner, review),
        session.write('Wait'),
        session.stop(),
        member.put(`/issues/${issue.id}`, { status: 'done', delegate_id: null }),
        session.say('response'),
      ])
      expect(answers.filter(({ status }) => status >= 500)).toEqual([])
      const waiting = await app.ctx.db.rows(sql`
        select session_id from reviews where state = 'waiting' group by session_id having count(*) > 1`)
      expect(waiting).toEqual([])
      const first = await done(owner.get(`/reviews/${review.id}`))
      expect(first.state).not.toBe('waiting')
      expect(first.state === 'sent_back').toBe(answers[0]?.status === 200)
    }
  },
)
