import { expect } from 'vitest'
import { sessionScene } from '../../test/agent-sessions.ts'
import type { Client } from '../../test/client.ts'
import { type TestApp, type TestPerson, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

const day = 86_400_000

async function inboxScene(app: TestApp) {
  const workspace = await app.workspace()
  const { owner, member } = workspace
  const issue = async (title: string) => (await owner.post('/issues', { title })).body
  const mention = async ({ id }: { id: string }, by: Client = owner) =>
    (
      await by.post('/comments', {
        target_type: id.startsWith('iss_') ? 'issue' : 'project',
        target_id: id,
        text: `@[Member](${member.user.id}) look`,
      })
    ).body
  const assign = ({ id }: { id: string }, userId: string | null = member.user.id) =>
    owner.put(`/issues/${id}`, { assignee_id: userId })
  const threads = async (query = '') => (await member.get(`/inbox/threads${query}`)).body.data
  const titles = async (query = '') => (await threads(query)).map(({ title }: { title: string }) => title)
  const change = (subjectId: string, body: object, by: TestPerson = member) =>
    by.patch(`/inbox/threads/${subjectId}`, body)
  return { ...workspace, issue, mention, assign, threads, titles, change }
}

test('entries about one issue are one thread', verifies('inbox.thread-per-subject'), async ({ app }) => {
  const { owner, member, issue, mention, assign, threads } = await inboxScene(app)
  const one = await issue('One')
  await assign(one)
  await mention(one)
  const last = await mention(one)
  const listed = await threads()
  expect(listed).toEqual([
    {
      subject_id: one.id,
      title: 'One',
      url: one.url,
      latest: {
        id: expect.stringMatching(/^inb_/),
        kind: 'mention',
        subject_id: last.id,
        title: 'One',
        url: last.url,
        actor: { id: owner.user.id, name: owner.user.display_name },
        read_at: null,
        created_at: app.clock.now().toISOString(),
      },
      count: 3,
      unread_count: 3,
      kinds: ['assignment', 'mention'],
      snoozed_until: null,
      archived_at: null,
    },
  ])
  expect((await member.get('/inbox')).body.data).toHaveLength(3)
})

test('a comment on a project and an agent session belong to the thread of their subject', async ({ app }) => {
  const scene = await sessionScene(app)
  const { member, owner, comment, newProject } = scene
  const project = await newProject()
  await comment(project, `@[Member](${member.user.id}) look`, {}, owner)
  const session = await scene.delegated({ title: 'Delegated' })
  await session.say('elicitation')
  const { data } = (await member.get('/inbox/threads')).body
  const issueId = (await member.get(`/agent-sessions/${session.id}`)).body.issue.id
  expect(data).toMatchObject([
    { subject_id: issueId, title: 'Delegated', kinds: ['agent_needs_you'], latest: { subject_id: session.id } },
    { subject_id: project.id, title: project.title, kinds: ['mention'] },
  ])
})

test('requests to install an app are one thread for a manager', async ({ app }) => {
  const { owner, member, admin } = await app.workspace()
  const { body } = await owner.post('/agent-apps', {
    schemaVersion: '1.0.0',
    name: 'Robot',
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
  })
  await member.post(`/agent-apps/${body.app.id}/install-request`)
  const { data } = (await admin.get('/inbox/threads')).body
  expect(data).toMatchObject([{ subject_id: body.app.id, title: 'Robot', kinds: ['install_request'], count: 1 }])
})

test('threads are ordered by their newest entry, also those of one moment', {
  ...verifies('inbox.threads-newest-first'),
}, async ({ app }) => {
  const { member, issue, assign, mention, titles } = await inboxScene(app)
  const issues = []
  for (const title of ['One', 'Two', 'Three', 'Four', 'Five']) {
    const made = await issue(title)
    await assign(made)
    issues.push(made)
    if (title === 'Three') app.clock.advance({ seconds: 1 })
  }
  await mention(issues[1])
  expect(await titles()).toEqual(['Two', 'Five', 'Four', 'Three', 'One'])

  const first = (await member.get('/inbox/threads?limit=2')).body
  await assign(await issue('New'))
  const second = (await member.get(`/inbox/threads?limit=2&cursor=${first.next_cursor}`)).body
  await assign(await issue('Newer'))
  const third = (await member.get(`/inbox/threads?limit=2&cursor=${second.next_cursor}`)).body
  const paged = [first, second, third].flatMap(({ data }) => data.map(({ title }: { title: string }) => title))
  expect(paged).toEqual(['Two', 'Five', 'Four', 'Three', 'One'])
  expect(third.next_cursor).toBeNull()
  // A cursor of one state does not fit another.
  expect((await member.get(`/inbox/threads?state=archived&cursor=${first.next_cursor}`)).status).toBe(422)
})

test('archiving marks as read and hides until a new entry', verifies('inbox.archive'), async ({ app }) => {
  const { member, issue, assign, mention, threads, titles, change } = await inboxScene(app)
  const [one, two] = [await issue('One'), await issue('Two')]
  await assign(one)
  await mention(one)
  await assign(two)
  const { body } = await change(one.id, { archived: true })
  expect(body).toMatchObject({ unread_count: 0, count: 2, archived_at: app.clock.now().toISOString() })
  expect(await titles()).toEqual(['Two'])
  expect(await titles('?state=archived')).toEqual(['One'])
  expect((await member.get('/inbox?unread=true')).body.data).toHaveLength(1)

  await mention(one)
  expect(await threads()).toMatchObject([
    { title: 'One', archived_at: null, unread_count: 1, count: 3 },
    { title: 'Two' },
  ])
  await change(two.id, { archived: true })
  expect((await change(two.id, { archived: false })).body).toMatchObject({ archived_at: null, unread_count: 0 })
  expect(await titles()).toEqual(['One', 'Two'])
})

test('archives all threads that are read', async ({ app }) => {
  const { member, issue, assign, titles, change } = await inboxScene(app)
  const made = []
  for (const title of ['Read', 'Unread', 'Snoozed']) made.push(await issue(title))
  for (const one of made) await assign(one)
  await change(made[0].id, { read: true })
  await change(made[2].id, { read: true, snoozed_until: new Date(app.clock.now().getTime() + day).toISOString() })
  expect((await member.post('/inbox/threads/archive-read')).status).toBe(204)
  expect(await titles()).toEqual(['Unread'])
  expect(await titles('?state=archived')).toEqual(['Read'])
  expect(await titles('?state=snoozed')).toEqual(['Snoozed'])
})

test('a thread can be marked as read and unread', async ({ app }) => {
  const { issue, assign, mention, threads, titles, change } = await inboxScene(app)
  const one = await issue('One')
  await assign(one)
  await mention(one)
  expect((await change(one.id, { read: true })).body.unread_count).toBe(0)
  expect(await threads('?unread=true')).toEqual([])
  expect(await titles('?unread=false')).toEqual(['One'])
  expect((await change(one.id, { read: false })).body).toMatchObject({ unread_count: 1, latest: { read_at: null } })
  expect(await titles('?unread=true')).toEqual(['One'])
})

test('a snooze hides a thread until its time, then it is first', verifies('inbox.snooze'), async ({ app }) => {
  const { member, issue, assign, titles, change } = await inboxScene(app)
  const [one, two] = [await issue('One'), await issue('Two')]
  await assign(one)
  await assign(two)
  const at = (ms: number) => new Date(app.clock.now().getTime() + ms).toISOString()
  for (const snoozed_until of [at(0), at(-1), at(90 * day + 1)]) {
    const refused = await app.unchanged(() => change(one.id, { snoozed_until }))
    expect(refused).toMatchObject({ status: 422, body: { details: { snoozed_until: expect.any(String) } } })
  }
  const both = await app.unchanged(() => change(one.id, { snoozed_until: at(day), archived: true }))
  expect(both.status).toBe(422)
  expect((await change(one.id, { snoozed_until: at(90 * day) })).status).toBe(200)
  const until = at(day)
  expect((await change(one.id, { snoozed_until: until })).body).toMatchObject({ snoozed_until: until, unread_count: 1 })
  expect(await titles()).toEqual(['Two'])
  expect(await titles('?state=snoozed')).toEqual(['One'])

  app.clock.advance({ milliseconds: day - 1 })
  expect(await titles()).toEqual(['Two'])
  app.clock.advance({ milliseconds: 1 })
  expect(await titles()).toEqual(['One', 'Two'])
  expect(await titles('?state=snoozed')).toEqual([])
  const [first] = (await member.get('/inbox/threads')).body.data
  expect(first.snoozed_until).toBeNull()

  // Ended by hand, it returns to its old place.
  await assign(await issue('Three'))
  await change(two.id, { snoozed_until: at(day) })
  await change(two.id, { snoozed_until: null })
  expect(await titles()).toEqual(['Three', 'One', 'Two'])
})

test('only an entry that needs the user ends a snooze', verifies('inbox.snooze-ended-by-kind'), async ({ app }) => {
  const scene = await sessionScene(app)
  const { member, owner } = scene
  const titles = async (state: string) =>
    (await member.get(`/inbox/threads?state=${state}`)).body.data.map(({ title }: { title: string }) => title)
  const session = await scene.delegated({ title: 'Delegated' })
  await session.say('elicitation')
  const issueId = (await member.get(`/agent-sessions/${session.id}`)).body.issue.id
  const snooze = () =>
    member.patch(`/inbox/threads/${issueId}`, {
      snoozed_until: new Date(app.clock.now().getTime() + day).toISOString(),
    })
  await snooze()
  app.clock.advance({ minutes: 1 })
  await session.say('response')
  expect(await titles('open')).toEqual([])
  expect((await member.get('/inbox/threads?state=snoozed')).body.data).toMatchObject([
    { title: 'Delegated', count: 2, latest: { kind: 'agent_finished' } },
  ])

  const endings = [
    () => scene.comment({ id: issueId }, `@[Member](${member.user.id}) look`, {}, owner),
    async () => {
      await owner.put(`/issues/${issueId}`, { assignee_id: owner.user.id })
      await owner.put(`/issues/${issueId}`, { assignee_id: member.user.id })
    },
    async () => {
      await session.write('Again')
      await session.say('elicitation')
    },
  ]
  for (const end of endings) {
    await snooze()
    expect(await titles('open')).toEqual([])
    app.clock.advance({ minutes: 1 })
    await end()
    expect(await titles('open')).toEqual(['Delegated'])
    expect((await member.get('/inbox/threads')).body.data[0].snoozed_until).toBeNull()
  }
})

test('a thread is hidden with its subject, and from other users', {
  ...verifies('inbox.thread-hidden-with-subject'),
}, async ({ app }) => {
  const { owner, admin, member, issue, mention, assign, titles, change } = await inboxScene(app)
  const [hidden, gone, kept] = [await issue('Hidden'), await issue('Gone'), await issue('Kept')]
  await mention(hidden)
  await assign(gone)
  await assign(kept)
  expect(await titles()).toEqual(['Kept', 'Gone', 'Hidden'])
  const project = (await owner.post('/projects', { title: 'Project' })).body
  await mention(project)
  expect(await titles()).toEqual(['Project', 'Kept', 'Gone', 'Hidden'])
  await owner.put(`/issues/${hidden.id}`, { personal: true })
  await owner.put(`/projects/${project.id}`, { personal: true })
  await owner.delete(`/issues/${gone.id}`)
  expect(await titles()).toEqual(['Kept'])
  expect(await titles('?unread=true')).toEqual(['Kept'])
  for (const { id } of [hidden, project, gone]) {
    const refused = await app.unchanged(() => change(id, { archived: true }))
    expect(refused).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
  }
  expect((await app.unchanged(() => change(kept.id, { archived: true }, admin))).status).toBe(404)
  const { owner: stranger } = await app.workspace()
  expect((await app.unchanged(() => change(kept.id, { read: true }, stranger))).status).toBe(404)
  await owner.put(`/issues/${hidden.id}`, { personal: false })
  expect(await titles()).toEqual(['Kept', 'Hidden'])
  expect((await member.get('/inbox/threads?state=open&unread=x')).status).toBe(422)
})

test('a thread whose only entry was withdrawn is not listed', async ({ app }) => {
  const { member, issue, mention, titles } = await inboxScene(app)
  const one = await issue('One')
  const comment = await mention(one)
  await app.ctx.db.run(sql`delete from inbox_entries where comment_id = ${comment.id}`)
  expect(await titles()).toEqual([])
  await mention(one)
  expect(await titles()).toEqual(['One'])
  expect((await member.get('/inbox/threads')).body.data[0].count).toBe(1)
})

test('entries that arrive at once on one issue are all counted', verifiesOnPostgres(), async ({ app }) => {
  const { issue, mention, threads, change } = await inboxScene(app)
  const one = await issue('One')
  await mention(one)
  await Promise.all([...Array.from({ length: 8 }, () => mention(one)), change(one.id, { archived: true })])
  await mention(one)
  expect(await threads()).toMatchObject([{ subject_id: one.id, count: 10, archived_at: null }])
})
