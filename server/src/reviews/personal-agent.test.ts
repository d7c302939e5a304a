import { expect } from 'vitest'
import { refusal } from '../../test/agent-sessions.ts'
import { done } from '../../test/delegation.ts'
import { verifies } from '../../test/harness.ts'
import { insideScene } from '../../test/inside-agents.ts'
import { says, modelTest as test } from '../../test/model.ts'
import { accept, sendBack } from '../../test/reviews.ts'

test(
  'only its owner can send back the work of a personal agent; others can accept it',
  verifies('review.personal-agent'),
  async ({ app, model }) => {
    const { owner, member, team, scribe, createIssue } = await insideScene(app)
    await done(owner.put(`/teams/${team.id}/review`, { mode: 'on', accept_status: 'qa' }))
    const deliver = async () => {
      model.play(says('It is written.'))
      const issue = await createIssue({ delegate_id: scribe.id })
      await app.work()
      return (await done(owner.get(`/reviews?issue_id=${issue.id}`))).data[0]
    }
    const review = await deliver()
    expect(review).toMatchObject({ agent: { id: scribe.id }, reviewer_id: member.user.id, state: 'waiting' })
    expect(await app.unchanged(() => sendBack(owner, review))).toMatchObject(refusal(403, 'FORBIDDEN'))
    expect(await done(owner.get(`/reviews/${review.id}`))).toMatchObject({ can_decide: true, can_send_back: false })
    expect(await done(member.get(`/reviews/${review.id}`))).toMatchObject({ can_send_back: true })
    expect(await done(sendBack(member, review))).toMatchObject({ state: 'sent_back' })
    expect(await done(accept(owner, await deliver()))).toMatchObject({ state: 'accepted' })
  },
)
