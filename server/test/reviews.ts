import type { InboxEntry, Issue, Review, ReviewDetail } from '@baton/protocol'
import { type Conversation, sessionScene } from './agent-sessions.ts'
import type { Client } from './client.ts'
import { done } from './delegation.ts'
import type { TestApp } from './harness.ts'

/** A team with review on, whose member delegates issues to an app. */
export async function reviewScene(app: TestApp, { accept_status = 'done' as string | null } = {}) {
  const scene = await sessionScene(app)
  const { owner, team } = scene
  const setReview = (review: object) => owner.put(`/teams/${team.id}/review`, review)
  await done(setReview({ mode: 'on', accept_status }))

  const waiting = async (query = ''): Promise<Review[]> => (await done(owner.get(`/reviews${query}`))).data
  const reviewOf = async (session: { id: string }): Promise<Review> =>
    (await waiting(`?session_id=${session.id}`))[0] as Review
  /** A delegated session with its response and the review of it. */
  const delivered = async (fields = {}) => {
    const session = await scene.delegated(fields)
    await done(session.say('response'))
    return { session, review: await reviewOf(session), issue: await issueOf(session) }
  }
  const issueOf = async (session: Conversation): Promise<Issue> =>
    done(owner.get(`/issues/${(await session.get(owner)).issue?.id}`))
  const read = async (id: string, by: Client = owner): Promise<ReviewDetail> => done(by.get(`/reviews/${id}`))
  return { ...scene, setReview, waiting, reviewOf, delivered, issueOf, read }
}

export const inboxOf = async (person: Client): Promise<InboxEntry[]> => (await done(person.get('/inbox'))).data

export const accept = (by: Client, { id }: { id: string }, body?: object) => by.post(`/reviews/${id}/accept`, body)
export const sendBack = (by: Client, { id }: { id: string }, reason = 'Not yet') =>
  by.post(`/reviews/${id}/send-back`, { reason })
