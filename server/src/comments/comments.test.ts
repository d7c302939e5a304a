import { describe, expect } from 'vitest'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, type TestPerson, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'

const scene = async (app: TestApp) => {
  const workspace = await app.workspace()
  const { body: team } = await workspace.owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const { body: issue } = await workspace.owner.post('/issues', { title: 'A bug', team_id: team.id })
  const { body: project } = await workspace.owner.post('/projects', { title: 'Plan' })
  const postComment = async (person: TestPerson, text: string, fields: object = {}) =>
    (await person.post('/comments', { target_type: 'issue', target_id: issue.id, text, ...fields })).body
  return { ...workspace, team, issue, project, postComment }
}

describe('creating comments', () => {
  for (const [target_type, id] of [
    ['issue', 'comment.create-on-issue-201'],
    ['project', 'comment.create-on-project-201'],
  ] as const)
    test(
      `works on an ${target_type}`,
      verifies(
        id,
        'comment.body-fields',
        'comment.root-parent-null',
        'comment.author-is-caller',
        'comment.get',
        'mention.none-is-empty-array',
      ),
      async ({ app }) => {
        const { member, issue, project } = await scene(app)
        const target = target_type === 'issue' ? issue : project
        const { status, body } = await member.post('/comments', { target_type, target_id: target.id, text: 'Hello' })
        expect(status).toBe(201)
        const now = app.clock.now().toISOString()
        expect(body).toEqual({
          id: expect.stringMatching(/^cmt_/),
          text: 'Hello',
          author_id: member.user.id,
          target_type,
          target_id: target.id,
          parent_comment_id: null,
          is_resolved: false,
          mentioned_user_ids: [],
          edited_at: null,
          created_at: now,
          updated_at: now,
          url: `${target.url}#comment-${body.id}`,
          internal: false,
          automation_id: null,
        })
        expect((await member.get(`/comments/${body.id}`)).body).toEqual(body)
      },
    )

  test(
    'requires a target and a text',
    verifies('comment.create-required-fields', 'comment.target-type-values'),
    async ({ app }) => {
      const { owner, issue } = await scene(app)
      const good = { target_type: 'issue', target_id: issue.id, text: 'Hello' }
      for (const field of ['target_type', 'target_id', 'text']) {
        const response = await app.unchanged(() => owner.post('/comments', { ...good, [field]: undefined }))
        expect(response).toMatchObject({ status: 422, body: { details: { [field]: 'is required' } } })
      }
      const response = await app.unchanged(() => owner.post('/comments', { ...good, target_type: 'team' }))
      expect(Object.keys(response.body.details)).toEqual(['target_type'])
      const empty = await app.unchanged(() => owner.post('/comments', { ...good, text: '' }))
      expect(Object.keys(empty.body.details)).toEqual(['text'])
    },
  )

  test(
    'puts replies to replies into the thread of the first comment',
    verifies('comment.reply-has-parent', 'comment.reply-to-reply-joins-root-thread'),
    async ({ app }) => {
      const { owner, member, project, postComment } = await scene(app)
      const root = await postComment(owner, 'One')
      const reply = await postComment(member, 'Two', { parent_comment_id: root.id })
      expect(reply.parent_comment_id).toBe(root.id)
      expect((await postComment(owner, 'Three', { parent_comment_id: reply.id })).parent_comment_id).toBe(root.id)
      const onProject = { target_type: 'project', target_id: project.id, text: 'Elsewhere' }
      for (const parent_comment_id of [root.id, 'cmt_x']) {
        const response = await app.unchanged(() => owner.post('/comments', { ...onProject, parent_comment_id }))
        expect(response).toMatchObject({ status: 422 })
        expect(Object.keys(response.body.details)).toEqual(['parent_comment_id'])
      }
    },
  )

  test(
    'answers 404 for a target that the caller cannot see',
    verifies('comment.personal-issue-hidden-from-others'),
    async ({ app }) => {
      const { owner, member } = await scene(app)
      const elsewhere = await scene(app)
      const mine = (await member.post('/issues', { title: 'Mine', personal: true })).body
      for (const target_id of [mine.id, elsewhere.issue.id, 'iss_x']) {
        const response = await app.unchanged(() =>
          owner.post('/comments', { target_type: 'issue', target_id, text: 'Hm' }),
        )
        expect(response).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
      }
      const own = await member.post('/comments', { target_type: 'issue', target_id: mine.id, text: 'To myself' })
      expect((await owner.get(`/comments/${own.body.id}`)).status).toBe(404)
      expect((await member.get(`/comments/${own.body.id}`)).status).toBe(200)
    },
  )

  test(
    'emits no events for internal comments and their replies',
    verifies('comment.internal-accepted'),
    async ({ app }) => {
      const { id, owner, member, postComment } = await scene(app)
      const events = await eventsOf(app, id, async () => {
        const internal = await postComment(owner, 'Between us', { internal: true })
        expect(internal.internal).toBe(true)
        const reply = await postComment(member, 'Indeed', { parent_comment_id: internal.id })
        expect(reply.internal).toBe(true)
        await owner.put(`/comments/${internal.id}`, { text: 'Still between us' })
        await owner.delete(`/comments/${internal.id}`)
      })
      expect(events).toEqual([])
    },
  )
})

describe('mentions', () => {
  test(
    'are read from the text',
    verifies('mention.derived-from-text', 'mention.unknown-id-is-plain-text', 'mention.client-ids-refused'),
    async ({ app }) => {
      const { owner, member, admin, issue, postComment } = await scene(app)
      const stranger = await app.person()
      const at = (person: TestPerson) => `@[${person.user.display_name}](${person.user.id})`
      const comment = await postComment(
        owner,
        `${at(member)} and ${at(admin)}, ${at(member)}; not ${at(stranger)} nor @[X](usr_x)`,
      )
      expect(comment.mentioned_user_ids).toEqual([member.user.id, admin.user.id])
      const bracketed = await postComment(owner, `@[Bob [QA]](${member.user.id}) and @[Ann](${admin.user.id})`)
      expect(bracketed.mentioned_user_ids).toEqual([member.user.id, admin.user.id])
      const edited = (await owner.put(`/comments/${comment.id}`, { text: at(admin) })).body
      expect(edited.mentioned_user_ids).toEqual([admin.user.id])
      const body = { target_type: 'issue', target_id: issue.id, text: 'Hi', mentioned_user_ids: [member.user.id] }
      const refused = await app.unchanged(() => owner.post('/comments', body))
      expect(refused).toMatchObject({ status: 422, body: { details: { mentioned_user_ids: 'is not a known field' } } })
    },
  )
})

describe('listing comments', () => {
  test(
    'returns those of one target, oldest first',
    verifies('comment.list-by-target', 'comment.list-oldest-first'),
    async ({ app }) => {
      const { owner, member, issue, project, postComment } = await scene(app)
      const texts = ['One', 'Two', 'Three']
      for (const text of texts) await postComment(owner, text)
      await owner.post('/comments', { target_type: 'project', target_id: project.id, text: 'Elsewhere' })
      const path = `/comments?target_type=issue&target_id=${issue.id}`
      const all = (await member.get(path)).body
      expect(all.data.map(({ text }: { text: string }) => text)).toEqual(texts)
      const first = (await member.get(`${path}&limit=2`)).body
      const rest = (await member.get(`${path}&limit=2&cursor=${first.next_cursor}`)).body
      expect([...first.data, ...rest.data]).toEqual(all.data)
      expect((await member.get('/comments')).status).toBe(422)
      expect((await member.get('/comments?target_type=issue&target_id=iss_x')).status).toBe(404)
    },
  )
})

describe('updating comments', () => {
  test(
    'changes text and resolution independently',
    verifies(
      'comment.update-text',
      'comment.update-is-resolved',
      'comment.edited-at-on-text-change',
      'comment.update-other-key-refused',
    ),
    async ({ app }) => {
      const { id, owner, member, issue, postComment } = await scene(app)
      const comment = await postComment(owner, 'Before')
      app.clock.advance({ minutes: 1 })
      const path = `/comments/${comment.id}`
      const resolved = (await member.put(path, { is_resolved: true })).body
      expect(resolved).toEqual({ ...comment, is_resolved: true, updated_at: app.clock.now().toISOString() })
      const edited = (await owner.put(path, { text: 'After' })).body
      expect(edited).toMatchObject({ text: 'After', is_resolved: true, edited_at: app.clock.now().toISOString() })
      expect(edited.updated_at > resolved.updated_at).toBe(true)
      expect((await owner.put(path, { is_resolved: false })).body).toMatchObject({ text: 'After', is_resolved: false })
      for (const change of [
        { target_id: issue.id },
        { parent_comment_id: null },
        { internal: true },
        { is_resolved: 'yes' },
      ]) {
        const response = await app.unchanged(() => owner.put(path, change))
        expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
        expect(Object.keys(response.body.details)).toEqual(Object.keys(change))
      }
      const nothing = await eventsOf(app, id, () => owner.put(path, { text: 'After' }))
      expect(nothing).toEqual([])
    },
  )

  test('refuses an edit of the text by anyone but the author', async ({ app }) => {
    const { owner, member, postComment } = await scene(app)
    const comment = await postComment(member, 'Mine')
    const response = await app.unchanged(() => owner.put(`/comments/${comment.id}`, { text: 'Yours' }))
    expect(response).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  })
})

describe('concurrently', () => {
  test(
    'an edit while the issue becomes shared is in the last event',
    verifiesOnPostgres('issue.cleared-personal-emits-create'),
    async ({ app }) => {
      for (let round = 0; round < 5; round++) {
        const { id, member } = await scene(app)
        const issue = (await member.post('/issues', { title: 'Mine', personal: true })).body
        const comment = (await member.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'old' }))
          .body
        const events = await eventsOf(app, id, () =>
          Promise.all([
            member.put(`/issues/${issue.id}`, { personal: false }),
            member.put(`/comments/${comment.id}`, { text: 'new' }),
          ]),
        )
        const recorded = events.filter(({ type }) => type === 'Comment')
        const newest = recorded.sort((a, b) => a.body.data.updated_at.localeCompare(b.body.data.updated_at)).at(-1)
        expect(newest?.body.data.text).toBe('new')
      }
    },
  )

  test(
    'an edit while the thread is deleted is in the remove event',
    verifiesOnPostgres('comment.delete-204'),
    async ({ app }) => {
      for (let round = 0; round < 5; round++) {
        const { id, owner, member, postComment } = await scene(app)
        const root = await postComment(owner, 'One')
        const reply = await postComment(member, 'old', { parent_comment_id: root.id })
        const events = await eventsOf(app, id, () =>
          Promise.all([owner.delete(`/comments/${root.id}`), member.put(`/comments/${reply.id}`, { text: 'new' })]),
        )
        const ofReply = events.filter(({ body }) => body.data.id === reply.id)
        const removed = ofReply.find(({ action }) => action === 'remove')
        const updated = ofReply.find(({ action }) => action === 'update')
        expect(removed?.body.data.text).toBe(updated ? 'new' : 'old')
        if (updated) expect(removed?.body.data.updated_at > updated.body.data.updated_at).toBe(true)
      }
    },
  )
})

describe('deleting a comment', () => {
  test('deletes its replies, with an event for each', verifies('comment.delete-204'), async ({ app }) => {
    const { id, owner, admin, member, postComment } = await scene(app)
    const root = await postComment(owner, 'One')
    const reply = await postComment(member, 'Two', { parent_comment_id: root.id })
    const refused = await app.unchanged(() => member.delete(`/comments/${root.id}`))
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    const events = await eventsOf(app, id, async () => {
      expect((await admin.delete(`/comments/${root.id}`)).status).toBe(204)
    })
    expect(names(events)).toEqual(['Comment remove', 'Comment remove'])
    expect(events.map(({ body }) => body.data.id)).toEqual([reply.id, root.id])
    for (const gone of [root, reply]) expect((await owner.get(`/comments/${gone.id}`)).status).toBe(404)
  })
})
