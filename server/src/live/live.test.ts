import { describe, expect } from 'vitest'
import { test, verifies, within } from '../../test/harness.ts'
import { change, inboxOf, mark, resync, watching } from '../../test/watch.ts'
import { sendHints } from './hint.ts'

describe('the live stream', () => {
  test(
    'is server-sent events, with the headers of every response',
    verifies('session.stream-and-live'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const watch = await watching(owner)
      expect(watch.status).toBe(200)
      expect(watch.headers).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.stringMatching(/^req_/),
        'content-security-policy': expect.stringContaining("default-src 'self'"),
      })
    },
  )

  test('sends hints of issues, projects and comments to members', async ({ app }) => {
    const { owner, member } = await app.workspace()
    const watch = await watching(member)
    const { id } = (await owner.post('/issues', { title: 'A bug' })).body
    await owner.put(`/issues/${id}`, { title: 'A bad bug' })
    await owner.put(`/issues/${id}`, { sort_order: 7 })
    const comment = (await owner.post('/comments', { target_type: 'issue', target_id: id, text: 'Hm' })).body
    await owner.put(`/comments/${comment.id}`, { is_resolved: true })
    await owner.delete(`/comments/${comment.id}`)
    await owner.delete(`/issues/${id}`)
    const project = (await owner.post('/projects', { title: 'Plan' })).body
    await owner.put(`/projects/${project.id}`, { title: 'A plan' })
    const note = { target_type: 'project', target_id: project.id, text: 'Between us', internal: true }
    const internal = (await owner.post('/comments', note)).body
    await owner.delete(`/projects/${project.id}`)
    expect(await watch.take(11)).toEqual([
      change('Issue', id, 'create'),
      change('Issue', id, 'update'),
      change('Issue', id, 'update'),
      change('Comment', comment.id, 'create', id),
      change('Comment', comment.id, 'update', id),
      change('Comment', comment.id, 'remove', id),
      change('Issue', id, 'remove'),
      change('Project', project.id, 'create'),
      change('Project', project.id, 'update'),
      change('Comment', internal.id, 'create', project.id),
      change('Project', project.id, 'remove'),
    ])
  })

  test('sends nothing for a refused or rolled back change', async ({ app }) => {
    const { owner } = await app.workspace()
    const watch = await watching(owner)
    expect((await owner.post('/issues', { title: 'A bug', parent_id: 'iss_nothing' })).status).toBe(422)
    const failing = app.ctx.db.tx(async (tx) => {
      sendHints(tx, [{ workspace_id: owner.workspaceId, type: 'Issue', id: 'iss_x', action: 'create' }])
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    const marked = await mark(owner)
    expect(await watch.next()).toEqual(marked)
  })

  test('sends hints for both sides of a block, and for changes by an app', async ({ app }) => {
    const { owner, member } = await app.workspace()
    const robot = await app.installed(owner)
    const { id: team_id } = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
    const one = (await owner.post('/issues', { title: 'One' })).body
    const watch = await watching(member)
    const two = (await robot.post('/issues', { title: 'Two', team_id })).body
    await owner.put(`/issues/${one.id}`, { blocks_ids: [two.id] })
    expect(await watch.take(3)).toEqual([
      change('Issue', two.id, 'create'),
      change('Issue', one.id, 'update'),
      change('Issue', two.id, 'update'),
    ])
  })

  test('sends inbox hints only to the owner', async ({ app }) => {
    const { owner, admin, member } = await app.workspace()
    const [theirs, others] = [await watching(member), await watching(admin)]
    const { id } = (await owner.post('/issues', { title: 'A bug', assignee_id: member.user.id })).body
    const [entry] = (await member.get('/inbox')).body.data
    await member.patch(`/inbox/${entry.id}`, { read: true })
    await admin.patch(`/inbox/${entry.id}`, { read: false })
    await member.patch(`/inbox/${entry.id}`, { read: false })
    await member.post('/inbox/read')
    await member.post('/inbox/read')
    const marked = await mark(owner)
    expect(await theirs.take(5)).toEqual([
      change('Issue', id, 'create'),
      inboxOf(member),
      inboxOf(member),
      inboxOf(member),
      inboxOf(member),
    ])
    expect(await theirs.next()).toEqual(marked)
    expect(await others.take(2)).toEqual([change('Issue', id, 'create'), marked])
  })

  test('sends hints of personal items only to their owner', async ({ app }) => {
    const { owner, member } = await app.workspace()
    const [mine, others] = [await watching(member), await watching(owner)]
    const issue = (await member.post('/issues', { title: 'My diary', personal: true })).body
    const other = (await member.post('/issues', { title: 'My other diary', personal: true })).body
    await member.put(`/issues/${issue.id}`, { title: 'Our diary', blocks_ids: [other.id] })
    await member.put(`/issues/${issue.id}`, { sort_order: 3 })
    const comment = (await member.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Dear' })).body
    await member.delete(`/comments/${comment.id}`)
    await member.delete(`/issues/${issue.id}`)
    const project = (await member.post('/projects', { title: 'My plan', personal: true })).body
    await member.put(`/projects/${project.id}`, { title: 'Plan' })
    await member.delete(`/projects/${project.id}`)
    const marked = await mark(owner)
    expect(await mine.take(12)).toEqual([
      change('Issue', issue.id, 'create'),
      change('Issue', other.id, 'create'),
      change('Issue', issue.id, 'update'),
      change('Issue', other.id, 'update'),
      change('Issue', issue.id, 'update'),
      change('Comment', comment.id, 'create', issue.id),
      change('Comment', comment.id, 'remove', issue.id),
      change('Issue', issue.id, 'remove'),
      change('Project', project.id, 'create'),
      change('Project', project.id, 'update'),
      change('Project', project.id, 'remove'),
      marked,
    ])
    expect(await others.next()).toEqual(marked)
  })

  test.for(['issue', 'project'] as const)(
    'sends remove to other members when an item (%s) becomes personal, and create when it is shared again',
    async (noun, { app }) => {
      const { owner, member } = await app.workspace()
      const type = noun === 'issue' ? 'Issue' : 'Project'
      const { id } = (await member.post(`/${noun}s`, { title: 'Ours' })).body
      const [mine, others] = [await watching(member), await watching(owner)]
      const comment = (await member.post('/comments', { target_type: noun, target_id: id, text: 'Hm' })).body
      await member.put(`/${noun}s/${id}`, { personal: true })
      await member.put(`/${noun}s/${id}`, { title: 'Mine' })
      await member.put(`/${noun}s/${id}`, { personal: false })
      expect(await others.take(4)).toEqual([
        change('Comment', comment.id, 'create', id),
        change(type, id, 'remove'),
        change(type, id, 'create'),
        change('Comment', comment.id, 'create', id),
      ])
      expect(await mine.take(4)).toEqual([
        change('Comment', comment.id, 'create', id),
        change(type, id, 'update'),
        change(type, id, 'update'),
        change(type, id, 'create'),
      ])
    },
  )

  test('sends nothing of another workspace', async ({ app }) => {
    const [here, there] = [await app.workspace(), await app.workspace()]
    const { body } = await there.owner.post('/workspaces/me/invitations', {
      email: here.owner.user.email,
      role: 'member',
    })
    await here.owner.post('/invitations/accept', { token: body.token })
    const watch = await watching(here.owner)
    const elsewhere = await watching(within(here.owner, there.id))
    const theirs = await mark(there.owner)
    const ours = await mark(here.owner)
    expect(await watch.next()).toEqual(ours)
    expect(await elsewhere.next()).toEqual(theirs)
  })

  test('sends up to a hundred hints of one commit, and a resync for more', async ({ app }) => {
    const { owner, member } = await app.workspace()
    const [theirs, others] = [await watching(owner), await watching(member)]
    const many = (count: number) =>
      owner.post('/issues/import', { issues: Array.from({ length: count }, () => ({ title: 'One' })) })
    const { data } = (await many(100)).body
    const named = data.map(({ id }: { id: string }) => change('Issue', id, 'create'))
    expect(await others.take(100)).toEqual(named)
    await many(101)
    expect(await others.next()).toEqual(resync)
    const own = { workspace_id: owner.workspaceId, type: 'Issue', action: 'update', only: owner.user.id } as const
    sendHints(
      app.ctx.db,
      Array.from({ length: 101 }, (_, index) => ({ ...own, id: `iss_${index}` })),
    )
    const marked = await mark(owner)
    expect(await others.next()).toEqual(marked)
    expect((await theirs.take(103)).slice(100)).toEqual([resync, resync, marked])
  })
})
