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
}

const names = Object.keys(accepted) as WriteName[]

async function makeScene(app: TestApp) {
  const { owner, member } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const { body: invited } = await owner.post('/workspaces/me/invitations', { email: 'x@example.com', role: 'member' })
  return {
    owner,
    ids: { user_id: member.user.id, team_id: team.id, invitation_id: invited.invitation.id } as Record<string, string>,
  }
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

const notBodies: [string, string | Uint8Array][] = [
  ['text', 'hello'],
  ['cut short', '{"name":'],
  ['a comma too many', '{"name":"a",}'],
  ['single quotes', "{'name':'a'}"],
  ['null', 'null'],
  ['an array', '[]'],
  ['a string', '"name"'],
  ['a number', '5'],
  ['a boolean', 'true'],
  ['nested 40 deep', deep(40)],
  ['nested 100,000 deep', deep(100_000)],
  ['with too many values', `{"a":[${'1,'.repeat(60_000)}1]}`],
  ['10 MB', JSON.stringify({ name: 'x'.repeat(10_000_000) })],
  ['a key twice', '{"name":"a","name":"b"}'],
  ['a key twice, once escaped', '{"name":"a","n\\u0061me":"b"}'],
  ['not UTF-8', new Uint8Array([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
  ['__proto__', '{"__proto__":{"role":"owner"}}'],
  ['constructor', '{"constructor":{"prototype":{}}}'],
  ['an unknown key', '{"surprise":1}'],
]

describe.each(names)('%s refuses', (name) => {
  const operation: Operation = api[name]

  test.for(notBodies)(
    '%s',
    verifies('http.malformed-json-400', 'http.unknown-body-key-422'),
    async ([kind, raw], { app }) => {
      const { owner, ids } = await scene(app)
      const response = await app.unchanged(() =>
        owner.request(operation.route.method, pathOf(operation, ids), undefined, {
          raw,
          headers: { 'content-type': 'application/json' },
        }),
      )
      expect(response.status).toBeGreaterThanOrEqual(400)
      expect(response.status).toBeLessThan(500)
      expect(response.body.code).toMatch(/^(INVALID_JSON|VALIDATION_ERROR|BODY_TOO_LARGE)$/)
      if (kind === 'text' || kind.startsWith('a key twice')) expect(response.body.code).toBe('INVALID_JSON')
      if (kind === '__proto__') expect(Object.keys(response.body.details)).toContain('__proto__')
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
    const isText = typeof body[field] === 'string'
    const values: unknown[] = [null, 5, true, [], {}, ['x'], { x: 1 }, [[]], 'nul \0 inside', 'lone \ud800 surrogate']
    // An empty array is a list of repositories.
    for (const value of values.filter((value) => isText || JSON.stringify(value) !== '[]')) {
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
      for (const id of [there.ids[param] as string, 'nonsense', '%00', "'; drop table users; --", 'a'.repeat(200)]) {
        const path = pathOf(operation, { ...here.ids, [param]: id })
        const response = await app.unchanged(() =>
          here.owner.request(operation.route.method, path, accepted[name] ?? undefined),
        )
        expect(response).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
      }
    }
  }
})
