import { inspect } from 'node:util'
import {
  type Described,
  described,
  exampleId,
  exampleOf,
  exampleOtherId,
  inWorkspace,
  type Operation,
  parameterWords,
  pathParams,
  type RouteName,
  sectionsOf,
} from '@baton/protocol'

/** The address in all samples; pages are served with the instance's own in its place. */
export const sampleUrl = 'http://localhost:3000'

interface Input {
  query?: Record<string, unknown>
  body?: unknown
  /** In place of a login, where the caller is another service. */
  headers?: Record<string, string>
  /** The file to upload. */
  file?: string
}

const manifest = {
  schemaVersion: '1.0.0',
  name: 'Robot',
  developer: { name: 'Robots Inc' },
  oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read', 'app:assignable'] },
  webhook: { url: 'https://robots.example.com/webhook' },
}

/** Inputs of samples that show more, or something else, than the required fields. */
const inputs: { [Name in RouteName]?: Input } = {
  listIssues: { query: { status: 'todo', limit: 20 } },
  createIssue: { body: { title: 'Fix the door', team_id: exampleId('team'), priority: 'high' } },
  importIssues: {
    body: { issues: [{ title: 'Fix the door', team_id: exampleId('team') }, { title: 'Oil the hinges' }] },
  },
  createIssues: {
    body: { issues: [{ title: 'Fix the door', team_id: exampleId('team') }, { title: 'Oil the hinges' }] },
  },
  exportIssues: { query: { status: 'done' } },
  watchIssue: { body: { muted: true } },
  createTemplate: { body: { name: 'Bug report', team_id: exampleId('team'), type: 'bug', description: '## Steps' } },
  updateTemplate: { body: { default: true } },
  createAutomation: {
    body: {
      team_id: exampleId('team'),
      name: 'Thank reporters',
      trigger: { type: 'issue', on: 'created' },
      filter: { type: ['bug'] },
      actions: [{ type: 'comment', text: 'Thanks for {{issue.code}}.' }],
    },
  },
  updateAutomation: { body: { name: 'Thank reporters of bugs' } },
  tryAutomation: {
    body: {
      team_id: exampleId('team'),
      name: 'Thank reporters',
      trigger: { type: 'issue', on: 'created' },
      actions: [{ type: 'comment', text: 'Thanks for {{issue.code}}.' }],
    },
  },
  runAutomation: { body: { issue_id: exampleId('iss') } },
  updateIssue: { body: { status: 'in_progress', assignee_id: exampleId('usr') } },
  createProject: { body: { title: 'New shop', team_ids: [exampleId('team')] } },
  updateProject: { body: { status: 'in_progress', health_status: 'on_track' } },
  createComment: { body: { target_type: 'issue', target_id: exampleId('iss'), text: 'The key is under the mat.' } },
  updateComment: { body: { is_resolved: true } },
  uploadFile: { query: { target_type: 'issue', target_id: exampleId('iss') } },
  createLabel: { body: { name: 'Door', color: '#1f6feb' } },
  updateLabel: { body: { color: '#d1242f' } },
  updateMilestone: { body: { target_date: '2026-03-02T09:00:00Z' } },
  createCycle: {
    body: {
      team_id: exampleId('team'),
      name: 'Week 10',
      starts_at: '2026-03-02T09:00:00Z',
      ends_at: '2026-03-09T09:00:00Z',
    },
  },
  updateCycle: { body: { name: 'Week 11' } },
  updateInitiative: { body: { description: 'Twice as many shops by 2028.' } },
  updateView: { body: { shared: true } },
  updateWorkspace: { body: { guidance: 'Write in British English.' } },
  updateAccount: { body: { time_zone: 'Europe/Zurich' } },
  updateMember: { body: { role: 'admin' } },
  createInvitation: { body: { email: 'grace@example.com', role: 'member' } },
  createTeam: { body: { name: 'Design', key: 'DES' } },
  updateTeam: { body: { guidance: 'Open a pull request for every change.' } },
  previewGuidance: { body: { team_guidance: 'Open a pull request for every change.' } },
  listMilestones: { query: { project_id: exampleId('prj') } },
  listCycles: { query: { team_id: exampleId('team') } },
  listNames: { query: { ids: exampleId('usr') } },
  selectUsers: { query: { issue_id: exampleId('iss') } },
  listAgents: { query: { include_apps: true, include_deployment: true } },
  updatePersonalAgent: { body: { instructions: 'Summarise long threads in three sentences.' } },
  listAgentSessions: { query: { issue_id: exampleId('iss'), open: true } },
  openAgentSession: { body: { issue_id: exampleId('iss') } },
  updateAgentSession: {
    body: {
      plan: [{ content: 'Oil the hinges', status: 'inProgress' }],
      added_external_urls: [{ label: 'Pull request', url: 'https://code.example.com/acme/shop/pull/7' }],
    },
  },
  listActivities: { query: { after_seq: 0 } },
  postActivity: { body: { content: { type: 'thought', body: 'I look at the hinges first.' } } },
  decideSuggestions: { body: { accept: [exampleId('sug')] } },
  listTriage: { query: { team_id: exampleId('team') } },
  acceptReview: { body: { comment: 'Thanks, works for me.' } },
  updateInstallation: { body: { team_ids: [exampleId('team')] } },
  updateWebhook: { body: { resource_types: ['Issue', 'Comment'] } },
  listWebhookDeliveries: { query: { type: 'Ping' } },
  rotateWebhookSecret: { body: { overlap_hours: 24 } },
  rotateAppWebhookSecret: { body: { overlap_hours: 24 } },
  testWebhook: { body: { type: 'Issue', action: 'update' } },
  testAppWebhook: { body: { type: 'AgentSessionEvent', action: 'created' } },
  startWebhookReplay: { body: { since: '2026-03-02T09:00:00Z', which: 'missed' } },
  startAppReplay: { body: { since: '2026-03-02T09:00:00Z' } },
  listInbox: { query: { unread: true } },
  updateInboxEntry: { body: { read: true } },
  listInboxThreads: { query: { state: 'open', unread: true } },
  updateInboxThread: { body: { archived: true } },
  createPersonalToken: { body: { name: 'Release script', scopes: ['read', 'issues:create'] } },
  listAuditEntries: { query: { action: 'team.created' } },
  installApp: { body: { team_ids: [exampleId('team')] } },
  createAgentApp: { body: manifest },
  replaceAgentApp: { body: manifest },
  createA2aApp: {
    body: {
      card_url: 'https://agents.example.com',
      scopes: ['app:assignable', 'app:mentionable'],
      team_ids: [exampleId('team')],
      credential: { type: 'bearer', token: '5f1c2d3e4b6a79808f9e' },
    },
  },
  refreshA2aCard: { body: { accept: true } },
  setA2aCredential: { body: { credential: { type: 'api_key', header: 'X-API-Key', value: '5f1c2d3e4b6a79808f9e' } } },
  listenToApp: { query: { take_over: true } },
  listenAsApp: { query: { catch_up: true } },
  authorize: {
    query: {
      client_id: exampleId('cli'),
      redirect_uri: 'https://robots.example.com/callback',
      response_type: 'code',
      scope: 'read',
      state: 'af0ifjsldkj',
      actor: 'app',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    },
  },
  issueToken: {
    body: {
      grant_type: 'refresh_token',
      refresh_token: 'prt_5f1c2d3e4b6a79808f9e',
      client_id: exampleId('cli'),
      client_secret: 'svc_sk_5f1c2d3e4b6a79808f9e',
    },
  },
  revokeToken: {
    body: {
      token: 'prt_5f1c2d3e4b6a79808f9e',
      client_id: exampleId('cli'),
      client_secret: 'svc_sk_5f1c2d3e4b6a79808f9e',
    },
  },
  ssoBackChannel: { body: { logout_token: 'eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl' } },
  registerClient: { body: { client_name: 'Editor', redirect_uris: ['http://127.0.0.1:8123/callback'] } },
  approveConsent: { body: { team_ids: [exampleId('team')] } },
  callMcp: { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
  linearGraphql: { body: { query: '{ viewer { id name } }' } },
  linearAuthorize: {
    query: {
      client_id: exampleId('cli'),
      redirect_uri: 'http://localhost:3979/cb',
      response_type: 'code',
      scope: 'read,app:assignable',
    },
  },
  linearToken: {
    body: {
      grant_type: 'client_credentials',
      client_id: exampleId('cli'),
      client_secret: 'svc_sk_5f1c2d3e4b6a79808f9e',
    },
  },
  linearRevoke: {
    body: {
      token: 'lin_oauth_5f1c2d3e4b6a79808f9e',
      client_id: exampleId('cli'),
      client_secret: 'svc_sk_5f1c2d3e4b6a79808f9e',
    },
  },
  searchDocs: { query: { q: 'webhook' } },
  createGitConnection: { body: { kind: 'github', name: 'Shop', repositories: ['acme/shop'] } },
  updateGitConnection: { body: { repositories: ['acme/shop', 'acme/site'] } },
  receiveGitHook: {
    headers: { 'X-Gitlab-Event': 'Push Hook', 'X-Gitlab-Token': 'whsec_5f1c2d3e4b6a79808f9e' },
    body: {
      object_kind: 'push',
      ref: 'refs/heads/ada/eng-12-fix-the-door',
      after: '5f1c2d3e4b6a79808f9e5f1c2d3e4b6a79808f9e',
      project: { path_with_namespace: 'acme/shop', web_url: 'https://gitlab.com/acme/shop' },
    },
  },
  listPullRequests: { query: { issue_id: exampleId('iss') } },
  linkPullRequest: { body: { closes: true } },
  setGitAutomation: { body: { review_requested: 'qa', merged: 'done' } },
  createImport: { body: { source: 'linear', key: 'lin_api_5f1c2d3e4b6a79808f9e' } },
  updateImport: { body: { mapping: { statuses: { 'In Review': 'qa' }, keep_codes: true } } },
  addImportFile: { query: { name: 'issues.csv' }, file: 'issues.csv' },
  assignPlaceholder: { body: { user_id: exampleOtherId('usr') } },
  createRestore: { file: 'acme.tar.gz' },
}

interface Sample {
  params: Record<string, string>
  query: Record<string, unknown>
  body: unknown
}

function sampleOf(name: string, operation: Operation): Sample {
  const { query = {}, body }: Input = inputs[name as RouteName] ?? {}
  const required = (schema: Operation['body']) => schema && requiredOnly(described(schema, sectionsOf(name, operation)))
  return {
    params: Object.fromEntries(pathParams(operation.route.path).map((param) => [param, parameterWords(param).example])),
    query: { ...(required(operation.query) as object), ...query },
    body: body ?? required(operation.body),
  }
}

/** The example of a schema without its optional fields. */
function requiredOnly(schema: Described): unknown {
  if (schema.examples || !schema.properties) return exampleOf(schema)
  return Object.fromEntries((schema.required ?? []).map((key) => [key, requiredOnly(schema.properties?.[key] ?? {})]))
}

/** A command that makes the call. The variables are explained on the reference's first page. */
export function curlSample(name: string, operation: Operation): string {
  const { route, bodyFormat } = operation
  const { params, query, body } = sampleOf(name, operation)
  const path = route.path.replace(/:(\w+)/g, (_, param: string) => params[param] as string)
  const search = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
  ).toString()
  const url = `${sampleUrl}${route.at === 'root' ? '' : '/api/v1'}${path}${search && `?${search}`}`
  const byDefault = route.raw ? 'PUT' : body === undefined ? 'GET' : 'POST'
  return [
    `curl ${route.stream ? '-N ' : ''}${search ? `'${url}'` : url}`,
    ...(route.method === byDefault ? [] : [`-X ${route.method}`]),
    ...(route.caller === 'anyone' ? [] : ['-H "Authorization: Bearer $BATON_TOKEN"']),
    ...Object.entries(inputs[name as RouteName]?.headers ?? {}).map(([key, value]) => `-H '${key}: ${value}'`),
    ...(inWorkspace(route.caller) && !route.linear ? ['-H "X-Workspace-ID: $BATON_WORKSPACE"'] : []),
    ...(route.raw ? [`-T ${inputs[name as RouteName]?.file ?? 'door.png'}`] : []),
    ...(body === undefined
      ? []
      : bodyFormat === 'form'
        ? Object.entries(body as Record<string, string>).map(([key, value]) => `-d '${key}=${value}'`)
        : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`]),
  ].join(' \\\n  ')
}

/** Browsers and providers call these of OAuth and single sign-on; MCP, Linear's API and git hosts have clients of their own. */
const withoutSdk: ReadonlySet<string> = new Set<RouteName>([
  'authorize',
  'callMcp',
  'receiveGitHook',
  'linearGraphql',
  'linearAuthorize',
  'linearToken',
  'linearRevoke',
  'ssoCallback',
  'ssoBackChannel',
])

/** The same call with the SDK; null for streams and files, which its client neither reads nor sends. */
export function sdkSample(name: string, operation: Operation): string | null {
  const { route, returns } = operation
  if (route.stream || route.raw || withoutSdk.has(name)) return null
  const { params, query, body } = sampleOf(name, operation)
  const input = { ...params, ...query, ...(body as object | undefined) }
  const printed = Object.keys(input).length === 0 ? '' : inspect(input, { depth: null, breakLength: 90, compact: 2 })
  // Credentials of a client are in the form; a token beside them would be refused.
  const isForm = operation.bodyFormat === 'form'
  const setup = isForm ? `const anonymous = new BatonClient({ baseUrl: '${sampleUrl}' })\n` : ''
  const call = `await ${isForm ? 'anonymous' : 'client'}.${name}(${printed})`
  const [answer] = Object.values(returns)
  return `${setup}${answer ? `const ${resultName(answer as Described)} = ` : ''}${call}`
}

/** `issue` for an Issue, `{ data }` for a list, otherwise `result`, as for titles that are words of JavaScript. */
function resultName({ title, properties }: Described): string {
  if (title && title !== 'Import' && title !== 'Export') return title.charAt(0).toLowerCase() + title.slice(1)
  return properties?.data ? '{ data }' : 'result'
}

/** How to set up what the samples use. */
export const sampleSetup = {
  curl: `export BATON_TOKEN=psn_…       # from POST /auth/sign-in, or an access token
export BATON_WORKSPACE=wsp_…   # from GET /auth/me`,
  sdk: `import { env } from 'node:process'
import { BatonClient } from '@baton/sdk'

const client = new BatonClient({
  baseUrl: '${sampleUrl}',
  token: env.BATON_TOKEN ?? '',
  workspaceId: env.BATON_WORKSPACE ?? '',
})`,
}
