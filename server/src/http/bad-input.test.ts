import { api, type Operation, type RouteName, routes } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'

type WriteName = { [Name in RouteName]: (typeof routes)[Name]['method'] extends 'GET' ? never : Name }[RouteName]

/** A body that each write would accept, or null where it takes none. A new write does not compile without one. */
const accepted: Record<WriteName, Record<string, unknown> | null> = {
  signUp: { email: 'somebody@example.com', password: 'a password', name: 'Somebody' },
  signIn: { email: 'somebody@example.com', password: 'a password' },
  signOut: null,
  changePassword: { current_password: 'correct horse', new_password: 'a new password' },
  createWorkspace: { name: 'Acme' },
  updateWorkspace: { name: 'Acme', guidance: 'Be kind.' },
  updateMember: { role: 'admin' },
  removeMember: null,
  createInvitation: { email: 'new@example.com', role: 'member' },
  deleteInvitation: null,
  acceptInvitation: { token: 'a token' },
  createTeam: { name: 'Design', key: 'DES' },
  updateTeam: { name: 'Design', guidance: 'Draw.', repositories: [{ repository: 'acme/design' }] },
  addTeamMember: null,
  removeTeamMember: null,
  createIssue: {
    title: 'A bug',
    description: 'It breaks.',
    status: 'todo',
    priority: 'high',
    type: 'bug',
    label_ids: [],
    blocks_ids: [],
    blocked_by_ids: [],
    personal: false,
    sort_order: 1,
  },
  importIssues: { issues: [{ title: 'A bug' }] },
  updateIssue: {
    title: 'A bug',
    description: 'It breaks.',
    status: 'todo',
    priority: 'high',
    type: 'bug',
    label_ids: [],
    personal: false,
    sort_order: 1,
  },
  deleteIssue: null,
  createProject: { title: 'A plan', status: 'idea', priority: 'low', team_ids: [], member_ids: [], personal: false },
  updateProject: { title: 'A plan', description: '', status: 'idea', label_ids: [] },
  deleteProject: null,
  createComment: { target_type: 'issue', target_id: 'x', text: 'Hello', internal: false },
  updateComment: { text: 'Hello', is_resolved: true },
  deleteComment: null,
  createLabel: { name: 'Red' },
  updateLabel: { name: 'Red' },
  deleteLabel: null,
  createMilestone: { project_id: 'x', name: 'Beta' },
  updateMilestone: { name: 'Beta' },
  deleteMilestone: null,
  createCycle: { team_id: 'x', name: 'Week 1' },
  updateCycle: { name: 'Week 1' },
  deleteCycle: null,
  createInitiative: { name: 'Growth', description: '' },
  updateInitiative: { name: 'Growth', description: '' },
  deleteInitiative: null,
  createWebhook: {
    label: 'Chat',
    url: 'https://hooks.example.com/x',
    all_teams: true,
    team_ids: [],
    resource_types: ['Issue'],
  },
  updateWebhook: {
    label: 'Chat',
    url: 'https://hooks.example.com/x',
    all_teams: true,
    team_ids: [],
    resource_types: ['Issue'],
  },
  deleteWebhook: null,
  rotateWebhookSecret: null,
  testWebhook: null,
  enableWebhook: null,
  disableWebhook: null,
  redeliverToWebhook: null,
  updateInboxEntry: { read: true },
  readInbox: null,
}

const names = Object.keys(accepted) as WriteName[]

async function makeScene(app: TestApp) {
  const { owner, admin, member } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const { body: invited } = await owner.post('/workspaces/me/invitations', { email: 'x@example.com', role: 'member' })
  const { body: issue } = await admin.post('/issues', { title: 'One', team_id: team.id, assignee_id: owner.user.id })
  const { body: project } = await owner.post('/projects', { title: 'Plan' })
  const { body: comment } = await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })
  const { body: label } = await owner.post('/labels', { name: 'Blue' })
  const { body: milestone } = await owner.post('/milestones', { project_id: project.id, name: 'Alpha' })
  const { body: cycle } = await owner.post('/cycles', { team_id: team.id, name: 'Week 0' })
  const { body: initiative } = await owner.post('/initiatives', { name: 'Growth' })
  const { body: webhook } = await owner.post('/webhooks', {
    label: 'Chat',
    url: 'http://localhost:9',
    all_teams: true,
    resource_types: ['Issue'],
  })
  await owner.post(`/webhooks/${webhook.id}/test`)
  const { body: deliveries } = await owner.get(`/webhooks/${webhook.id}/deliveries`)
  const { body: inbox } = await owner.get('/inbox')
  const ids: Record<string, string> = {
    user_id: member.user.id,
    team_id: team.id,
    invitation_id: invited.invitation.id,
    issue_id: issue.id,
    project_id: project.id,
    comment_id: comment.id,
    label_id: label.id,
    milestone_id: milestone.id,
    cycle_id: cycle.id,
    initiative_id: initiative.id,
    entry_id: inbox.data[0].id,
    webhook_id: webhook.id,
    delivery_id: deliveries.data[0].id,
  }
  return { owner, ids }
}

// Nothing that is refused changes anything, so one scene serves all.
let shared: ReturnType<typeof makeScene> | undefined
const scene = (app: TestApp) => {
  shared ??= makeScene(app)
  return shared
}

const pathOf = ({ route }: Operation, ids: Record<string, string>) =>
  route.path.replace(/:(\w+)/g, (_, name) => ids[name] as string)

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

const notJson = [400, 'INVALID_JSON'] as const
const wrongShape = [422, 'VALIDATION_ERROR'] as const

const notBodies: [string, string | Uint8Array, readonly [number, string]][] = [
  ['text', 'hello', notJson],
  ['cut short', '{"name":', notJson],
  ['a comma too many', '{"name":"a",}', notJson],
  ['single quotes', "{'name':'a'}", notJson],
  ['null', 'null', wrongShape],
  ['an array', '[]', wrongShape],
  ['a string', '"name"', wrongShape],
  ['a number', '5', wrongShape],
  ['a boolean', 'true', wrongShape],
  ['nested 40 deep', deep(40), notJson],
  ['nested 100,000 deep', deep(100_000), notJson],
  ['with too many values', `{"a":[${'1,'.repeat(30_000)}1]}`, notJson],
  ['10 MB', JSON.stringify({ name: 'x'.repeat(10_000_000) }), [413, 'BODY_TOO_LARGE']],
  ['a key twice', '{"name":"a","name":"b"}', notJson],
  ['a key twice, once escaped', '{"name":"a","n\\u0061me":"b"}', notJson],
  ['not UTF-8', new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]), notJson],
  ['__proto__', '{"__proto__":{"role":"owner"}}', wrongShape],
  ['constructor', '{"constructor":{"prototype":{}}}', wrongShape],
  ['surprise', '{"surprise":1}', wrongShape],
]

describe.each(names)('%s refuses', (name) => {
  const operation: Operation = api[name]

  test.for(notBodies)(
    '%s',
    verifies('http.malformed-json-400', 'http.unknown-body-key-422', 'http.unknown-body-key-named-in-details'),
    async ([kind, raw, [status, code]], { app }) => {
      const { owner, ids } = await scene(app)
      const response = await app.unchanged(() =>
        owner.request(operation.route.method, pathOf(operation, ids), undefined, {
          raw,
          headers: { 'content-type': 'application/json' },
        }),
      )
      expect(response).toMatchObject({ status, body: { code } })
      if (/^(__proto__|constructor|surprise)$/.test(kind)) {
        expect(Object.entries(response.body.details)).toContainEqual([kind, 'is not a known field'])
      }
    },
  )

  const body = accepted[name]
  if (!body) return

  test('no body at all', async ({ app }) => {
    const { owner, ids } = await scene(app)
    const response = await app.unchanged(() => owner.request(operation.route.method, pathOf(operation, ids)))
    expect(response).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } })
  })

  test.for(Object.keys(body))('bad values of %s', verifies('http.validation-error-422'), async (field, { app }) => {
    const { owner, ids } = await scene(app)
    const good = body[field]
    const isKindOf = (value: unknown) => Array.isArray(value) === Array.isArray(good) && typeof value === typeof good
    const values: unknown[] = [
      null,
      5,
      true,
      [],
      {},
      ['x', 1],
      { x: 1 },
      [[]],
      'nul \0 inside',
      'lone \ud800 surrogate',
    ]
    const strange = (value: unknown) => /\\u0000|\\ud800|\[\[|1\]/.test(JSON.stringify(value))
    for (const value of values.filter((value) => !isKindOf(value) || strange(value))) {
      const response = await app.unchanged(() =>
        owner.request(operation.route.method, pathOf(operation, ids), { ...body, [field]: value }),
      )
      expect(response).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } })
      expect(Object.keys(response.body.details)[0]).toMatch(new RegExp(`^${field}`))
    }
  })
})

test('every write has its line above', () => {
  const writes = Object.entries(routes).filter(([, { method }]) => method !== 'GET')
  expect(names.sort()).toEqual(writes.map(([name]) => name).sort())
})

test('ids of another workspace, and what is no id, lead nowhere', async ({ app }) => {
  const here = await scene(app)
  const there = await makeScene(app)
  for (const name of names) {
    const operation: Operation = api[name]
    for (const param of Object.keys(here.ids).filter((id) => operation.route.path.includes(`:${id}`))) {
      for (const id of [
        there.ids[param] as string,
        'nonsense',
        '%00',
        "'; drop table users; --",
        'a'.repeat(200),
        'a'.repeat(1000),
      ]) {
        const path = pathOf(operation, { ...here.ids, [param]: id })
        const response = await app.unchanged(() =>
          here.owner.request(operation.route.method, path, accepted[name] ?? undefined),
        )
        expect(response).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
      }
    }
  }
})
