/**
 * All routes of the API and who may call them. This file imports nothing, so that browsers can use it without the
 * schemas; input and output are defined in the file of each resource.
 */
export const personScopes = ['read', 'write', 'issues:create', 'comments:create'] as const
export type Scope = (typeof personScopes)[number]

/** The scopes that an agent app can request (manifest.scopes-all-six-accepted). */
export const appScopes = [
  'read',
  'write',
  'issues:create',
  'comments:create',
  'app:assignable',
  'app:mentionable',
] as const
export type AppScope = (typeof appScopes)[number]

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * - `anyone`         credentials are ignored
 * - `anyone or person`  a login is recognized but not required
 * - `person`         a person's login
 * - `member`         a person's login, in the workspace that X-Workspace-ID names
 * - `manager`        as `member`, with the role owner or admin
 * - `person or app`  a login or any token, outside a workspace
 * - `member or app`  a login or any token, in a workspace; tokens need the scope
 * - `app`            an app's token, in its workspace
 */
export type Caller =
  | 'anyone'
  | 'anyone or person'
  | 'person'
  | 'member'
  | 'manager'
  | 'person or app'
  | 'member or app'
  | 'app'

export type Route = {
  method: Method
  path: `/${string}`
  /** `root`: outside the versioned API, at {root_url}. */
  at?: 'root'
  /** An additional method for the same operation. */
  alsoBy?: 'PATCH'
  /** Server-sent events. Accepts `workspace_id` in the query (session.stream-workspace-in-query). */
  stream?: true
  /** Accepts `workspace_id` in the query too, for pictures of a page: a browser sends no headers of ours with them. */
  workspaceInQuery?: true
  /** A GET that changes data, so it is protected against CSRF (login.csrf-no-origin-refused). */
  writes?: true
  /** A sign-in method was used in this very login within the last 15 minutes (reauth.required). */
  recent?: true
  /**
   * The body is a stream of bytes of any media type, not parsed. Needs Content-Length; the caller is checked before the
   * body is read.
   */
  raw?: true
  /** Works while the deletion of the workspace is pending, although it is not a GET (export.deletion-read-only). */
  whilePendingDeletion?: true
  /** The MCP server: needs no X-Workspace-ID with a token, and a 401 names the OAuth metadata. */
  mcp?: true
  /**
   * Linear's API: the token selects the workspace, `Authorization` works without `Bearer `, and errors have the format
   * of GraphQL.
   */
  linear?: true
} & (
  | { caller: Exclude<Caller, 'person or app' | 'member or app' | 'app'> }
  | {
      caller: 'person or app' | 'member or app' | 'app'
      scope: Scope | null
      /** Scope required from a person's program, where an app needs none. */
      programScope?: Scope
    }
)

export const routes = {
  // The service itself
  getHome: { method: 'GET', path: '/', at: 'root', caller: 'anyone' },
  getHealth: { method: 'GET', path: '/healthz', at: 'root', caller: 'anyone' },
  getReadiness: { method: 'GET', path: '/readyz', at: 'root', caller: 'anyone' },
  getMetrics: { method: 'GET', path: '/metrics', at: 'root', caller: 'anyone' },
  getOpenApi: { method: 'GET', path: '/openapi.json', caller: 'anyone' },
  getInstance: { method: 'GET', path: '/instance', caller: 'anyone' },
  getPackage: { method: 'GET', path: '/packages/:file', at: 'root', caller: 'anyone' },

  // Documentation
  getDocs: { method: 'GET', path: '/docs', at: 'root', caller: 'anyone' },
  getDocsStyle: { method: 'GET', path: '/docs/style.css', at: 'root', caller: 'anyone' },
  getDocsScript: { method: 'GET', path: '/docs/docs.js', at: 'root', caller: 'anyone' },
  searchDocs: { method: 'GET', path: '/docs/search', at: 'root', caller: 'anyone' },
  getDocsPage: { method: 'GET', path: '/docs/:page', at: 'root', caller: 'anyone' },
  getDocsPicture: { method: 'GET', path: '/docs/pictures/:picture', at: 'root', caller: 'anyone' },
  getReferencePage: { method: 'GET', path: '/docs/reference/:noun', at: 'root', caller: 'anyone' },
  getLlmsText: { method: 'GET', path: '/llms.txt', at: 'root', caller: 'anyone' },

  // Login
  signUp: { method: 'POST', path: '/auth/sign-up', caller: 'anyone' },
  signIn: { method: 'POST', path: '/auth/sign-in', caller: 'anyone' },
  signOut: { method: 'POST', path: '/auth/sign-out', caller: 'person' },
  changePassword: { method: 'POST', path: '/auth/password', caller: 'person' },
  setPassword: { method: 'PUT', path: '/auth/password', caller: 'person', recent: true },
  removePassword: { method: 'DELETE', path: '/auth/password', caller: 'person', recent: true },
  reauthenticate: { method: 'POST', path: '/auth/reauth', caller: 'person' },
  requestPasswordReset: { method: 'POST', path: '/auth/password-reset', caller: 'anyone' },
  confirmPasswordReset: { method: 'POST', path: '/auth/password-reset/confirm', caller: 'anyone' },
  changeEmail: { method: 'POST', path: '/auth/email', caller: 'person', recent: true },
  requestVerification: { method: 'POST', path: '/auth/email/verification', caller: 'person' },
  confirmEmail: { method: 'POST', path: '/auth/email/confirm', caller: 'person' },
  undoEmailChange: { method: 'POST', path: '/auth/email/undo', caller: 'anyone' },
  listLogins: { method: 'GET', path: '/auth/logins', caller: 'person' },
  endLogin: { method: 'DELETE', path: '/auth/logins/:login_id', caller: 'person' },
  endOtherLogins: { method: 'POST', path: '/auth/logins/end-others', caller: 'person' },
  createCliLogin: { method: 'POST', path: '/auth/cli-logins', caller: 'person', recent: true },
  exchangeCliLogin: { method: 'POST', path: '/auth/cli-logins/exchange', caller: 'anyone' },
  getMe: { method: 'GET', path: '/auth/me', caller: 'person or app', scope: null },
  getAccount: { method: 'GET', path: '/auth/account', caller: 'person' },
  updateAccount: { method: 'PATCH', path: '/auth/account', caller: 'person' },
  deleteAccount: { method: 'DELETE', path: '/auth/account', caller: 'person', recent: true },

  // Single sign-on
  startSso: { method: 'POST', path: '/auth/sso/:provider_id', caller: 'anyone or person' },
  ssoCallback: { method: 'GET', path: '/sso/callback/:provider_id', at: 'root', caller: 'anyone or person' },
  ssoBackChannel: { method: 'POST', path: '/sso/back-channel/:provider_id', at: 'root', caller: 'anyone' },
  deleteIdentity: { method: 'DELETE', path: '/auth/identities/:identity_id', caller: 'person', recent: true },

  // Passkeys
  listPasskeys: { method: 'GET', path: '/auth/passkeys', caller: 'person' },
  createPasskey: { method: 'POST', path: '/auth/passkeys', caller: 'person', recent: true },
  startPasskey: { method: 'POST', path: '/auth/passkeys/options', caller: 'person', recent: true },
  deletePasskey: { method: 'DELETE', path: '/auth/passkeys/:passkey_id', caller: 'person', recent: true },
  signInWithPasskey: { method: 'POST', path: '/auth/passkey-sign-in', caller: 'anyone' },
  startPasskeySignIn: { method: 'POST', path: '/auth/passkey-sign-in/options', caller: 'anyone' },
  reauthWithPasskey: { method: 'POST', path: '/auth/reauth/passkey', caller: 'person' },

  // Programs connected by a user
  listPrograms: { method: 'GET', path: '/auth/programs', caller: 'person' },
  endProgram: { method: 'DELETE', path: '/auth/programs/:program_id', caller: 'person' },

  // Personal tokens
  listPersonalTokens: { method: 'GET', path: '/personal-tokens', caller: 'member' },
  createPersonalToken: { method: 'POST', path: '/personal-tokens', caller: 'member', recent: true },
  deletePersonalToken: { method: 'DELETE', path: '/personal-tokens/:token_id', caller: 'member' },
  listTokensOfWorkspace: { method: 'GET', path: '/workspaces/me/personal-tokens', caller: 'manager' },
  deleteTokenOfWorkspace: { method: 'DELETE', path: '/workspaces/me/personal-tokens/:token_id', caller: 'manager' },

  // Mail
  getMailStatus: { method: 'GET', path: '/mail/status', caller: 'manager' },
  sendTestMail: { method: 'POST', path: '/mail/test', caller: 'manager' },

  // Workspaces
  createWorkspace: { method: 'POST', path: '/workspaces', caller: 'person' },
  getWorkspace: { method: 'GET', path: '/workspaces/me', caller: 'member or app', scope: null },
  updateWorkspace: { method: 'PATCH', path: '/workspaces/me', caller: 'manager' },
  startDeletion: { method: 'POST', path: '/workspaces/me/deletion', caller: 'manager', recent: true },
  cancelDeletion: {
    method: 'DELETE',
    path: '/workspaces/me/deletion',
    caller: 'manager',
    whilePendingDeletion: true,
  },

  // Members and invitations
  listMembers: { method: 'GET', path: '/workspaces/me/members', caller: 'member or app', scope: 'read' },
  updateMember: { method: 'PATCH', path: '/workspaces/me/members/:user_id', caller: 'manager' },
  removeMember: { method: 'DELETE', path: '/workspaces/me/members/:user_id', caller: 'member' },
  listInvitations: { method: 'GET', path: '/workspaces/me/invitations', caller: 'manager' },
  createInvitation: { method: 'POST', path: '/workspaces/me/invitations', caller: 'manager' },
  deleteInvitation: { method: 'DELETE', path: '/workspaces/me/invitations/:invitation_id', caller: 'manager' },
  sendInvitation: { method: 'POST', path: '/workspaces/me/invitations/:invitation_id/send', caller: 'manager' },
  previewInvitation: { method: 'POST', path: '/invitations/preview', caller: 'anyone' },
  acceptInvitation: { method: 'POST', path: '/invitations/accept', caller: 'person' },

  // Teams
  listTeams: { method: 'GET', path: '/teams', caller: 'member or app', scope: 'read' },
  createTeam: { method: 'POST', path: '/teams', caller: 'manager' },
  selectTeams: { method: 'GET', path: '/teams/select', caller: 'member or app', scope: null },
  getTeam: { method: 'GET', path: '/teams/:team_id', caller: 'member or app', scope: 'read' },
  updateTeam: { method: 'PATCH', path: '/teams/:team_id', caller: 'manager' },
  getTeamUsage: { method: 'GET', path: '/teams/:team_id/usage', caller: 'manager' },
  deleteTeam: { method: 'DELETE', path: '/teams/:team_id', caller: 'manager' },
  previewGuidance: { method: 'POST', path: '/teams/:team_id/guidance-preview', caller: 'manager' },
  listTeamMembers: { method: 'GET', path: '/teams/:team_id/members', caller: 'member or app', scope: 'read' },
  addTeamMember: { method: 'PUT', path: '/teams/:team_id/members/:user_id', caller: 'manager' },
  removeTeamMember: { method: 'DELETE', path: '/teams/:team_id/members/:user_id', caller: 'member' },

  // Issues, projects, comments and planning
  listIssues: { method: 'GET', path: '/issues', caller: 'member or app', scope: 'read' },
  createIssue: { method: 'POST', path: '/issues', caller: 'member or app', scope: 'issues:create' },
  importIssues: { method: 'POST', path: '/issues/import', caller: 'manager' },
  createIssues: { method: 'POST', path: '/issues/batch', caller: 'member or app', scope: 'issues:create' },
  exportIssues: { method: 'GET', path: '/issues.csv', caller: 'member or app', scope: 'read' },
  getIssue: { method: 'GET', path: '/issues/:issue_id', caller: 'member or app', scope: 'read' },
  updateIssue: { method: 'PUT', path: '/issues/:issue_id', caller: 'member or app', scope: 'write' },
  deleteIssue: { method: 'DELETE', path: '/issues/:issue_id', caller: 'member or app', scope: 'write' },
  listIssueHistory: { method: 'GET', path: '/issues/:issue_id/history', caller: 'member or app', scope: 'read' },
  getRelated: { method: 'GET', path: '/issues/:issue_id/related', caller: 'member or app', scope: 'read' },
  // Not `issue_id`, which is the name of the original in the body: the SDK passes both in one object.
  markDuplicate: { method: 'PUT', path: '/issues/:duplicate_id/duplicate-of', caller: 'member' },
  unmarkDuplicate: { method: 'DELETE', path: '/issues/:duplicate_id/duplicate-of', caller: 'member' },
  listSuggestions: { method: 'GET', path: '/issues/:issue_id/suggestions', caller: 'member or app', scope: 'read' },
  decideSuggestions: { method: 'POST', path: '/issues/:issue_id/suggestions/decide', caller: 'member' },
  listTriage: { method: 'GET', path: '/triage', caller: 'member' },
  watchIssue: { method: 'PUT', path: '/issues/:issue_id/watch', caller: 'member' },
  unwatchIssue: { method: 'DELETE', path: '/issues/:issue_id/watch', caller: 'member' },

  listTemplates: { method: 'GET', path: '/templates', caller: 'member or app', scope: 'read' },
  createTemplate: { method: 'POST', path: '/templates', caller: 'member' },
  updateTemplate: { method: 'PUT', path: '/templates/:template_id', caller: 'member' },
  deleteTemplate: { method: 'DELETE', path: '/templates/:template_id', caller: 'member' },

  listAutomations: { method: 'GET', path: '/automations', caller: 'member' },
  createAutomation: { method: 'POST', path: '/automations', caller: 'member' },
  tryAutomation: { method: 'POST', path: '/automations/try', caller: 'member' },
  getAutomation: { method: 'GET', path: '/automations/:automation_id', caller: 'member' },
  updateAutomation: { method: 'PUT', path: '/automations/:automation_id', caller: 'member' },
  deleteAutomation: { method: 'DELETE', path: '/automations/:automation_id', caller: 'member' },
  enableAutomation: { method: 'POST', path: '/automations/:automation_id/enable', caller: 'member' },
  disableAutomation: { method: 'POST', path: '/automations/:automation_id/disable', caller: 'member' },
  takeOverAutomation: { method: 'POST', path: '/automations/:automation_id/take-over', caller: 'manager' },
  runAutomation: { method: 'POST', path: '/automations/:automation_id/run', caller: 'member' },
  listAutomationRuns: { method: 'GET', path: '/automations/:automation_id/runs', caller: 'member' },

  listProjects: { method: 'GET', path: '/projects', caller: 'member or app', scope: 'read' },
  createProject: { method: 'POST', path: '/projects', caller: 'member or app', scope: 'write' },
  getProject: { method: 'GET', path: '/projects/:project_id', caller: 'member or app', scope: 'read' },
  updateProject: { method: 'PUT', path: '/projects/:project_id', caller: 'member or app', scope: 'write' },
  deleteProject: { method: 'DELETE', path: '/projects/:project_id', caller: 'member or app', scope: 'write' },

  listComments: { method: 'GET', path: '/comments', caller: 'member or app', scope: 'read' },
  createComment: { method: 'POST', path: '/comments', caller: 'member or app', scope: 'comments:create' },
  searchComments: { method: 'GET', path: '/comments/search', caller: 'member' },
  getComment: { method: 'GET', path: '/comments/:comment_id', caller: 'member or app', scope: 'read' },
  updateComment: { method: 'PUT', path: '/comments/:comment_id', caller: 'member or app', scope: 'write' },
  deleteComment: { method: 'DELETE', path: '/comments/:comment_id', caller: 'member or app', scope: 'write' },
  listReactions: { method: 'GET', path: '/reactions', caller: 'member or app', scope: 'read' },
  addReaction: {
    method: 'PUT',
    path: '/comments/:comment_id/reactions/:name',
    caller: 'member or app',
    scope: 'write',
  },
  removeReaction: {
    method: 'DELETE',
    path: '/comments/:comment_id/reactions/:name',
    caller: 'member or app',
    scope: 'write',
  },

  uploadFile: { method: 'POST', path: '/files', caller: 'member or app', scope: 'write', raw: true },
  uploadSessionFile: {
    method: 'POST',
    path: '/agent-sessions/:session_id/files',
    caller: 'app',
    scope: null,
    raw: true,
  },
  getFile: { method: 'GET', path: '/files/:file_id', caller: 'member or app', scope: 'read' },
  getFileContent: {
    method: 'GET',
    path: '/files/:file_id/content',
    caller: 'member or app',
    scope: 'read',
    workspaceInQuery: true,
  },
  createFileLink: { method: 'POST', path: '/files/:file_id/link', caller: 'member or app', scope: 'read' },
  openFileLink: { method: 'GET', path: '/f/:token', at: 'root', caller: 'anyone' },
  deleteFile: { method: 'DELETE', path: '/files/:file_id', caller: 'member or app', scope: 'write' },
  listProjectFiles: { method: 'GET', path: '/projects/:project_id/files', caller: 'member or app', scope: 'read' },
  getStorage: { method: 'GET', path: '/workspaces/me/storage', caller: 'manager' },

  listLabels: { method: 'GET', path: '/labels', caller: 'member or app', scope: 'read' },
  createLabel: { method: 'POST', path: '/labels', caller: 'member or app', scope: 'write' },
  getLabel: { method: 'GET', path: '/labels/:label_id', caller: 'member or app', scope: 'read' },
  updateLabel: { method: 'PUT', alsoBy: 'PATCH', path: '/labels/:label_id', caller: 'member or app', scope: 'write' },
  deleteLabel: { method: 'DELETE', path: '/labels/:label_id', caller: 'member or app', scope: 'write' },
  mergeLabel: { method: 'POST', path: '/labels/:label_id/merge', caller: 'member' },

  listMilestones: { method: 'GET', path: '/milestones', caller: 'member or app', scope: 'read' },
  createMilestone: { method: 'POST', path: '/milestones', caller: 'member or app', scope: 'write' },
  getMilestone: { method: 'GET', path: '/milestones/:milestone_id', caller: 'member or app', scope: 'read' },
  updateMilestone: {
    method: 'PUT',
    alsoBy: 'PATCH',
    path: '/milestones/:milestone_id',
    caller: 'member or app',
    scope: 'write',
  },
  deleteMilestone: { method: 'DELETE', path: '/milestones/:milestone_id', caller: 'member or app', scope: 'write' },

  listCycles: { method: 'GET', path: '/cycles', caller: 'member or app', scope: 'read' },
  createCycle: { method: 'POST', path: '/cycles', caller: 'member or app', scope: 'write' },
  getCycle: { method: 'GET', path: '/cycles/:cycle_id', caller: 'member or app', scope: 'read' },
  updateCycle: { method: 'PUT', alsoBy: 'PATCH', path: '/cycles/:cycle_id', caller: 'member or app', scope: 'write' },
  deleteCycle: { method: 'DELETE', path: '/cycles/:cycle_id', caller: 'member or app', scope: 'write' },

  listInitiatives: { method: 'GET', path: '/initiatives', caller: 'member or app', scope: 'read' },
  createInitiative: { method: 'POST', path: '/initiatives', caller: 'member or app', scope: 'write' },
  getInitiative: { method: 'GET', path: '/initiatives/:initiative_id', caller: 'member or app', scope: 'read' },
  updateInitiative: {
    method: 'PUT',
    alsoBy: 'PATCH',
    path: '/initiatives/:initiative_id',
    caller: 'member or app',
    scope: 'write',
  },
  deleteInitiative: { method: 'DELETE', path: '/initiatives/:initiative_id', caller: 'member or app', scope: 'write' },

  // Saved views of the issues screen
  listViews: { method: 'GET', path: '/views', caller: 'member' },
  createView: { method: 'POST', path: '/views', caller: 'member' },
  updateView: { method: 'PUT', path: '/views/:view_id', caller: 'member' },
  deleteView: { method: 'DELETE', path: '/views/:view_id', caller: 'member' },

  // Events that are delivered
  listEventTypes: { method: 'GET', path: '/event-types', caller: 'anyone' },

  // Workspace webhooks
  listWebhooks: { method: 'GET', path: '/webhooks', caller: 'manager' },
  createWebhook: { method: 'POST', path: '/webhooks', caller: 'manager' },
  getWebhook: { method: 'GET', path: '/webhooks/:webhook_id', caller: 'manager' },
  updateWebhook: { method: 'PATCH', path: '/webhooks/:webhook_id', caller: 'manager' },
  deleteWebhook: { method: 'DELETE', path: '/webhooks/:webhook_id', caller: 'manager' },
  getWebhookSecret: { method: 'GET', path: '/webhooks/:webhook_id/secret', caller: 'manager' },
  rotateWebhookSecret: { method: 'POST', path: '/webhooks/:webhook_id/secret', caller: 'manager' },
  finishWebhookRotation: { method: 'POST', path: '/webhooks/:webhook_id/secret/finish', caller: 'manager' },
  testWebhook: { method: 'POST', path: '/webhooks/:webhook_id/test', caller: 'manager' },
  enableWebhook: { method: 'POST', path: '/webhooks/:webhook_id/enable', caller: 'manager' },
  disableWebhook: { method: 'POST', path: '/webhooks/:webhook_id/disable', caller: 'manager' },
  getWebhookHealth: { method: 'GET', path: '/webhooks/:webhook_id/health', caller: 'manager' },
  listWebhookDeliveries: { method: 'GET', path: '/webhooks/:webhook_id/deliveries', caller: 'manager' },
  getWebhookDelivery: { method: 'GET', path: '/webhooks/:webhook_id/deliveries/:delivery_id', caller: 'manager' },
  redeliverToWebhook: {
    method: 'POST',
    path: '/webhooks/:webhook_id/deliveries/:delivery_id/redeliver',
    caller: 'manager',
  },

  startWebhookReplay: { method: 'POST', path: '/webhooks/:webhook_id/replays', caller: 'manager' },
  listWebhookReplays: { method: 'GET', path: '/webhooks/:webhook_id/replays', caller: 'manager' },
  getWebhookReplay: { method: 'GET', path: '/webhooks/:webhook_id/replays/:replay_id', caller: 'manager' },
  stopWebhookReplay: { method: 'DELETE', path: '/webhooks/:webhook_id/replays/:replay_id', caller: 'manager' },

  // Agent apps
  getManifestSchema: {
    method: 'GET',
    path: '/.well-known/agent-app-manifest.schema.json',
    at: 'root',
    caller: 'anyone',
  },
  createAgentApp: { method: 'POST', path: '/agent-apps', caller: 'member' },
  inspectA2aCard: { method: 'POST', path: '/agent-apps/a2a/inspect', caller: 'manager' },
  createA2aApp: { method: 'POST', path: '/agent-apps/a2a', caller: 'manager' },
  refreshA2aCard: { method: 'POST', path: '/agent-apps/:app_id/a2a/card', caller: 'manager' },
  setA2aCredential: { method: 'PUT', path: '/agent-apps/:app_id/a2a/credential', caller: 'manager' },
  listA2aTasks: { method: 'GET', path: '/agent-apps/:app_id/a2a/tasks', caller: 'member' },
  listAgentApps: { method: 'GET', path: '/agent-apps', caller: 'member' },
  getAgentApp: { method: 'GET', path: '/agent-apps/:app_id', caller: 'member' },
  getAppSetup: { method: 'GET', path: '/agent-apps/:app_id/setup', caller: 'member' },
  replaceAgentApp: { method: 'PUT', path: '/agent-apps/:app_id', caller: 'manager' },
  deleteAgentApp: { method: 'DELETE', path: '/agent-apps/:app_id', caller: 'manager' },
  rotateClientSecret: { method: 'POST', path: '/agent-apps/:app_id/secret', caller: 'member' },
  rotateAppWebhookSecret: { method: 'POST', path: '/agent-apps/:app_id/webhook-secret', caller: 'member' },
  finishAppRotation: { method: 'POST', path: '/agent-apps/:app_id/webhook-secret/finish', caller: 'member' },
  testAppWebhook: { method: 'POST', path: '/agent-apps/:app_id/webhook/test', caller: 'member' },
  enableAppWebhook: { method: 'POST', path: '/agent-apps/:app_id/webhook/enable', caller: 'member' },
  disableAppWebhook: { method: 'POST', path: '/agent-apps/:app_id/webhook/disable', caller: 'member' },
  getAppWebhookHealth: { method: 'GET', path: '/agent-apps/:app_id/webhook/health', caller: 'member' },
  listAppDeliveries: { method: 'GET', path: '/agent-apps/:app_id/deliveries', caller: 'member' },
  getAppDelivery: { method: 'GET', path: '/agent-apps/:app_id/deliveries/:delivery_id', caller: 'member' },
  redeliverToApp: {
    method: 'POST',
    path: '/agent-apps/:app_id/deliveries/:delivery_id/redeliver',
    caller: 'member',
  },
  startAppReplay: { method: 'POST', path: '/agent-apps/:app_id/replays', caller: 'member' },
  listAppReplays: { method: 'GET', path: '/agent-apps/:app_id/replays', caller: 'member' },
  getAppReplay: { method: 'GET', path: '/agent-apps/:app_id/replays/:replay_id', caller: 'member' },
  stopAppReplay: { method: 'DELETE', path: '/agent-apps/:app_id/replays/:replay_id', caller: 'member' },
  listenToApp: { method: 'GET', path: '/agent-apps/:app_id/listen', caller: 'member', stream: true, writes: true },
  answerAttempt: { method: 'POST', path: '/agent-apps/:app_id/listen/:attempt_id', caller: 'member' },
  listenAsApp: { method: 'GET', path: '/listen', caller: 'app', scope: null, stream: true, writes: true },
  answerAsApp: { method: 'POST', path: '/listen/:attempt_id', caller: 'app', scope: null },
  getAppUsage: { method: 'GET', path: '/agent-apps/:app_id/usage', caller: 'member' },
  setAppBudget: { method: 'PUT', path: '/agent-apps/:app_id/budget', caller: 'manager' },
  installApp: { method: 'POST', path: '/agent-apps/:app_id/install', caller: 'manager' },
  requestInstall: { method: 'POST', path: '/agent-apps/:app_id/install-request', caller: 'member' },
  listInstallations: { method: 'GET', path: '/installations', caller: 'member' },
  getInstallation: { method: 'GET', path: '/installations/:installation_id', caller: 'member' },
  updateInstallation: { method: 'PATCH', path: '/installations/:installation_id', caller: 'manager' },
  deleteInstallation: { method: 'DELETE', path: '/installations/:installation_id', caller: 'manager' },
  getAppIcon: { method: 'GET', path: '/agent-apps/:app_id/icon', caller: 'anyone' },

  // Agents and users to choose from
  listAgents: { method: 'GET', path: '/agents', caller: 'member or app', scope: 'read' },
  selectUsers: { method: 'GET', path: '/users/select', caller: 'member or app', scope: 'read' },
  listNames: { method: 'GET', path: '/users/names', caller: 'member' },
  getUser: { method: 'GET', path: '/users/:user_id', caller: 'member or app', scope: 'read' },

  // The model of the built-in and personal agents
  getModelStatus: { method: 'GET', path: '/agents/model', caller: 'manager' },

  // Personal agents
  listPersonalAgents: { method: 'GET', path: '/agents/personal', caller: 'member' },
  createPersonalAgent: { method: 'POST', path: '/agents/personal', caller: 'member' },
  updatePersonalAgent: { method: 'PATCH', path: '/agents/personal/:agent_id', caller: 'member' },
  deletePersonalAgent: { method: 'DELETE', path: '/agents/personal/:agent_id', caller: 'member' },

  // Agent sessions: an app can always access its own, whatever its scopes
  listAgentSessions: {
    method: 'GET',
    path: '/agent-sessions',
    caller: 'member or app',
    scope: null,
    programScope: 'read',
  },
  openAgentSession: { method: 'POST', path: '/agent-sessions', caller: 'app', scope: null },
  getAgentSession: {
    method: 'GET',
    path: '/agent-sessions/:session_id',
    caller: 'member or app',
    scope: null,
    programScope: 'read',
  },
  updateAgentSession: { method: 'PATCH', path: '/agent-sessions/:session_id', caller: 'app', scope: null },
  getSessionChanges: {
    method: 'GET',
    path: '/agent-sessions/:session_id/changes',
    caller: 'member or app',
    scope: null,
    programScope: 'read',
  },
  setSessionChanges: { method: 'PUT', path: '/agent-sessions/:session_id/changes', caller: 'app', scope: null },
  suggestChanges: { method: 'POST', path: '/agent-sessions/:session_id/suggestions', caller: 'app', scope: null },
  stopAgentSession: { method: 'POST', path: '/agent-sessions/:session_id/stop', caller: 'member' },
  watchAgentSession: {
    method: 'GET',
    path: '/agent-sessions/:session_id/stream',
    caller: 'member',
    stream: true,
  },
  listActivities: {
    method: 'GET',
    path: '/agent-sessions/:session_id/activities',
    caller: 'member or app',
    scope: null,
    programScope: 'read',
  },
  postActivity: {
    method: 'POST',
    path: '/agent-sessions/:session_id/activities',
    caller: 'member or app',
    scope: null,
    programScope: 'write',
  },

  // Export and restore
  listExports: { method: 'GET', path: '/exports', caller: 'manager' },
  createExport: { method: 'POST', path: '/exports', caller: 'manager', recent: true, whilePendingDeletion: true },
  getExport: { method: 'GET', path: '/exports/:export_id', caller: 'manager' },
  deleteExport: { method: 'DELETE', path: '/exports/:export_id', caller: 'manager', whilePendingDeletion: true },
  createExportLink: {
    method: 'POST',
    path: '/exports/:export_id/link',
    caller: 'manager',
    recent: true,
    whilePendingDeletion: true,
  },
  downloadExport: { method: 'GET', path: '/exports/:token', at: 'root', caller: 'anyone' },
  createRestore: { method: 'POST', path: '/restores', caller: 'person', recent: true, raw: true },
  getRestore: { method: 'GET', path: '/restores/:restore_id', caller: 'person' },

  // Git
  listGitConnections: { method: 'GET', path: '/git-connections', caller: 'manager' },
  createGitConnection: { method: 'POST', path: '/git-connections', caller: 'manager' },
  getGitConnection: { method: 'GET', path: '/git-connections/:connection_id', caller: 'manager' },
  updateGitConnection: { method: 'PATCH', path: '/git-connections/:connection_id', caller: 'manager' },
  deleteGitConnection: { method: 'DELETE', path: '/git-connections/:connection_id', caller: 'manager' },
  rotateGitSecret: { method: 'POST', path: '/git-connections/:connection_id/secret', caller: 'manager' },
  listGitDeliveries: { method: 'GET', path: '/git-connections/:connection_id/deliveries', caller: 'manager' },
  receiveGitHook: { method: 'POST', path: '/hooks/git/:connection_id', at: 'root', caller: 'anyone' },
  listPullRequests: { method: 'GET', path: '/pull-requests', caller: 'member or app', scope: 'read' },
  linkPullRequest: { method: 'PUT', path: '/issues/:issue_id/pull-requests/:pull_request_id', caller: 'member' },
  unlinkPullRequest: { method: 'DELETE', path: '/issues/:issue_id/pull-requests/:pull_request_id', caller: 'member' },
  getGitAutomation: { method: 'GET', path: '/teams/:team_id/git-automation', caller: 'member' },
  setGitAutomation: { method: 'PUT', path: '/teams/:team_id/git-automation', caller: 'manager' },

  // Imports
  listImports: { method: 'GET', path: '/imports', caller: 'manager' },
  createImport: { method: 'POST', path: '/imports', caller: 'manager' },
  getImport: { method: 'GET', path: '/imports/:import_id', caller: 'manager' },
  updateImport: { method: 'PATCH', path: '/imports/:import_id', caller: 'manager' },
  deleteImport: { method: 'DELETE', path: '/imports/:import_id', caller: 'manager' },
  addImportFile: { method: 'POST', path: '/imports/:import_id/files', caller: 'manager', raw: true },
  readImport: { method: 'POST', path: '/imports/:import_id/read', caller: 'manager' },
  startImport: { method: 'POST', path: '/imports/:import_id/start', caller: 'manager' },
  cancelImport: { method: 'POST', path: '/imports/:import_id/cancel', caller: 'manager' },
  listImportProblems: { method: 'GET', path: '/imports/:import_id/problems', caller: 'manager' },
  listPlaceholders: { method: 'GET', path: '/placeholders', caller: 'manager' },
  assignPlaceholder: { method: 'POST', path: '/placeholders/:placeholder_id/assign', caller: 'manager' },

  // OAuth
  authorize: { method: 'GET', path: '/oauth/authorize', caller: 'anyone or person' },
  issueToken: { method: 'POST', path: '/oauth/token', caller: 'anyone' },
  revokeToken: { method: 'POST', path: '/oauth/revoke', caller: 'anyone' },
  registerClient: { method: 'POST', path: '/oauth/register', caller: 'anyone' },
  getServerMetadata: { method: 'GET', path: '/.well-known/oauth-authorization-server', at: 'root', caller: 'anyone' },
  getResourceMetadata: { method: 'GET', path: '/.well-known/oauth-protected-resource', at: 'root', caller: 'anyone' },
  getMcpResourceMetadata: {
    method: 'GET',
    path: '/.well-known/oauth-protected-resource/mcp',
    at: 'root',
    caller: 'anyone',
  },
  getConsentRequest: { method: 'GET', path: '/oauth/requests/:request_id', caller: 'person' },
  approveConsent: { method: 'POST', path: '/oauth/requests/:request_id/approve', caller: 'person' },
  denyConsent: { method: 'POST', path: '/oauth/requests/:request_id/deny', caller: 'person' },

  // MCP: the operations as tools for models
  callMcp: {
    method: 'POST',
    path: '/mcp',
    at: 'root',
    caller: 'member or app',
    scope: null,
    mcp: true,
    // Each tool call is checked again, by its own route.
    whilePendingDeletion: true,
  },

  // Linear's API, for agent apps with `compat: "linear"`
  linearGraphql: {
    method: 'POST',
    path: '/linear/graphql',
    at: 'root',
    caller: 'app',
    scope: null,
    linear: true,
    // Each mutation is checked again, by its own route.
    whilePendingDeletion: true,
  },
  linearAuthorize: { method: 'GET', path: '/linear/oauth/authorize', at: 'root', caller: 'anyone or person' },
  linearToken: { method: 'POST', path: '/linear/oauth/token', at: 'root', caller: 'anyone' },
  linearRevoke: { method: 'POST', path: '/linear/oauth/revoke', at: 'root', caller: 'anyone' },

  // Reviews of what agents delivered
  listReviews: { method: 'GET', path: '/reviews', caller: 'member' },
  getReview: { method: 'GET', path: '/reviews/:review_id', caller: 'member' },
  acceptReview: { method: 'POST', path: '/reviews/:review_id/accept', caller: 'member' },
  sendBackReview: { method: 'POST', path: '/reviews/:review_id/send-back', caller: 'member' },
  getTeamReview: { method: 'GET', path: '/teams/:team_id/review', caller: 'member' },
  setTeamReview: { method: 'PUT', path: '/teams/:team_id/review', caller: 'manager' },

  // Inbox
  listInbox: { method: 'GET', path: '/inbox', caller: 'member' },
  updateInboxEntry: { method: 'PATCH', path: '/inbox/:entry_id', caller: 'member' },
  readInbox: { method: 'POST', path: '/inbox/read', caller: 'member' },
  listInboxThreads: { method: 'GET', path: '/inbox/threads', caller: 'member' },
  updateInboxThread: { method: 'PATCH', path: '/inbox/threads/:subject_id', caller: 'member' },
  archiveReadThreads: { method: 'POST', path: '/inbox/threads/archive-read', caller: 'member' },

  // Notifications by mail
  getNotificationSettings: { method: 'GET', path: '/notification-settings', caller: 'member' },
  setNotificationSettings: { method: 'PUT', path: '/notification-settings', caller: 'member' },
  setPresence: { method: 'PUT', path: '/presence', caller: 'member' },
  unsubscribe: { method: 'POST', path: '/mail/unsubscribe/:token', at: 'root', caller: 'anyone' },

  // Live updates
  watchWorkspace: { method: 'GET', path: '/live', caller: 'member', stream: true },

  // Insights
  getAgentInsights: { method: 'GET', path: '/insights/agents', caller: 'manager' },
  exportAgentInsights: { method: 'GET', path: '/insights/agents/export', caller: 'manager' },
  getDeliveryInsights: { method: 'GET', path: '/insights/deliveries', caller: 'manager' },
  getFlowInsights: { method: 'GET', path: '/insights/flow', caller: 'member' },
  exportFlowInsights: { method: 'GET', path: '/insights/flow/export', caller: 'member' },
  getCycleInsights: { method: 'GET', path: '/insights/cycles/:cycle_id', caller: 'member' },

  // Audit log
  listAuditEntries: { method: 'GET', path: '/audit-log', caller: 'manager' },
  exportAuditEntries: { method: 'GET', path: '/audit-log/export', caller: 'manager' },
} as const satisfies Record<string, Route>

export type RouteName = keyof typeof routes

/** Routes whose bodies are JSON or forms: neither streams nor uploads. */
export type CallName = {
  [Name in RouteName]: (typeof routes)[Name] extends { stream: true } | { raw: true } ? never : Name
}[RouteName]

export const callNames = (Object.keys(routes) as RouteName[]).filter(
  (name): name is CallName => !('stream' in routes[name]) && !('raw' in routes[name]),
)

/** Whether the route runs in a workspace. */
export const inWorkspace = (caller: Caller) => ['member', 'manager', 'member or app', 'app'].includes(caller)

/** Whether the route changes data of its workspace, so that it is refused while the deletion of that is pending. */
export const isRefusedWhilePendingDeletion = ({ method, writes, caller, whilePendingDeletion }: Route) =>
  inWorkspace(caller) && (method !== 'GET' || Boolean(writes)) && !whilePendingDeletion

/** Routes that people and monitors open by address, outside the versioned API. They ignore unknown query parameters. */
export const isPage = ({ method, at, caller }: Pick<Route, 'method' | 'at' | 'caller'>) =>
  at === 'root' && method === 'GET' && caller === 'anyone'

/** Routes that count towards the request limit per installation. */
export const isAgentSessionApi = ({ path, at }: Pick<Route, 'path' | 'at'>) =>
  !at && /^\/agent-sessions(\/|$)/.test(path)

/** `/teams/:team_id` has the parameter `team_id`. */
export type PathParams<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [K in Name]: string } & PathParams<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { [K in Name]: string }
    : unknown

export const pathParams = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string)
