import { expect } from 'vitest'
import { test } from '../../test/harness.ts'

test('mentions and assignments by others notify the person concerned only', async ({ app }) => {
  const { owner, admin, member } = await app.workspace()
  const issue = (await owner.post('/issues', { title: 'A bug', assignee_id: member.user.id })).body
  const at = `@[${member.user.display_name}](${member.user.id})`
  const comment = (await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: `${at} look` }))
    .body
  await member.put(`/issues/${issue.id}`, { assignee_id: null })
  await member.put(`/issues/${issue.id}`, { assignee_id: member.user.id })
  await member.post('/comments', { target_type: 'issue', target_id: issue.id, text: `${at} note to self` })
  await owner.put(`/comments/${comment.id}`, { text: `${at} look again` })

  const { data } = (await member.get('/inbox')).body
  const actor = { id: owner.user.id, name: owner.user.display_name }
  expect(data).toMatchObject([
    { kind: 'mention', subject_id: comment.id, title: 'A bug', url: comment.url, actor, read_at: null },
    { kind: 'assignment', subject_id: issue.id, title: 'A bug', url: issue.url, actor, read_at: null },
  ])
  // The owner reported the issue and so watches it.
  expect((await owner.get('/inbox')).body.data).toMatchObject([{ kind: 'comment', actor: { id: member.user.id } }])
  expect((await admin.get('/inbox')).body.data).toEqual([])
})

test('entries can be marked as read or unread, one by one or all', async ({ app }) => {
  const { owner, admin, member } = await app.workspace()
  for (const title of ['One', 'Two', 'Three']) await owner.post('/issues', { title, assignee_id: member.user.id })
  const unread = async () => (await member.get('/inbox?unread=true')).body.data.length
  const [newest] = (await member.get('/inbox')).body.data
  expect(newest.title).toBe('Three')
  expect(await unread()).toBe(3)
  const { body } = await member.patch(`/inbox/${newest.id}`, { read: true })
  expect(body).toEqual({ ...newest, read_at: app.clock.now().toISOString() })
  expect(await unread()).toBe(2)
  expect((await member.get('/inbox?unread=false')).body.data).toHaveLength(1)
  expect((await member.patch(`/inbox/${newest.id}`, { read: false })).body.read_at).toBeNull()
  const theirs = await app.unchanged(() => admin.patch(`/inbox/${newest.id}`, { read: true }))
  expect(theirs).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
  expect((await member.post('/inbox/read')).status).toBe(204)
  expect(await unread()).toBe(0)
})

test('an entry is hidden while its reader has no access, and deleted with its subject', async ({ app }) => {
  const { owner, member } = await app.workspace()
  const at = `@[${member.user.display_name}](${member.user.id})`
  const hidden = (await owner.post('/issues', { title: 'To be hidden' })).body
  await owner.post('/comments', { target_type: 'issue', target_id: hidden.id, text: at })
  const gone = (await owner.post('/issues', { title: 'To be deleted', assignee_id: member.user.id })).body
  expect((await member.get('/inbox')).body.data).toHaveLength(2)
  await owner.put(`/issues/${hidden.id}`, { personal: true })
  await owner.delete(`/issues/${gone.id}`)
  expect((await member.get('/inbox')).body.data).toEqual([])
})
