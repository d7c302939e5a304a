import { describe, expect } from 'vitest'
import { invalid, missing, refusal } from '../../test/agent-sessions.ts'
import { done } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { accept, inboxOf, reviewScene, sendBack } from '../../test/reviews.ts'
import { sql } from '../db/sql.ts'

describe('a review', () => {
  test(
    'is made with the response in a delegated session, for the assignee',
    verifies('review.created-with-response'),
    async ({ app }) => {
      const { delivered, owner, member, robot, ...scene } = await reviewScene(app)
      const { session, review, issue } = await delivered({ assignee_id: owner.user.id })
      expect(review).toMatchObject({
        session_id: session.id,
        issue: { id: issue.id, code: issue.code, title: issue.title, status: issue.status, url: issue.url },
        agent: { id: robot.userId },
        reviewer_id: owner.user.id,
        round: 1,
        state: 'waiting',
        decided_by: null,
        decided_at: null,
        reason: null,
      })
      expect(await scene.waiting()).toEqual([review])
      // The reviewer gets the request in place of "finished", the delegator still gets that.
      expect(await inboxOf(owner)).toMatchObject([
        { kind: 'review_requested', subject_id: session.id, read_at: null },
        { kind: 'assignment' },
      ])
      expect(await inboxOf(member)).toMatchObject([{ kind: 'agent_finished', subject_id: session.id, read_at: null }])
      // A further response belongs to the same review.
      await done(session.say({ type: 'response', body: 'One more thing.' }))
      expect(await scene.waiting()).toEqual([review])
      expect((await scene.read(review.id)).response).toBe('One more thing.')
      expect((await inboxOf(owner)).filter(({ kind }) => kind === 'review_requested')).toHaveLength(1)
    },
  )

  test(
    'is not made without the setting, for a mention, for a session of the app, or after Stop',
    verifies('review.off-by-default'),
    async ({ app }) => {
      const { setReview, delegated, mentioned, begun, newIssue, waiting, owner, member, team, otherTeam } =
        await reviewScene(app)
      expect(await done(owner.get(`/teams/${otherTeam.id}/review`))).toEqual({ mode: 'off', accept_status: 'done' })
      await setReview({ mode: 'off', accept_status: 'done' })
      const off = await delegated()
      await done(off.say('response'))
      expect(await inboxOf(member)).toMatchObject([{ kind: 'agent_finished' }])
      await setReview({ mode: 'on', accept_status: null })
      const stopped = await delegated()
      await done(stopped.stop())
      for (const session of [await mentioned(await newIssue()), await begun(), stopped]) {
        await done(session.say('response'))
      }
      const failed = await delegated()
      await done(failed.say('error'))
      expect(await waiting()).toEqual([])
      expect(await done(member.get(`/teams/${team.id}/review`))).toEqual({ mode: 'on', accept_status: null })
    },
  )

  test('has a setting that managers set as a whole', verifies('review.off-by-default'), async ({ app }) => {
    const { owner, member, team } = await reviewScene(app)
    const path = `/teams/${team.id}/review`
    for (const body of [
      { mode: 'on' },
      { mode: 'maybe', accept_status: null },
      { mode: 'on', accept_status: 'todo' },
    ]) {
      expect(await app.unchanged(() => owner.put(path, body))).toMatchObject(invalid)
    }
    const body = { mode: 'on', accept_status: 'qa' }
    expect(await app.unchanged(() => member.put(path, body))).toMatchObject(refusal(403, 'FORBIDDEN'))
    expect(await app.unchanged(() => owner.put('/teams/team_00000000000000000000000000/review', body))).toMatchObject(
      missing,
    )
    expect(await done(owner.put(path, body))).toEqual(body)
    const [entry] = (await done(owner.get('/audit-log'))).data
    expect(entry).toMatchObject({
      action: 'team.updated',
      subject_id: team.id,
      details: { fields: ['review'], changes: { review: { to: body } } },
    })
    // The same again is no change.
    await app.unchanged(() => owner.put(path, body))
  })

  test('counts rounds, one for each response after a message', verifies('review.rounds'), async ({ app }) => {
    const { delivered, reviewOf, owner, member } = await reviewScene(app)
    const { session, review } = await delivered()
    await done(sendBack(member, review))
    expect(await reviewOf(session)).toBeUndefined()
    await done(session.say('response'))
    const second = await reviewOf(session)
    expect(second).toMatchObject({ round: 2, state: 'waiting' })
    expect(second.id).not.toBe(review.id)
    await done(session.write('One question first.'))
    await done(session.say('response'))
    expect(await reviewOf(session)).toMatchObject({ round: 3 })
    const states = await app.ctx.db.rows(sql`
      select round, state from reviews where session_id = ${session.id} order by round`)
    expect(states).toEqual([
      { round: 1, state: 'sent_back' },
      { round: 2, state: 'withdrawn' },
      { round: 3, state: 'waiting' },
    ])
    expect((await done(owner.get('/reviews?state=sent_back'))).data).toMatchObject([{ id: review.id, round: 1 }])
  })

  test('shows what the agent delivered in its round', verifies('review.detail'), async ({ app }) => {
    const { delegated, reviewOf, issueOf, owner, member, robot, read, comment } = await reviewScene(app)
    const session = await delegated()
    const issue = await issueOf(session)
    const plan = [{ content: 'Oil the hinges', status: 'completed' as const }]
    const links = [
      { label: 'Notes', url: 'https://notes.example.com/1' },
      { label: 'Change', url: 'https://code.example.com/acme/shop/pull/7' },
    ]
    await done(session.change({ plan, external_urls: links }))
    await done(robot.put(`/issues/${issue.id}`, { priority: 'high' }))
    const first = await comment(issue, 'I look at it.', {}, robot)
    await comment(issue, 'Good luck', {}, owner)
    await done(member.put(`/issues/${issue.id}`, { type: 'bug' }))
    await done(session.say({ type: 'response', body: 'It is **quiet**.' }))
    const review = await reviewOf(session)
    expect(await read(review.id)).toMatchObject({
      ...review,
      response: 'It is **quiet**.',
      plan,
      links: [links[1], links[0]],
      issue_changes: [{ actor: { id: robot.userId }, changes: { priority: { to: 'high' } } }],
      comments: [{ id: first.id }],
      changes: null,
      can_decide: true,
      can_send_back: true,
    })
    app.clock.advance({ minutes: 5 })
    await done(sendBack(member, review))
    app.clock.advance({ minutes: 5 })
    const later = await comment(issue, 'Again', {}, robot)
    const commit = 'a'.repeat(40)
    await done(
      robot.put(`${session.path}/changes`, {
        repository: 'acme/shop',
        remote_url: null,
        base: { ref: 'main', commit },
        head_commit: commit,
        branch: 'fix',
        pushed: false,
        files_total: 1,
        additions: 2,
        deletions: 1,
        files: [],
      }),
    )
    await done(session.say('response'))
    const second = await reviewOf(session)
    expect(await read(second.id)).toMatchObject({
      issue_changes: [],
      comments: [{ id: later.id }],
      changes: { files_total: 1, additions: 2, deletions: 1, branch: 'fix' },
    })
    // The first round stays as it was.
    expect(await read(review.id)).toMatchObject({
      state: 'sent_back',
      issue_changes: [{ changes: { priority: { to: 'high' } } }],
      comments: [{ id: first.id }],
      can_decide: false,
      can_send_back: false,
    })
  })

  test(
    'is listed oldest first, for the issues that the caller can see',
    verifies('review.queue-screen'),
    async ({ app }) => {
      const { delivered, waiting, team, otherTeam, owner } = await reviewScene(app)
      const made = [await delivered(), await delivered(), await delivered()]
      const ids = made.map(({ review }) => review.id)
      expect((await waiting()).map(({ id }) => id)).toEqual(ids)
      expect((await waiting(`?team_id=${team.id}`)).map(({ id }) => id)).toEqual(ids)
      expect(await waiting(`?team_id=${otherTeam.id}`)).toEqual([])
      expect((await waiting(`?issue_id=${made[1]?.issue.id}`)).map(({ id }) => id)).toEqual([ids[1]])
      const first = await owner.get('/reviews?limit=2')
      expect(first.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2))
      expect((await waiting(`?cursor=${first.body.next_cursor}`)).map(({ id }) => id)).toEqual([ids[2]])
      const elsewhere = await app.workspace()
      expect((await elsewhere.owner.get('/reviews')).body.data).toEqual([])
      expect(await elsewhere.owner.get(`/reviews/${ids[0]}`)).toMatchObject(missing)
    },
  )
})

test('the number of waiting reviews is a metric', async ({ app }) => {
  const { delivered, member } = await reviewScene(app)
  const value = async () => {
    app.clock.advance({ seconds: 20 })
    const { body: text } = await app.anonymous.getRoot('/metrics')
    return Number(/^baton_reviews_waiting (\d+)$/m.exec(text)?.[1])
  }
  const before = await value()
  const { review } = await delivered()
  await delivered()
  expect(await value()).toBe(before + 2)
  await done(accept(member, review))
  expect(await value()).toBe(before + 1)
})

test('a review records no event of its own', async ({ app }) => {
  const { delegated, member, reviewOf, id } = await reviewScene(app, { accept_status: null })
  const session = await delegated()
  const events = await eventsOf(app, id, async () => {
    await done(session.say('response'))
    await done(accept(member, await reviewOf(session)))
  })
  expect(names(events)).toEqual([])
})
