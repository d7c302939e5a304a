import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import type { Receiver } from '../../test/receiver.ts'
import { sql } from '../db/sql.ts'

/** Webhooks with different subscriptions, and the events each of them received. */
class SubscribedWebhooks {
  readonly #app: TestApp
  readonly #receiver: Receiver

  private constructor(app: TestApp, receiver: Receiver) {
    this.#app = app
    this.#receiver = receiver
  }

  static async begin(app: TestApp, receiver: Receiver) {
    const workspace = await app.workspace()
    const { owner } = workspace
    const [a, b] = [
      (await owner.post('/teams', { name: 'A', key: 'AAA' })).body,
      (await owner.post('/teams', { name: 'B', key: 'BBB' })).body,
    ]
    const all = { all_teams: true, resource_types: ['Issue', 'Comment', 'Project'] }
    const kinds = {
      all,
      ofA: { ...all, all_teams: false, team_ids: [a.id] },
      ofB: { ...all, all_teams: false, team_ids: [b.id] },
      issues: { ...all, resource_types: ['Issue'] },
    }
    for (const [label, kind] of Object.entries(kinds)) {
      await owner.post('/webhooks', { label, url: `${receiver.url}/${label}`, ...kind })
    }
    return { ...workspace, a, b, webhooks: new SubscribedWebhooks(app, receiver) }
  }

  /** Lines such as `all: Issue create`, sorted. */
  async receivedDuring(work: () => Promise<unknown>) {
    const bodies = await this.#requests(work)
    return bodies.map(({ webhook, body }) => `${webhook}: ${body.type} ${body.action}`).sort()
  }

  /** The bodies received by the webhook for all types and teams. */
  async bodies(work: () => Promise<unknown>) {
    return (await this.#requests(work)).filter(({ webhook }) => webhook === 'all').map(({ body }) => body)
  }

  async #requests(work: () => Promise<unknown>) {
    await this.#app.deliver()
    this.#receiver.take()
    await work()
    await this.#app.deliver()
    return this.#receiver.take().map(({ path, body }) => ({ webhook: path.replace('/hook/', ''), body }))
  }
}

/** As the contract lists them, not as the service declares them. */
const issueFields = [
  ...['id', 'code', 'title', 'description', 'status', 'priority', 'type', 'team_id', 'project_id', 'milestone_id'],
  ...['cycle_id', 'parent_id', 'reporter_id', 'assignee_id', 'delegate_id', 'delegation_revision', 'label_ids'],
  ...['blocks_ids', 'blocked_by_ids', 'time_estimate', 'due_date', 'completed_at', 'created_at', 'updated_at'],
]
const projectFields = [
  ...['id', 'title', 'description', 'status', 'priority', 'health_status', 'owner_id', 'lead_id', 'initiative_id'],
  ...['member_ids', 'team_ids', 'label_ids', 'start_date', 'target_date', 'completed_at', 'progress', 'created_at'],
  'updated_at',
]
const commentFields = [
  ...['id', 'text', 'author_id', 'target_type', 'target_id', 'parent_comment_id', 'is_resolved', 'mentioned_user_ids'],
  ...['edited_at', 'created_at', 'updated_at'],
]

const to = (labels: string[], what: string) => labels.map((webhook) => `${webhook}: ${what}`).sort()

describe('the webhooks that receive', () => {
  test(
    'an issue: those for all teams and for its team that subscribe to issues',
    verifies('event.webhook-resource-types', 'event.webhook-team-scope'),
    async ({ app, receiver }) => {
      const { owner, a, b, webhooks } = await SubscribedWebhooks.begin(app, receiver)
      const received = await webhooks.receivedDuring(() => owner.post('/issues', { title: 'One', team_id: a.id }))
      expect(received).toEqual(to(['all', 'ofA', 'issues'], 'Issue create'))
      expect(await webhooks.receivedDuring(() => owner.put('/issues/AAA-1', { title: 'Two' }))).toEqual(
        to(['all', 'ofA', 'issues'], 'Issue update'),
      )
      expect(await webhooks.receivedDuring(() => owner.delete('/issues/AAA-1'))).toEqual(
        to(['all', 'ofA', 'issues'], 'Issue remove'),
      )
      expect(
        await webhooks.receivedDuring(() => owner.post('/projects', { title: 'P', team_ids: [a.id, b.id] })),
      ).toEqual(to(['all', 'ofA', 'ofB'], 'Project create'))
    },
  )

  test(
    'an issue that moves: those of both teams, once each; later only the new team',
    verifies('event.team-move-reaches-old-team'),
    async ({ app, receiver }) => {
      const { owner, a, b, webhooks } = await SubscribedWebhooks.begin(app, receiver)
      const { body: issue } = await owner.post('/issues', { title: 'One', team_id: a.id })
      const move = () => owner.put(`/issues/${issue.id}`, { team_id: b.id })
      expect(await webhooks.receivedDuring(move)).toEqual(to(['all', 'ofA', 'ofB', 'issues'], 'Issue update'))
      expect(await webhooks.receivedDuring(() => owner.put(`/issues/${issue.id}`, { title: 'Two' }))).toEqual(
        to(['all', 'ofB', 'issues'], 'Issue update'),
      )
    },
  )

  test(
    'an item without a team: only those for all teams',
    verifies('event.no-team-only-all-teams'),
    async ({ app, receiver }) => {
      const { owner, webhooks } = await SubscribedWebhooks.begin(app, receiver)
      expect(await webhooks.receivedDuring(() => owner.post('/issues', { title: 'One' }))).toEqual(
        to(['all', 'issues'], 'Issue create'),
      )
      expect(await webhooks.receivedDuring(() => owner.post('/projects', { title: 'One' }))).toEqual(
        to(['all'], 'Project create'),
      )
    },
  )

  test('a comment: those that receive its issue or project', async ({ app, receiver }) => {
    const { owner, a, b, webhooks } = await SubscribedWebhooks.begin(app, receiver)
    const { body: issue } = await owner.post('/issues', { title: 'One', team_id: a.id })
    const { body: project } = await owner.post('/projects', { title: 'P', team_ids: [b.id] })
    const comment = (target_type: string, target_id: string) => () =>
      owner.post('/comments', { target_type, target_id, text: 'Hm' })
    expect(await webhooks.receivedDuring(comment('issue', issue.id))).toEqual(to(['all', 'ofA'], 'Comment create'))
    expect(await webhooks.receivedDuring(comment('project', project.id))).toEqual(to(['all', 'ofB'], 'Comment create'))
  })

  test('an event of another workspace: none', async ({ app, receiver }) => {
    const { webhooks } = await SubscribedWebhooks.begin(app, receiver)
    const elsewhere = await app.workspace()
    expect(await webhooks.receivedDuring(() => elsewhere.owner.post('/issues', { title: 'Theirs' }))).toEqual([])
  })
})

describe('the body', () => {
  const byKind = (actor: { user: { id: string; display_name: string } }) => ({
    id: actor.user.id,
    type: 'user',
    name: actor.user.display_name,
  })

  test(
    'of an issue has every field, with null and [] for unset ones',
    verifies(
      'event.issue-data-fields',
      'event.issue-data-code',
      'event.data-empty-values',
      'event.issue-data-delegation-revision',
      'envelope.url-issue',
      'envelope.action-values',
      'envelope.actor-shape',
    ),
    async ({ app, receiver }) => {
      const { owner, a, webhooks } = await SubscribedWebhooks.begin(app, receiver)
      const [created] = await webhooks.bodies(() => owner.post('/issues', { title: 'One', team_id: a.id }))
      expect(Object.keys(created.data).sort()).toEqual([...issueFields].sort())
      const { url } = (await owner.get('/issues/AAA-1')).body
      expect(created).toMatchObject({ action: 'create', actor: byKind(owner), url })
      expect(url).toBe(`${app.ctx.config.appUrl}/issue/AAA-1`)
      expect(created.data).toMatchObject({
        code: 'AAA-1',
        delegation_revision: 0,
        label_ids: [],
        blocks_ids: [],
        blocked_by_ids: [],
      })
      const unset = ['project_id', 'milestone_id', 'cycle_id', 'parent_id', 'assignee_id', 'delegate_id']
      for (const field of [...unset, 'time_estimate', 'due_date', 'completed_at']) {
        expect(created.data[field]).toBeNull()
      }
    },
  )

  test(
    'of a project and of a comment has every field',
    verifies(
      'event.project-data-fields',
      'event.comment-data-fields',
      'event.data-empty-values',
      'envelope.url-project',
      'envelope.url-comment',
      'event.updated-from-omitted',
    ),
    async ({ app, receiver }) => {
      const { owner, member, a, webhooks } = await SubscribedWebhooks.begin(app, receiver)
      const [project] = await webhooks.bodies(() => owner.post('/projects', { title: 'P', team_ids: [a.id] }))
      expect(Object.keys(project.data).sort()).toEqual([...projectFields].sort())
      expect(project.url).toBe(`${app.ctx.config.appUrl}/project/${project.data.id}`)
      expect(project.data).toMatchObject({ health_status: null, lead_id: null, progress: null, label_ids: [] })
      expect(project).not.toHaveProperty('updated_from')

      const { body: issue } = await owner.post('/issues', { title: 'One', team_id: a.id })
      for (const [target_type, target_id, url] of [
        ['issue', issue.id, issue.url],
        ['project', project.data.id, project.url],
      ]) {
        const [comment] = await webhooks.bodies(() =>
          member.post('/comments', { target_type, target_id, text: `@[X](${owner.user.id}) hi` }),
        )
        expect(Object.keys(comment.data).sort()).toEqual([...commentFields].sort())
        expect(comment.url).toBe(`${url}#comment-${comment.data.id}`)
        expect(comment).toMatchObject({
          actor: byKind(member),
          data: {
            author_id: member.user.id,
            target_type,
            target_id,
            parent_comment_id: null,
            is_resolved: false,
            mentioned_user_ids: [owner.user.id],
            edited_at: null,
          },
        })
        const path = `/comments/${comment.data.id}`
        const [edited] = await webhooks.bodies(() => member.put(path, { text: 'Changed' }))
        expect(edited).toMatchObject({ action: 'update', data: { text: 'Changed' } })
        const [removed] = await webhooks.bodies(() => member.delete(path))
        for (const body of [comment, edited, removed]) expect(body).not.toHaveProperty('updated_from')
      }
    },
  )

  test(
    'of an update has the previous value of every changed field and no other',
    verifies(
      'event.updated-from-changed-fields',
      'event.updated-from-null-when-unset',
      'event.updated-from-includes-updated-at',
      'event.updated-from-omitted',
    ),
    async ({ app, receiver }) => {
      const { owner, member, a, webhooks } = await SubscribedWebhooks.begin(app, receiver)
      const { body: issue } = await owner.post('/issues', { title: 'One', team_id: a.id })
      const { body: project } = await owner.post('/projects', { title: 'P', team_ids: [a.id] })
      const [changed] = await webhooks.bodies(() =>
        owner.put(`/issues/${issue.id}`, { title: 'Two', status: 'backlog', assignee_id: member.user.id }),
      )
      expect(changed.updated_from).toEqual({ title: 'One', assignee_id: null, updated_at: issue.updated_at })
      const [planned] = await webhooks.bodies(() =>
        owner.put(`/projects/${project.id}`, { health_status: 'at_risk', title: 'P' }),
      )
      expect(planned.updated_from).toEqual({ health_status: null, updated_at: project.updated_at })
      const [created] = await webhooks.bodies(() => owner.post('/issues', { title: 'New' }))
      expect(created).not.toHaveProperty('updated_from')
    },
  )

  test(
    'of a removal is the last known state at the time of removal',
    verifies('event.remove-data', 'event.issue-delete-emits-issue-remove-only', 'event.updated-from-omitted'),
    async ({ app, receiver }) => {
      const { owner, a, webhooks } = await SubscribedWebhooks.begin(app, receiver)
      const { body: issue } = await owner.post('/issues', { title: 'One', team_id: a.id, description: 'Last words' })
      const { body: project } = await owner.post('/projects', { title: 'P' })
      const comment = await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })
      const alone = await owner.post('/comments', { target_type: 'project', target_id: project.id, text: 'Hm' })
      for (const [path, data] of [
        [`/comments/${alone.body.id}`, { text: 'Hm' }],
        [`/issues/${issue.id}`, { description: 'Last words', code: 'AAA-1' }],
        [`/projects/${project.id}`, { title: 'P' }],
      ] as const) {
        app.clock.advance({ minutes: 1 })
        const bodies = await webhooks.bodies(() => owner.delete(path))
        expect(bodies).toHaveLength(1)
        expect(bodies[0]).toMatchObject({ action: 'remove', data })
        expect(bodies[0].data.updated_at).toBe(app.clock.now().toISOString())
        expect(bodies[0]).not.toHaveProperty('updated_from')
      }
      expect((await owner.get(`/comments/${comment.body.id}`)).status).toBe(404)
    },
  )

  test('has no actor if the user was deleted', verifies('envelope.actor-null-when-gone'), async ({ app, receiver }) => {
    const { member, webhooks } = await SubscribedWebhooks.begin(app, receiver)
    const { body: issue } = await member.post('/issues', { title: 'Mine', personal: true })
    const { body: comment } = await member.post('/comments', {
      target_type: 'issue',
      target_id: issue.id,
      text: 'Written long ago',
    })
    await app.ctx.db.run(sql`update comments set author_id = null where id = ${comment.id}`)
    const bodies = await webhooks.bodies(() => member.put(`/issues/${issue.id}`, { personal: false }))
    const recorded = bodies.find(({ type }) => type === 'Comment')
    expect(recorded).toMatchObject({ action: 'create', actor: null, data: { author_id: null } })
  })
})

describe('no event is sent for', () => {
  test(
    'a write that changes nothing, or only the sort order',
    verifies('event.update-only-on-change', 'event.ordering-change-not-delivered'),
    async ({ app, receiver }) => {
      const { owner, a, webhooks } = await SubscribedWebhooks.begin(app, receiver)
      const { body: issue } = await owner.post('/issues', { title: 'One', team_id: a.id })
      app.clock.advance({ minutes: 1 })
      const received = await webhooks.receivedDuring(async () => {
        await owner.put(`/issues/${issue.id}`, { title: 'One', label_ids: [], team_id: a.id })
        await owner.put(`/issues/${issue.id}`, { sort_order: 7 })
        await owner.put(`/issues/${issue.id}`, {})
      })
      expect(received).toEqual([])
      expect((await owner.get(`/issues/${issue.id}`)).body.updated_at).toBe(issue.updated_at)
    },
  )

  test(
    'a personal item, the change that made it personal, or its comments; sharing it sends create',
    verifies(
      'event.personal-never-delivered',
      'event.made-personal-not-delivered',
      'event.personal-cleared-is-create',
      'event.comment-on-personal-not-delivered',
    ),
    async ({ app, receiver }) => {
      const { owner, a, webhooks } = await SubscribedWebhooks.begin(app, receiver)
      for (const noun of ['issue', 'project'] as const) {
        const team = noun === 'issue' ? { team_id: a.id } : { team_ids: [a.id] }
        const { body: shared } = await owner.post(`/${noun}s`, { title: 'Shared', ...team })
        const path = `/${noun}s/${shared.id}`
        const received = await webhooks.receivedDuring(async () => {
          const { body: own } = await owner.post(`/${noun}s`, { title: 'Mine', personal: true })
          await owner.put(`/${noun}s/${own.id}`, { title: 'Still mine' })
          await owner.post('/comments', { target_type: noun, target_id: own.id, text: 'To myself' })
          await owner.delete(`/${noun}s/${own.id}`)
          await owner.put(path, { personal: true })
          await owner.put(path, { title: 'Hidden' })
          const { body } = await owner.post('/comments', { target_type: noun, target_id: shared.id, text: 'Hidden' })
          await owner.put(`/comments/${body.id}`, { text: 'Hidden too' })
          await owner.delete(`/comments/${body.id}`)
        })
        expect(received).toEqual([])
        const cleared = await webhooks.receivedDuring(() => owner.put(path, { personal: false }))
        const name = noun === 'issue' ? 'Issue' : 'Project'
        expect(cleared).toEqual(to(noun === 'issue' ? ['all', 'issues'] : ['all'], `${name} create`))
      }
    },
  )

  test(
    'internal comments and imports',
    verifies('event.internal-comment-not-delivered', 'event.import-not-delivered'),
    async ({ app, receiver }) => {
      const { owner, a, webhooks } = await SubscribedWebhooks.begin(app, receiver)
      const { body: issue } = await owner.post('/issues', { title: 'One', team_id: a.id })
      const received = await webhooks.receivedDuring(async () => {
        const target = { target_type: 'issue', target_id: issue.id }
        const { body } = await owner.post('/comments', { ...target, text: 'Between us', internal: true })
        await owner.put(`/comments/${body.id}`, { text: 'Between us two' })
        await owner.delete(`/comments/${body.id}`)
        const imported = await owner.post('/issues/import', { issues: [{ title: 'Old', team_id: a.id }] })
        expect(imported.status).toBe(201)
      })
      expect(received).toEqual([])
      expect((await owner.get('/issues')).body.data).toHaveLength(2)
    },
  )
})
