import { api, appScopes, type Operation, personScopes, type RouteName, type routes } from '@baton/protocol'
import { expect } from 'vitest'
import { accepted, makeScene, pathOf, type WriteName } from '../../test/calls.ts'
import type { Client } from '../../test/client.ts'
import { type TestApp, type TestPerson, test, verifies, within } from '../../test/harness.ts'
import { installedLinearApp } from '../../test/linear.ts'
import { asApp, consent, exchange, oauthScene, programOf } from '../../test/oauth.ts'
import { sql } from '../db/sql.ts'

/** Whether the door lets a caller in, or the code with which it refuses. */
type Answer =
  | 'let in'
  | 'UNAUTHORIZED'
  | 'INSTALLATION_REVOKED'
  | 'FORBIDDEN'
  | 'SESSION_ONLY_ROUTE'
  | 'INSUFFICIENT_SCOPE'
  | 'WORKSPACE_ACCESS_DENIED'

interface Kind {
  name: string
  client: Client
  expects(operation: Operation): Answer
}

const isOpen = ({ route }: Operation) => route.caller === 'anyone' || route.caller === 'anyone or person'
const inWorkspace = ({ route }: Operation) => ['member', 'manager', 'member or app', 'app'].includes(route.caller)
const scopeOf = ({ route }: Operation) => ('scope' in route ? route.scope : undefined)

const person =
  (role: 'owner' | 'admin' | 'member') =>
  ({ route }: Operation): Answer =>
    route.caller === 'app' || (role === 'member' && route.caller === 'manager') ? 'FORBIDDEN' : 'let in'

const appWith =
  (scopes: readonly string[]) =>
  (operation: Operation): Answer => {
    if (isOpen(operation)) return 'let in'
    const scope = scopeOf(operation)
    if (scope === undefined) return 'SESSION_ONLY_ROUTE'
    const granted = scope === null || scopes.includes(scope) || (scope.endsWith(':create') && scopes.includes('write'))
    return granted ? 'let in' : 'INSUFFICIENT_SCOPE'
  }

const always =
  (answer: Answer) =>
  (operation: Operation): Answer =>
    isOpen(operation) ? 'let in' : answer

async function kindsOf(app: TestApp, scene: Awaited<ReturnType<typeof makeScene>>): Promise<Kind[]> {
  const { id, owner, admin, member } = scene
  const elsewhere = await oauthScene(app)
  const theirs = await exchange(
    app,
    elsewhere,
    await consent(elsewhere.owner, elsewhere.client.client_id, { all_teams: true }),
  )
  const [expired, revoked] = [await app.installed(owner), await app.installed(owner)]
  await app.ctx.db.run(sql`
    update access_tokens set expires_at = ${app.clock.now()}
    where grant_id in (select id from grants where installation_id = ${expired.installationId})`)
  await owner.delete(`/installations/${revoked.installationId}`)
  const singles = await Promise.all(
    appScopes.map(async (scope) => ({ scope, client: await app.installed(owner, { scopes: [scope] }) })),
  )
  return [
    { name: 'anonymous', client: app.anonymous, expects: always('UNAUTHORIZED') },
    { name: 'owner', client: owner, expects: person('owner') },
    { name: 'admin', client: admin, expects: person('admin') },
    { name: 'member', client: member, expects: person('member') },
    {
      name: 'a person of another workspace',
      client: within(elsewhere.owner, id),
      expects: (operation) => (inWorkspace(operation) ? 'WORKSPACE_ACCESS_DENIED' : 'let in'),
    },
    ...singles.map(({ scope, client }) => ({ name: `an app with ${scope}`, client, expects: appWith([scope]) })),
    {
      name: 'an app of another workspace',
      client: asApp(app, id, theirs.body.access_token),
      expects: (operation) => {
        const answer = appWith(['read', 'write'])(operation)
        return isOpen(operation) || answer === 'SESSION_ONLY_ROUTE' ? answer : 'WORKSPACE_ACCESS_DENIED'
      },
    },
    { name: 'an uninstalled app', client: revoked, expects: always('INSTALLATION_REVOKED') },
    { name: linearApp, client: await linearClient(app, owner), expects: always('UNAUTHORIZED') },
    { name: 'an app with an expired token', client: expired, expects: always('UNAUTHORIZED') },
    {
      name: 'a program of a person',
      client: asApp(app, id, await programOf(app, member, id)),
      expects: programWith(['read', 'write']),
    },
    ...(await personalTokensOf(app, scene)),
  ]
}

/** The scope that only a person's token needs. */
const programScopeOf = ({ route }: Operation) => ('programScope' in route ? route.programScope : undefined)

const programWith =
  (scopes: readonly string[]) =>
  (operation: Operation): Answer =>
    operation.route.caller === 'app'
      ? 'FORBIDDEN'
      : programScopeOf(operation) && !scopes.includes(programScopeOf(operation) as string)
        ? 'INSUFFICIENT_SCOPE'
        : appWith(scopes)(operation)

async function personalTokensOf(
  app: TestApp,
  { id, owner, member }: { id: string } & Record<'owner' | 'member', TestPerson>,
) {
  const create = async (person: TestPerson, scopes: readonly string[]) => {
    const { body } = await person.post('/personal-tokens', { name: 'Script', scopes })
    return { client: asApp(app, id, body.token), id: body.personal_token.id as string }
  }
  const revoked = await create(owner, ['read'])
  await owner.delete(`/personal-tokens/${revoked.id}`)
  const kinds: Kind[] = [{ name: 'a revoked personal token', client: revoked.client, expects: always('UNAUTHORIZED') }]
  for (const [name, person, scopes] of [
    ['owner', owner, ['read', 'write']],
    ['member', member, ['issues:create']],
  ] as const) {
    const { client } = await create(person, scopes)
    kinds.push({ name: `a personal token of the ${name} with ${scopes}`, client, expects: programWith(scopes) })
  }
  return kinds
}

const linearApp = "an app with a token of Linear's API"

async function linearClient(app: TestApp, owner: TestPerson) {
  const { token } = await installedLinearApp(app, owner)
  return asApp(app, owner.workspaceId, token)
}

const doorCodes = new Set<string>([
  'UNAUTHORIZED',
  'INSTALLATION_REVOKED',
  'SESSION_ONLY_ROUTE',
  'INSUFFICIENT_SCOPE',
  'WORKSPACE_ACCESS_DENIED',
  'WORKSPACE_REQUIRED',
])
/**
 * FORBIDDEN on other routes comes from a verb: it refuses members who may not manage the app. So does that of an app with
 * another URL than that for listeners.
 */
const isDoors = (operation: Operation, { code, message }: { code?: string; message?: string } = {}) =>
  code !== undefined &&
  (doorCodes.has(code) ||
    (code === 'FORBIDDEN' &&
      ['manager', 'app'].includes(operation.route.caller) &&
      !message?.startsWith('Only an app with the webhook URL'))) &&
  // A git connection refuses by itself whatever is not signed.
  !message?.startsWith('The signature is invalid') &&
  // Admins pass the door of exports.
  !message?.startsWith('Only owners')

test('every route answers every kind of caller as it declares', {
  ...verifies(
    'scope.insufficient-scope-names-scope',
    'scope.insufficient-scope-header',
    'scope.no-scope-routes',
    'scope.narrowest-named',
    'scope.reading-needs-read',
    'scope.write-does-not-imply-read',
    'installation.uninstall-stops-access-tokens',
    'linear.tokens-only-here',
  ),
  timeout: 180_000,
}, async ({ app }) => {
  const scene = await makeScene(app)
  const kinds = await kindsOf(app, scene)
  const before = await app.everything()
  for (const [name, operation] of Object.entries(api) as [RouteName, Operation][]) {
    for (const { name: who, client, expects } of kinds) {
      // linear.tokens-only-here: no other token works at Linear's API, and its tokens work nowhere else.
      const isLinear = Boolean(operation.route.linear)
      const expected = isLinear ? (who === linearApp ? 'let in' : 'UNAUTHORIZED') : expects(operation)
      // Any body is an archive to this route, so its query is invalid instead.
      const path = pathOf(operation, scene.ids) + (name === 'createRestore' ? '?surprise=1' : '')
      // No operation accepts this body, so callers that are let in get a validation error and nothing changes.
      const body = operation.route.method === 'GET' || operation.errorFormat ? undefined : { surprise: 1 }
      const response =
        operation.route.at !== 'root'
          ? await client.request(operation.route.method, path, body)
          : await (operation.route.method === 'GET' ? client.getRoot(path) : client.postRoot(path, {}))
      // Linear's format has the code inside its first error.
      const refusal = response.body?.errors?.[0]?.extensions.baton ?? response.body
      const code = isDoors(operation, refusal) ? refusal.code : 'let in'
      expect({ name, who, answer: code }).toEqual({ name, who, answer: expected })
      if (expected === 'INSUFFICIENT_SCOPE') {
        expect(response.status).toBe(403)
        expect(response.body.details).toEqual({ required: scopeOf(operation) ?? programScopeOf(operation) })
        expect(response.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"')
      }
    }
  }
  // `authorize` stores a consent request, and a git connection counts refusals.
  const after = await app.everything()
  const stored = (dump: string) =>
    JSON.parse(dump).filter(
      ({ name }: { name: string }) => !/^(oauth_requests|audit_entries|git_connections)$/.test(name),
    )
  expect(stored(after)).toEqual(stored(before))
})

type SharedName = { [Name in RouteName]: (typeof routes)[Name] extends { scope: unknown } ? Name : never }[RouteName]

/**
 * The response to an app with every scope that is installed for another team than that of the scene. A new route that
 * apps can call does not compile without an entry.
 */
const outside: Record<
  SharedName,
  'TEAM_ACCESS_DENIED' | 'RESOURCE_NOT_FOUND' | 'VALIDATION_ERROR' | 'nothing of it' | 'of the whole workspace'
> = {
  getMe: 'of the whole workspace',
  callMcp: 'of the whole workspace',
  linearGraphql: 'of the whole workspace',
  getWorkspace: 'of the whole workspace',
  listMembers: 'nothing of it',
  listTeams: 'nothing of it',
  selectTeams: 'nothing of it',
  getTeam: 'RESOURCE_NOT_FOUND',
  listTeamMembers: 'RESOURCE_NOT_FOUND',
  listIssues: 'nothing of it',
  createIssue: 'TEAM_ACCESS_DENIED',
  getIssue: 'TEAM_ACCESS_DENIED',
  updateIssue: 'TEAM_ACCESS_DENIED',
  deleteIssue: 'TEAM_ACCESS_DENIED',
  listIssueHistory: 'TEAM_ACCESS_DENIED',
  listSuggestions: 'TEAM_ACCESS_DENIED',
  listPullRequests: 'nothing of it',
  createIssues: 'TEAM_ACCESS_DENIED',
  exportIssues: 'nothing of it',
  getRelated: 'TEAM_ACCESS_DENIED',
  listTemplates: 'nothing of it',
  listProjects: 'nothing of it',
  createProject: 'VALIDATION_ERROR',
  getProject: 'TEAM_ACCESS_DENIED',
  updateProject: 'TEAM_ACCESS_DENIED',
  deleteProject: 'TEAM_ACCESS_DENIED',
  listComments: 'TEAM_ACCESS_DENIED',
  createComment: 'TEAM_ACCESS_DENIED',
  getComment: 'TEAM_ACCESS_DENIED',
  updateComment: 'TEAM_ACCESS_DENIED',
  deleteComment: 'TEAM_ACCESS_DENIED',
  listReactions: 'TEAM_ACCESS_DENIED',
  addReaction: 'TEAM_ACCESS_DENIED',
  removeReaction: 'TEAM_ACCESS_DENIED',
  uploadFile: 'TEAM_ACCESS_DENIED',
  uploadSessionFile: 'RESOURCE_NOT_FOUND',
  getFile: 'TEAM_ACCESS_DENIED',
  getFileContent: 'TEAM_ACCESS_DENIED',
  createFileLink: 'TEAM_ACCESS_DENIED',
  deleteFile: 'TEAM_ACCESS_DENIED',
  listProjectFiles: 'TEAM_ACCESS_DENIED',
  listLabels: 'of the whole workspace',
  createLabel: 'of the whole workspace',
  getLabel: 'of the whole workspace',
  updateLabel: 'TEAM_ACCESS_DENIED',
  deleteLabel: 'TEAM_ACCESS_DENIED',
  listMilestones: 'nothing of it',
  createMilestone: 'VALIDATION_ERROR',
  getMilestone: 'RESOURCE_NOT_FOUND',
  updateMilestone: 'RESOURCE_NOT_FOUND',
  deleteMilestone: 'RESOURCE_NOT_FOUND',
  listCycles: 'nothing of it',
  createCycle: 'VALIDATION_ERROR',
  getCycle: 'RESOURCE_NOT_FOUND',
  updateCycle: 'RESOURCE_NOT_FOUND',
  deleteCycle: 'RESOURCE_NOT_FOUND',
  listInitiatives: 'of the whole workspace',
  createInitiative: 'TEAM_ACCESS_DENIED',
  getInitiative: 'of the whole workspace',
  updateInitiative: 'TEAM_ACCESS_DENIED',
  deleteInitiative: 'TEAM_ACCESS_DENIED',
  listAgentSessions: 'nothing of it',
  openAgentSession: 'RESOURCE_NOT_FOUND',
  getAgentSession: 'RESOURCE_NOT_FOUND',
  updateAgentSession: 'RESOURCE_NOT_FOUND',
  getSessionChanges: 'RESOURCE_NOT_FOUND',
  setSessionChanges: 'RESOURCE_NOT_FOUND',
  suggestChanges: 'RESOURCE_NOT_FOUND',
  listActivities: 'RESOURCE_NOT_FOUND',
  postActivity: 'RESOURCE_NOT_FOUND',
  listenAsApp: 'of the whole workspace',
  answerAsApp: 'RESOURCE_NOT_FOUND',
  listAgents: 'of the whole workspace',
  selectUsers: 'nothing of it',
  getUser: 'RESOURCE_NOT_FOUND',
}

/** The response to a personal token for another team, where it differs from that to an app. */
const outsideToken: Partial<Record<SharedName, string>> = {
  openAgentSession: 'FORBIDDEN',
  updateAgentSession: 'FORBIDDEN',
  setSessionChanges: 'FORBIDDEN',
  suggestChanges: 'FORBIDDEN',
  answerAsApp: 'FORBIDDEN',
  uploadSessionFile: 'FORBIDDEN',
}

test('neither an app nor a personal token outside the team can access its items', async ({ app }) => {
  const scene = await makeScene(app)
  const { owner, ids } = scene
  const other = (await owner.post('/teams', { name: 'Elsewhere', key: 'ELSE' })).body
  const robot = await app.installed(owner, { scopes: [...appScopes], teamIds: [other.id] })
  const bodies: Partial<Record<SharedName, object>> = {
    createIssue: { title: 'In', team_id: ids.team_id },
    createIssues: { issues: [{ title: 'In', team_id: ids.team_id }] },
    createComment: { target_type: 'issue', target_id: ids.issue_id, text: 'Hello' },
    updateIssue: { title: 'Changed' },
    createMilestone: { project_id: ids.project_id, name: 'Beta' },
    createCycle: { team_id: ids.team_id, name: 'Week 1' },
    openAgentSession: { issue_id: ids.issue_id },
    postActivity: { content: { type: 'thought', body: 'Hm' } },
  }
  const { body: created } = await owner.post('/personal-tokens', {
    name: 'Script',
    scopes: personScopes,
    team_ids: [other.id],
  })
  const script = asApp(app, owner.workspaceId, created.token)
  const named = Object.entries(outside) as [SharedName, string][]
  const calls = named.flatMap(([name, answer]) => [
    { name, client: robot as Client, body: bodies[name], answer },
    {
      name,
      client: script,
      // Only people write prompts.
      body: name === 'postActivity' ? { content: { type: 'prompt', body: 'Hm' } } : bodies[name],
      answer: outsideToken[name] ?? answer,
    },
  ])
  for (const { name, client, body: sent, answer } of calls) {
    if (answer === 'of the whole workspace') continue
    const operation: Operation = api[name]
    const body = sent ?? accepted[name as WriteName] ?? undefined
    const query = ['listComments', 'listReactions'].includes(name)
      ? `?target_type=issue&target_id=${ids.issue_id}`
      : name === 'uploadFile'
        ? `?name=a&target_type=issue&target_id=${ids.issue_id}`
        : name === 'uploadSessionFile'
          ? '?name=a'
          : ''
    const response = await app.unchanged(() =>
      client.request(operation.route.method, pathOf(operation, ids) + query, body),
    )
    if (answer === 'nothing of it') {
      const shown = JSON.stringify(response.body)
      expect({ name, status: response.status }).toEqual({ name, status: 200 })
      for (const id of [ids.team_id, ids.issue_id, ids.project_id, ids.milestone_id, ids.cycle_id, ids.user_id]) {
        expect(shown).not.toContain(id)
      }
    } else expect({ name, code: response.body?.code }).toEqual({ name, code: answer })
  }
})
