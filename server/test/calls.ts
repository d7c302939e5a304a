import type { Operation, RouteName, routes } from '@baton/protocol'
import { unsubscribeUrl } from '../src/inbox/unsubscribe.ts'
import { addIdentity, addPasskey } from '../src/login/methods.ts'
import { pullRequestScene } from './git.ts'
import type { TestApp, TestWorkspace } from './harness.ts'
import { programOf } from './oauth.ts'

export type WriteName = { [Name in RouteName]: (typeof routes)[Name]['method'] extends 'GET' ? never : Name }[RouteName]

const manifest = {
  schemaVersion: '1.0.0',
  name: 'Robot',
  description: 'Works.',
  developer: { name: 'Robots Inc' },
  distribution: 'private',
  oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
  webhook: { url: 'https://robots.example.com/hook' },
}

const usedCredential = {
  id: 'eA',
  rawId: 'eA',
  type: 'public-key',
  response: { clientDataJSON: 'e30', authenticatorData: 'eA', signature: 'eA' },
}

/** A body that each write would accept, or null where it takes none. A new write does not compile without one. */
export const accepted: Record<WriteName, Record<string, unknown> | null> = {
  signUp: { email: 'somebody@example.com', password: 'a password', name: 'Somebody' },
  signIn: { email: 'somebody@example.com', password: 'a password' },
  signOut: null,
  changePassword: { current_password: 'correct horse', new_password: 'a new password' },
  setPassword: { new_password: 'a new password' },
  removePassword: null,
  reauthenticate: { password: 'correct horse' },
  requestPasswordReset: { email: 'somebody@example.com' },
  confirmPasswordReset: { token: 'x', new_password: 'a new password' },
  changeEmail: { email: 'somebody@example.com' },
  requestVerification: null,
  confirmEmail: { token: 'x' },
  undoEmailChange: { token: 'x' },
  endLogin: null,
  endOtherLogins: null,
  createCliLogin: { challenge: 'x'.repeat(43), name: 'baton', port: 4000 },
  exchangeCliLogin: { code: 'x', verifier: 'x'.repeat(43) },
  startSso: { purpose: 'sign_in', next: '/issues' },
  ssoBackChannel: null,
  deleteIdentity: null,
  createPasskey: {
    name: 'Laptop',
    credential: {
      id: 'eA',
      rawId: 'eA',
      type: 'public-key',
      response: { clientDataJSON: 'e30', attestationObject: 'oA' },
    },
  },
  startPasskey: null,
  deletePasskey: null,
  signInWithPasskey: { credential: usedCredential },
  startPasskeySignIn: null,
  reauthWithPasskey: { credential: usedCredential },
  endProgram: null,
  updateAccount: { display_name: 'Ada Lovelace', time_zone: 'Europe/Zurich' },
  deleteAccount: null,
  createWorkspace: { name: 'Acme' },
  updateWorkspace: { name: 'Acme', guidance: 'Be kind.' },
  // Not the name of a workspace: the tables call every write, and the others need one that can be changed.
  startDeletion: { name: 'Another workspace' },
  cancelDeletion: null,
  updateMember: { role: 'admin' },
  removeMember: null,
  createInvitation: { email: 'new@example.com', role: 'member' },
  deleteInvitation: null,
  sendInvitation: null,
  sendTestMail: null,
  previewInvitation: { token: 'x' },
  acceptInvitation: { token: 'a token' },
  createTeam: { name: 'Design', key: 'DES' },
  updateTeam: { name: 'Design', guidance: 'Draw.', repositories: [{ repository: 'acme/design' }] },
  deleteTeam: null,
  previewGuidance: {
    workspace_guidance: 'Be kind.',
    team_guidance: 'Draw.',
    repositories: [{ repository: 'acme/design' }],
  },
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
  createIssues: { issues: [{ title: 'A bug', priority: 'low' }] },
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
  markDuplicate: { issue_id: 'x' },
  unmarkDuplicate: null,
  watchIssue: { muted: true },
  unwatchIssue: null,
  createTemplate: {
    name: 'Bug report',
    title: 'Bug: ',
    description: '## Steps',
    priority: 'medium',
    type: 'bug',
    label_ids: [],
    default: true,
  },
  updateTemplate: {
    name: 'Bug report',
    title: 'Bug: ',
    description: '## Steps',
    priority: 'medium',
    type: 'bug',
    label_ids: [],
    default: true,
  },
  createAutomation: {
    team_id: 'x',
    name: 'Watcher',
    trigger: { type: 'issue', on: 'created' },
    filter: { priority: ['high'] },
    actions: [{ type: 'comment', text: 'Seen' }],
  },
  updateAutomation: { name: 'Watcher' },
  tryAutomation: {
    team_id: 'x',
    name: 'Watcher',
    trigger: { type: 'issue', on: 'created' },
    actions: [{ type: 'comment', text: 'Seen' }],
  },
  deleteAutomation: null,
  enableAutomation: null,
  disableAutomation: null,
  takeOverAutomation: null,
  runAutomation: { issue_id: 'x' },
  uploadFile: null,
  uploadSessionFile: null,
  createFileLink: null,
  deleteFile: null,
  deleteTemplate: null,
  createProject: { title: 'A plan', status: 'idea', priority: 'low', team_ids: [], member_ids: [], personal: false },
  updateProject: { title: 'A plan', description: '', status: 'idea', label_ids: [] },
  deleteProject: null,
  createComment: { target_type: 'issue', target_id: 'x', text: 'Hello', internal: false },
  updateComment: { text: 'Hello', is_resolved: true },
  deleteComment: null,
  addReaction: null,
  removeReaction: null,
  createLabel: { name: 'Red' },
  updateLabel: { name: 'Red' },
  deleteLabel: null,
  mergeLabel: { into_label_id: 'x' },
  createMilestone: { project_id: 'x', name: 'Beta' },
  updateMilestone: { name: 'Beta' },
  deleteMilestone: null,
  createCycle: { team_id: 'x', name: 'Week 1' },
  updateCycle: { name: 'Week 1' },
  deleteCycle: null,
  createInitiative: { name: 'Growth', description: '' },
  updateInitiative: { name: 'Growth', description: '' },
  deleteInitiative: null,
  createView: { name: 'Mine', query: 'status=todo&group=assignee', shared: false },
  updateView: { name: 'Mine', query: 'status=todo', shared: true },
  deleteView: null,
  createWebhook: {
    label: 'Chat',
    url: 'https://hooks.example.com/x',
    all_teams: true,
    team_ids: [],
    resource_types: ['Issue'],
    filters: { Issue: { status: ['todo'] } },
  },
  updateWebhook: {
    label: 'Chat',
    url: 'https://hooks.example.com/x',
    all_teams: true,
    team_ids: [],
    resource_types: ['Issue'],
    filters: { Issue: { status: ['todo'] } },
  },
  deleteWebhook: null,
  rotateWebhookSecret: { overlap_hours: 24 },
  finishWebhookRotation: null,
  testWebhook: { type: 'Issue', action: 'create' },
  enableWebhook: null,
  disableWebhook: null,
  redeliverToWebhook: null,
  startWebhookReplay: { since: '2026-03-02T09:00:00Z', types: ['Issue'], which: 'failed', dry_run: true },
  stopWebhookReplay: null,
  createAgentApp: manifest,
  replaceAgentApp: manifest,
  deleteAgentApp: null,
  inspectA2aCard: { card_url: 'https://agents.example.com' },
  createA2aApp: {
    card_url: 'https://agents.example.com',
    name: 'Robot',
    scopes: ['app:assignable'],
    all_teams: true,
    credential: null,
  },
  refreshA2aCard: { accept: true },
  setA2aCredential: { credential: { type: 'bearer', token: 'a-token' } },
  rotateClientSecret: null,
  rotateAppWebhookSecret: { overlap_hours: 24 },
  finishAppRotation: null,
  testAppWebhook: { type: 'AgentSessionEvent', action: 'created' },
  enableAppWebhook: null,
  disableAppWebhook: null,
  redeliverToApp: null,
  startAppReplay: { since: '2026-03-02T09:00:00Z', types: ['Issue'], which: 'failed', dry_run: true },
  stopAppReplay: null,
  answerAttempt: { status: 200, body: 'ok' },
  answerAsApp: { status: 200, body: 'ok' },
  setAppBudget: {
    currency: 'USD',
    session_cost_micros: 5_000_000,
    month_cost_micros: 100_000_000,
    session_tokens: 1_000_000,
    month_tokens: 20_000_000,
  },
  installApp: { all_teams: true, scopes: ['read'] },
  requestInstall: null,
  updateInstallation: { all_teams: true },
  deleteInstallation: null,
  createPersonalAgent: { name: 'Scribe', instructions: 'Be brief.' },
  updatePersonalAgent: { name: 'Scribe', instructions: 'Be brief.' },
  deletePersonalAgent: null,
  openAgentSession: { issue_id: 'x' },
  updateAgentSession: {
    plan: [{ content: 'Look', status: 'pending' }],
    added_external_urls: [{ label: 'Change', url: 'https://example.com/1' }],
    removed_external_urls: ['https://example.com/2'],
    usage: { model: 'qwen3', input_tokens: 48_000, output_tokens: 3_100, cost_micros: 412_000, currency: 'USD' },
  },
  setSessionChanges: {
    repository: 'acme/shop',
    remote_url: 'https://code.example.com/acme/shop.git',
    base: { ref: 'main', commit: 'a'.repeat(40) },
    head_commit: 'b'.repeat(40),
    branch: 'agent/eng-12',
    pushed: false,
    files_total: 1,
    additions: 1,
    deletions: 0,
    files: [{ path: 'a', old_path: 'b', status: 'renamed', additions: 1, deletions: 0, patch: '+a', omitted: null }],
  },
  stopAgentSession: null,
  suggestChanges: { suggestions: [{ field: 'priority', value: 'high', reason: 'It is on fire' }] },
  decideSuggestions: { accept: ['x'], decline: ['y'] },
  acceptReview: { comment: 'Thanks' },
  sendBackReview: { reason: 'Not yet' },
  setTeamReview: { mode: 'on', accept_status: 'done' },
  postActivity: { content: { type: 'prompt', body: 'Hello' } },
  approveConsent: { all_teams: true },
  denyConsent: null,
  createExport: null,
  deleteExport: null,
  createExportLink: null,
  // The archive itself, which has its own tests.
  createRestore: null,
  createGitConnection: {
    kind: 'github',
    name: 'Shop',
    host: 'github.com',
    repositories: ['acme/shop'],
    team_ids: null,
    token: null,
  },
  updateGitConnection: { name: 'Shop', host: 'github.com', repositories: ['acme/shop'], team_ids: null, token: null },
  deleteGitConnection: null,
  rotateGitSecret: null,
  // Signed by the git host, with its own tests.
  receiveGitHook: null,
  linkPullRequest: { closes: true },
  unlinkPullRequest: null,
  setGitAutomation: { branch: null, opened: 'in_progress', merged: 'done' },
  createImport: { source: 'csv', key: null, repository: null, url: null },
  updateImport: { mapping: { keep_codes: true, statuses: { Open: 'todo' }, date_order: 'day-month' } },
  deleteImport: null,
  // Raw bytes, with their own tests.
  addImportFile: null,
  readImport: null,
  startImport: null,
  cancelImport: null,
  assignPlaceholder: { user_id: 'x' },
  // RFC 6749 and 7591: unknown parameters are ignored. These have separate tests.
  issueToken: null,
  revokeToken: null,
  registerClient: null,
  // JSON-RPC: errors have its own format.
  callMcp: null,
  // GraphQL and OAuth, with their own tests.
  linearGraphql: null,
  linearToken: null,
  linearRevoke: null,
  updateInboxEntry: { read: true },
  readInbox: null,
  updateInboxThread: { read: true, archived: false, snoozed_until: null },
  archiveReadThreads: null,
  setNotificationSettings: { kinds: { mention: 'daily' }, digest_hour: 9, paused: false },
  setPresence: null,
  // Any body is ignored; it has its own tests.
  unsubscribe: null,
  createPersonalToken: { name: 'Script', scopes: ['read'], team_ids: null, expires_at: '2100-01-01T00:00:00Z' },
  deletePersonalToken: null,
  deleteTokenOfWorkspace: null,
}

/** Creates one item of each kind; returns their ids for calls. */
export async function makeScene(app: TestApp) {
  const workspace = await app.workspace()
  const { owner, admin, member } = workspace
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const { body: invited } = await owner.post('/workspaces/me/invitations', { email: 'x@example.com', role: 'member' })
  const { body: issue } = await admin.post('/issues', { title: 'One', team_id: team.id, assignee_id: owner.user.id })
  const { body: project } = await owner.post('/projects', { title: 'Plan' })
  const { body: comment } = await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })
  const { body: label } = await owner.post('/labels', { name: 'Blue' })
  const { body: milestone } = await owner.post('/milestones', { project_id: project.id, name: 'Alpha' })
  const { body: cycle } = await owner.post('/cycles', { team_id: team.id, name: 'Week 0' })
  const { body: initiative } = await owner.post('/initiatives', { name: 'Growth' })
  const { body: view } = await owner.post('/views', { name: 'Todo', query: 'status=todo', shared: true })
  const { body: template } = await owner.post('/templates', { name: 'Bug report', team_id: team.id })
  const { body: automation } = await owner.post('/automations', {
    team_id: team.id,
    name: 'Watcher',
    trigger: { type: 'issue', on: 'created' },
    actions: [{ type: 'comment', text: 'Seen' }],
  })
  const { body: file } = await owner.post(`/files?name=a.txt&target_type=issue&target_id=${issue.id}`, undefined, {
    raw: 'Hello',
  })
  const { body: webhook } = await owner.post('/webhooks', {
    label: 'Chat',
    url: 'http://localhost:9',
    all_teams: true,
    resource_types: ['Issue'],
  })
  await owner.post(`/webhooks/${webhook.id}/test`)
  const { body: deliveries } = await owner.get(`/webhooks/${webhook.id}/deliveries`)
  const { body: replay } = await owner.post(`/webhooks/${webhook.id}/replays`, { since: '2100-01-01T00:00:00Z' })
  const { body: registered } = await owner.post('/agent-apps', manifest)
  const robot = await app.installed(owner)
  const { body: session } = await robot.post('/agent-sessions', { issue_id: issue.id })
  const asked = await owner.get(
    `/oauth/authorize?${new URLSearchParams({
      client_id: registered.client_id,
      redirect_uri: registered.app.redirect_uris[0],
      response_type: 'code',
      actor: 'app',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    })}`,
  )
  const consent = new URL(asked.headers.get('location') ?? '')
  await programOf(app, owner, workspace.id)
  const { body: programs } = await owner.get('/auth/programs')
  const { body: logins } = await owner.get('/auth/logins')
  const { body: personal } = await owner.post('/agents/personal', { name: 'Scribe', instructions: '' })
  const { body: inbox } = await owner.get('/inbox')
  const { body: personalToken } = await owner.post('/personal-tokens', { name: 'Script', scopes: ['read'] })
  // So that unsubscribing, which no body can make invalid, changes nothing more.
  await owner.put('/notification-settings', { kinds: { mention: 'never' }, digest_hour: 8, paused: false })
  const subscription = { userId: owner.user.id, workspaceId: workspace.id, kinds: ['mention'] as const }
  const git = await pullRequestScene(owner, issue)
  const { body: imported } = await owner.post('/imports', { source: 'csv' })
  const { body: exported } = await owner.post('/exports')
  const { body: restore } = await owner.post('/restores', undefined, { raw: 'no archive' })
  const ids: Record<string, string> = {
    export_id: exported.id,
    restore_id: restore.id,
    user_id: member.user.id,
    team_id: team.id,
    invitation_id: invited.invitation.id,
    issue_id: issue.id,
    duplicate_id: issue.id,
    project_id: project.id,
    comment_id: comment.id,
    label_id: label.id,
    milestone_id: milestone.id,
    cycle_id: cycle.id,
    initiative_id: initiative.id,
    view_id: view.id,
    template_id: template.id,
    automation_id: automation.id,
    file_id: file.id,
    name: 'heart',
    entry_id: inbox.data[0].id,
    subject_id: issue.id,
    token_id: personalToken.personal_token.id,
    token: unsubscribeUrl(app.ctx.config, app.ctx.keys, subscription).split('/').at(-1) as string,
    webhook_id: webhook.id,
    app_id: registered.app.id,
    installation_id: robot.installationId,
    session_id: session.id,
    review_id: await waitingReview(app, workspace, team.id),
    request_id: consent.searchParams.get('request') ?? '',
    program_id: programs.data[0].id,
    provider_id: 'nobody',
    ...(await signInMethodsOf(app, owner.user.id)),
    login_id: logins.data[0].id,
    replay_id: replay.id,
    delivery_id: deliveries.data[0].id,
    attempt_id: 'att_of_nobody',
    agent_id: personal.id,
    connection_id: git.connection.id,
    import_id: imported.id,
    placeholder_id: member.user.id,
    pull_request_id: git.pullRequest.id,
  }
  return { ...workspace, ids, robot }
}

/** Work of an agent that waits for a review. */
export async function waitingReview(
  app: TestApp,
  { owner }: Pick<TestWorkspace, 'owner'>,
  teamId: string,
): Promise<string> {
  await owner.put(`/teams/${teamId}/review`, { mode: 'on', accept_status: 'done' })
  const robot = await app.installed(owner, {
    scopes: ['app:assignable'],
    webhook: 'https://robots.example.com/hook',
  })
  await owner.post('/issues', { title: 'Delegated', team_id: teamId, delegate_id: robot.userId })
  const { body: sessions } = await robot.get('/agent-sessions')
  await robot.post(`/agent-sessions/${sessions.data[0].id}/activities`, { content: { type: 'response', body: 'Done' } })
  const { body: waiting } = await owner.get(`/reviews?session_id=${sessions.data[0].id}`)
  return waiting.data[0].id
}

/** An identity and a passkey, as if a provider and an authenticator had confirmed them. */
async function signInMethodsOf({ ctx, clock }: TestApp, userId: string) {
  const now = clock.now()
  const identity = { userId, providerId: 'company', issuer: 'https://id.example.com', subject: userId, email: null }
  const passkey = { userId, name: 'Laptop', publicKey: Buffer.from('key'), counter: 0, transports: [] }
  return {
    identity_id: await addIdentity(ctx.db, now, identity),
    passkey_id: await addPasskey(ctx.db, now, { ...passkey, credentialId: userId }),
  }
}

export const pathOf = ({ route }: Operation, ids: Record<string, string>) =>
  route.path.replace(/:(\w+)/g, (_, name) => ids[name] as string)
