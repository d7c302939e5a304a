import { issueFields, limits, type WebhookFilters } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import type { Receiver } from '../../test/receiver.ts'

const types = ['Issue', 'Comment', 'Project']

async function scene(app: TestApp, receiver: Receiver, filters: WebhookFilters | null | undefined) {
  const workspace = await app.workspace()
  const { owner } = workspace
  const body = { label: 'Chat', url: receiver.url, all_teams: true, resource_types: types, filters }
  const created = await owner.post('/webhooks', body)
  const path = `/webhooks/${created.body.id}`
  return {
    ...workspace,
    created,
    path,
    issue: async (fields: object = {}) => (await owner.post('/issues', { title: 'A bug', ...fields })).body,
    /** `Issue create`, … as they arrived since the last call. */
    delivered: async () => {
      await app.deliver()
      return receiver.take().map(({ body }) => `${body.type} ${body.action}`)
    },
  }
}

describe('filters', () => {
  test(
    'are stored, changed and removed, and absent ones are null',
    verifies('filter.stored'),
    async ({ app, receiver }) => {
      const filters = { Issue: { status: ['todo' as const], assignee_id: [null] } }
      const { owner, path, created, issue, delivered } = await scene(app, receiver, filters)
      expect(created).toMatchObject({ status: 201, body: { filters } })
      expect((await owner.get(path)).body.filters).toEqual(filters)
      expect((await owner.get('/webhooks')).body.data[0].filters).toEqual(filters)
      const other = { Comment: { target_type: ['project'] } }
      expect((await owner.patch(path, { filters: other })).body.filters).toEqual(other)
      expect((await owner.patch(path, { label: 'Other' })).body.filters).toEqual(other)
      expect((await owner.patch(path, { filters: null })).body.filters).toBeNull()
      const body = { label: 'Plain', url: receiver.url, all_teams: true, resource_types: types }
      for (const more of [{}, { filters: null }]) {
        expect((await owner.post('/webhooks', { ...body, ...more })).body.filters).toBeNull()
      }
      // Three webhooks without filters.
      await issue()
      expect(await delivered()).toEqual(['Issue create', 'Issue create', 'Issue create'])
    },
  )

  test('are refused on the field that is wrong', verifies('filter.bad'), async ({ app, receiver }) => {
    const { owner, path } = await scene(app, receiver, null)
    const elsewhere = await app.workspace('Other')
    const { body: label } = await elsewhere.owner.post('/labels', { name: 'Red' })
    const { body: project } = await elsewhere.owner.post('/projects', { title: 'Theirs' })
    const { body: secret } = await owner.post('/projects', { title: 'Mine', personal: true })
    const many = (count: number) => Array.from({ length: count }, (_, n) => `x${n}`)
    const bad: [string, unknown][] = [
      ['filters', 'x'],
      ['filters.Cycle', { Cycle: {} }],
      ['filters.AgentSessionEvent', { AgentSessionEvent: {} }],
      ['filters.Issue.surprise', { Issue: { surprise: ['x'] } }],
      ['filters.Issue.health_status', { Issue: { health_status: ['on_track'] } }],
      ['filters.Issue.status', { Issue: { status: ['open'] } }],
      ['filters.Issue.status', { Issue: { status: [null] } }],
      ['filters.Issue.status', { Issue: { status: 'todo' } }],
      ['filters.Issue.status', { Issue: { status: [] } }],
      ['filters.Issue.changed', { Issue: { changed: ['surprise'] } }],
      ['filters.Issue.actions', { Issue: { actions: ['created'] } }],
      ['filters.Issue.actor_types', { Issue: { actor_types: ['app'] } }],
      ['filters.Issue.label_ids', { Issue: { label_ids: [label.id] } }],
      ['filters.Issue.label_ids', { Issue: { label_ids: [null] } }],
      ['filters.Issue.project_id', { Issue: { project_id: [null, project.id] } }],
      ['filters.Issue.project_id', { Issue: { project_id: [secret.id] } }],
      ['filters.Issue.assignee_id', { Issue: { assignee_id: [elsewhere.member.user.id] } }],
      ['filters.Issue.delegate_id', { Issue: { delegate_id: ['usr_unknown'] } }],
      ['filters.Issue.assignee_id', { Issue: { assignee_id: many(limits.filterValues + 1) } }],
      ['filters.Project.label_ids', { Project: { label_ids: [label.id] } }],
      ['filters.Project.lead_id', { Project: { lead_id: [elsewhere.member.user.id] } }],
      ['filters.Comment.mentioned_user_ids', { Comment: { mentioned_user_ids: [elsewhere.member.user.id] } }],
    ]
    for (const [field, filters] of bad) {
      const refused = await app.unchanged(() => owner.patch(path, { filters }))
      expect(refused, JSON.stringify(filters)).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      expect(Object.keys(refused.body.details)).toEqual([field])
    }
    const outside = { label: 'Chat', url: receiver.url, all_teams: true, resource_types: ['Issue'] }
    const refused = await app.unchanged(() => owner.post('/webhooks', { ...outside, filters: { Project: {} } }))
    expect(Object.keys(refused.body.details)).toEqual(['filters.Project'])
    expect((await owner.patch(path, { filters: { Comment: { target_type: ['issue'] } } })).status).toBe(200)
    const narrowed = await app.unchanged(() => owner.patch(path, { resource_types: ['Issue'] }))
    expect(Object.keys(narrowed.body.details)).toEqual(['filters.Comment'])
  })

  test('take up to 50 values of a key', verifies('filter.bad'), async ({ app, receiver }) => {
    const { owner, path } = await scene(app, receiver, null)
    const label = async (n: number) => (await owner.post('/labels', { name: `Label ${n}` })).body.id
    const labels = await Promise.all(Array.from({ length: 51 }, (_, n) => label(n)))
    const filters = (count: number) => ({ filters: { Issue: { label_ids: labels.slice(0, count) } } })
    expect((await owner.patch(path, filters(50))).status).toBe(200)
    const refused = await app.unchanged(() => owner.patch(path, filters(51)))
    expect(Object.keys(refused.body.details)).toEqual(['filters.Issue.label_ids'])
    expect((await owner.patch(path, { filters: { Issue: { changed: issueFields } } })).status).toBe(200)
  })

  test('by changed fields concern updates only', verifies('filter.changed'), async ({ app, receiver }) => {
    const { owner, issue, delivered } = await scene(app, receiver, { Issue: { changed: ['status'] } })
    const { id } = await issue()
    expect(await delivered()).toEqual(['Issue create'])
    await owner.put(`/issues/${id}`, { title: 'Another' })
    expect(await delivered()).toEqual([])
    await owner.put(`/issues/${id}`, { title: 'A third', status: 'done' })
    expect(await delivered()).toEqual(['Issue update'])
    await owner.delete(`/issues/${id}`)
    expect(await delivered()).toEqual(['Issue remove'])
  })

  test(
    'by values let through only items that have one of them, and all keys have to match',
    verifies('filter.match'),
    async ({ app, receiver }) => {
      const { owner, member, path, issue, delivered } = await scene(app, receiver, {
        Issue: { status: ['todo', 'qa'] },
      })
      const { body: red } = await owner.post('/labels', { name: 'Red' })
      const { body: blue } = await owner.post('/labels', { name: 'Blue' })
      const sees = async (fields: object) => {
        await issue(fields)
        return (await delivered()).length === 1
      }
      const filterBy = (Issue: object) => owner.patch(path, { filters: { Issue } })
      expect(await sees({ status: 'todo' })).toBe(true)
      expect(await sees({ status: 'qa' })).toBe(true)
      expect(await sees({ status: 'done' })).toBe(false)

      await filterBy({ label_ids: [red.id] })
      expect(await sees({ label_ids: [blue.id, red.id] })).toBe(true)
      expect(await sees({ label_ids: [blue.id] })).toBe(false)
      expect(await sees({})).toBe(false)

      await filterBy({ assignee_id: [null, member.user.id] })
      expect(await sees({})).toBe(true)
      expect(await sees({ assignee_id: member.user.id })).toBe(true)
      expect(await sees({ assignee_id: owner.user.id })).toBe(false)
      await filterBy({ assignee_id: [member.user.id] })
      expect(await sees({})).toBe(false)

      await filterBy({ status: ['todo'], priority: ['high'], actions: ['create'] })
      expect(await sees({ status: 'todo', priority: 'high' })).toBe(true)
      expect(await sees({ status: 'todo', priority: 'low' })).toBe(false)
      await filterBy({ status: ['todo'], actions: ['update', 'remove'] })
      expect(await sees({ status: 'todo' })).toBe(false)
    },
  )

  test(
    'let through the update by which an item leaves them, and none after it',
    verifies('filter.leaving'),
    async ({ app, receiver }) => {
      const { owner, member, path, issue, delivered } = await scene(app, receiver, { Issue: { status: ['todo'] } })
      const { body: red } = await owner.post('/labels', { name: 'Red' })
      const cases: [filters: object, inside: object, outside: object][] = [
        [{ status: ['todo'] }, { status: 'todo' }, { status: 'done' }],
        [{ label_ids: [red.id] }, { label_ids: [red.id] }, { label_ids: [] }],
        [{ assignee_id: [member.user.id] }, { assignee_id: member.user.id }, { assignee_id: null }],
        [{ assignee_id: [null] }, { assignee_id: null }, { assignee_id: member.user.id }],
      ]
      for (const [filters, inside, outside] of cases) {
        await owner.patch(path, { filters: { Issue: filters } })
        const { id } = await issue({ status: 'backlog', ...inside })
        expect(await delivered()).toEqual(['Issue create'])
        await owner.put(`/issues/${id}`, outside)
        expect(await delivered()).toEqual(['Issue update'])
        await owner.put(`/issues/${id}`, { title: 'Outside' })
        expect(await delivered()).toEqual([])
      }
      // Neither the state before nor the one after matches both keys.
      await owner.patch(path, { filters: { Issue: { status: ['todo'], assignee_id: [member.user.id] } } })
      const { id } = await issue({ status: 'todo', assignee_id: owner.user.id })
      await owner.put(`/issues/${id}`, { status: 'done', assignee_id: member.user.id })
      expect(await delivered()).toEqual([])
    },
  )

  test('by actor leave out the changes of others', verifies('filter.actor-types'), async ({ app, receiver }) => {
    const { owner, issue, delivered } = await scene(app, receiver, { Issue: { actor_types: ['user'] } })
    const robot = await app.installed(owner)
    const { id } = await issue()
    expect(await delivered()).toEqual(['Issue create'])
    expect((await robot.put(`/issues/${id}`, { title: 'By the app' })).status).toBe(200)
    expect(await delivered()).toEqual([])
    await owner.put(`/issues/${id}`, { title: 'By a person' })
    expect(await delivered()).toEqual(['Issue update'])
  })

  test('of one type do not affect the others', verifies('filter.per-type'), async ({ app, receiver }) => {
    const { owner, member, path, issue, delivered } = await scene(app, receiver, { Issue: { status: ['done'] } })
    const { id } = await issue()
    const comment = (text: string) => owner.post('/comments', { target_type: 'issue', target_id: id, text })
    await comment('Hm')
    await owner.post('/projects', { title: 'Plan' })
    expect((await delivered()).sort()).toEqual(['Comment create', 'Project create'])
    const { user } = member
    await owner.patch(path, {
      filters: { Comment: { mentioned_user_ids: [user.id] }, Project: { health_status: ['at_risk', null] } },
    })
    await comment(`@[${user.display_name}](${user.id}) look`)
    await comment('Nothing')
    await owner.post('/projects', { title: 'Healthy', health_status: 'on_track' })
    await owner.post('/projects', { title: 'Unknown' })
    await issue()
    expect((await delivered()).sort()).toEqual(['Comment create', 'Issue create', 'Project create'])
  })
})

test('an event that no endpoint receives makes no delivery', verifies('filter.match'), async ({ app, receiver }) => {
  const { owner, path, issue } = await scene(app, receiver, { Issue: { status: ['done'] } })
  await issue()
  expect((await owner.get(`${path}/deliveries`)).body.data).toEqual([])
})
