import type { Route } from './routes.ts'

/** A kind of item. Each has a page in the reference. */
export interface Noun {
  /** The name in addresses. */
  name: string
  title: string
  /** What it is, in one sentence. */
  line: string
  /** The title of its schema. */
  schema: string | null
  /** Its routes are those below these paths, unless another noun has a longer path. */
  paths: readonly string[]
}

export const nouns: readonly Noun[] = [
  {
    name: 'accounts',
    title: 'Accounts',
    line: 'Sign up, sign in and out, change the password, and find out who is calling.',
    schema: 'Person',
    paths: ['/auth'],
  },
  {
    name: 'single-sign-on',
    title: 'Single sign-on',
    line: 'Sign in through an identity provider of the instance, by OpenID Connect.',
    schema: null,
    paths: ['/auth/sso', '/auth/identities', '/sso'],
  },
  {
    name: 'passkeys',
    title: 'Passkeys',
    line: 'A passkey signs a person in with the lock of their device instead of a password.',
    schema: 'Passkey',
    paths: ['/auth/passkeys', '/auth/passkey-sign-in', '/auth/reauth/passkey'],
  },
  {
    name: 'logins',
    title: 'Logins',
    line: 'Where a person is signed in: browsers and command line programs.',
    schema: 'LoginRecord',
    paths: ['/auth/logins', '/auth/cli-logins'],
  },
  {
    name: 'programs',
    title: 'Connected programs',
    line: 'Programs that act for a person in one workspace, such as MCP clients.',
    schema: 'Program',
    paths: ['/auth/programs'],
  },
  {
    name: 'personal-tokens',
    title: 'Personal tokens',
    line: 'A personal token lets a script act as a person in one workspace, with chosen scopes and teams.',
    schema: 'PersonalToken',
    paths: ['/personal-tokens', '/workspaces/me/personal-tokens'],
  },
  {
    name: 'exports',
    title: 'Exports and restores',
    line: 'An export is an archive of everything that a workspace shares; a restore makes a new workspace of one.',
    schema: 'Export',
    paths: ['/exports', '/restores'],
  },
  {
    name: 'workspaces',
    title: 'Workspaces',
    line: 'A workspace contains teams, issues, projects and agents, and is separate from all others.',
    schema: 'Workspace',
    paths: ['/workspaces'],
  },
  {
    name: 'members',
    title: 'Members',
    line: 'The people of a workspace and their roles.',
    schema: 'Member',
    paths: ['/workspaces/me/members'],
  },
  {
    name: 'invitations',
    title: 'Invitations',
    line: 'An invitation lets a person join a workspace, once and within seven days.',
    schema: 'Invitation',
    paths: ['/workspaces/me/invitations', '/invitations'],
  },
  {
    name: 'mail',
    title: 'Mail',
    line: 'Whether the instance sends mail, and a test of it.',
    schema: 'MailStatus',
    paths: ['/mail'],
  },
  {
    name: 'teams',
    title: 'Teams',
    line: 'A team has members, issues with its own key, and guidance for the agents that work for it.',
    schema: 'Team',
    paths: ['/teams'],
  },
  {
    name: 'users',
    title: 'Users',
    line: 'People and agents that issues can be assigned or delegated to.',
    schema: 'Choice',
    paths: ['/users'],
  },
  {
    name: 'issues',
    title: 'Issues',
    line: 'An issue is a piece of work with a status, an accountable person and possibly an agent.',
    schema: 'Issue',
    paths: ['/issues', '/issues.csv'],
  },
  {
    name: 'templates',
    title: 'Templates',
    line: 'A template prefills the form of a new issue, for a team or the whole workspace.',
    schema: 'IssueTemplate',
    paths: ['/templates'],
  },
  {
    name: 'automations',
    title: 'Automations',
    line: 'An automation acts for its owner on a schedule, when an issue changes, or when an agent session ends.',
    schema: 'Automation',
    paths: ['/automations'],
  },
  {
    name: 'projects',
    title: 'Projects',
    line: 'A project groups issues of several teams towards a goal.',
    schema: 'Project',
    paths: ['/projects'],
  },
  {
    name: 'comments',
    title: 'Comments',
    line: 'Threads on issues and projects; a mention of an agent gives it work.',
    schema: 'Comment',
    paths: ['/comments', '/reactions'],
  },
  {
    name: 'files',
    title: 'Files',
    line: 'Uploaded files, shown in descriptions, comments and agent sessions.',
    schema: 'File',
    paths: [
      '/files',
      '/f',
      '/agent-sessions/:session_id/files',
      '/projects/:project_id/files',
      '/workspaces/me/storage',
    ],
  },
  { name: 'labels', title: 'Labels', line: 'Labels sort issues and projects.', schema: 'Label', paths: ['/labels'] },
  {
    name: 'milestones',
    title: 'Milestones',
    line: 'A milestone is a step of a project.',
    schema: 'Milestone',
    paths: ['/milestones'],
  },
  { name: 'cycles', title: 'Cycles', line: 'A cycle is a period of a team.', schema: 'Cycle', paths: ['/cycles'] },
  {
    name: 'initiatives',
    title: 'Initiatives',
    line: 'An initiative groups projects.',
    schema: 'Initiative',
    paths: ['/initiatives'],
  },
  {
    name: 'views',
    title: 'Views',
    line: 'A view is a saved setup of the issues screen, private or shared.',
    schema: 'View',
    paths: ['/views'],
  },
  {
    name: 'inbox',
    title: 'Inbox',
    line: 'What a person should look at: mentions, assignments, news of watched issues, and agents that need an answer or have finished.',
    schema: 'InboxEntry',
    paths: ['/inbox'],
  },
  {
    name: 'inbox-threads',
    title: 'Inbox threads',
    line: 'A thread groups the inbox entries of a person about one issue, project, webhook, app or team.',
    schema: 'InboxThread',
    paths: ['/inbox/threads'],
  },
  {
    name: 'notifications',
    title: 'Notifications',
    line: 'Which inbox entries are mailed to a person, and when.',
    schema: 'NotificationSettings',
    paths: ['/notification-settings', '/presence', '/mail/unsubscribe'],
  },
  {
    name: 'agent-sessions',
    title: 'Agent sessions',
    line: 'An agent session is the work of one agent on one issue, project or thread, with all its activities.',
    schema: 'AgentSession',
    paths: ['/agent-sessions'],
  },
  {
    name: 'suggestions',
    title: 'Suggestions',
    line: 'A suggestion is a change of an issue that an agent proposes and a person decides.',
    schema: 'Suggestion',
    paths: ['/issues/:issue_id/suggestions', '/agent-sessions/:session_id/suggestions', '/triage'],
  },
  {
    name: 'reviews',
    title: 'Reviews',
    line: 'A review is the decision of a person about what an agent delivered for a delegated issue.',
    schema: 'Review',
    paths: ['/reviews', '/teams/:team_id/review'],
  },
  {
    name: 'agents',
    title: 'Agents',
    line: 'The agents of a workspace, and whether work can be delegated to them.',
    schema: 'Choice',
    paths: ['/agents'],
  },
  {
    name: 'personal-agents',
    title: 'Personal agents',
    line: 'Agents that a member creates for personal use, with instructions for the configured model.',
    schema: 'PersonalAgent',
    paths: ['/agents/personal'],
  },
  {
    name: 'agent-apps',
    title: 'Agent apps',
    line: 'An agent app is a program of another developer, registered with a manifest.',
    schema: 'AgentApp',
    paths: ['/agent-apps', '/.well-known/agent-app-manifest.schema.json'],
  },
  {
    name: 'installations',
    title: 'Installations',
    line: 'An installation gives an agent app access to teams of a workspace.',
    schema: 'Installation',
    paths: ['/installations'],
  },
  {
    name: 'listening',
    title: 'Listening',
    line: 'A developer, or the app itself, receives the deliveries of an app in place of its URL.',
    schema: 'RelayedAttempt',
    paths: ['/agent-apps/:app_id/listen', '/listen'],
  },
  {
    name: 'oauth',
    title: 'OAuth',
    line: 'How agent apps and programs get access, by OAuth 2.1 with PKCE.',
    schema: 'TokenResponse',
    paths: ['/oauth', '/.well-known'],
  },
  {
    name: 'consent',
    title: 'Consent',
    line: 'What a person sees and decides when an agent app or program asks for access.',
    schema: 'ConsentRequest',
    paths: ['/oauth/requests'],
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    line: 'A webhook sends events of a workspace to your server.',
    schema: 'Webhook',
    paths: ['/webhooks', '/event-types'],
  },
  {
    name: 'deliveries',
    title: 'Deliveries',
    line: 'A delivery is one event on its way to a webhook or an app, with all its attempts.',
    schema: 'Delivery',
    paths: ['/webhooks/:webhook_id/deliveries', '/agent-apps/:app_id/deliveries'],
  },
  {
    name: 'replays',
    title: 'Replays',
    line: 'A replay sends past events of a webhook again: those that failed, or that it missed.',
    schema: 'Replay',
    paths: ['/webhooks/:webhook_id/replays', '/agent-apps/:app_id/replays'],
  },
  {
    name: 'git-connections',
    title: 'Git connections',
    line: 'A git connection receives pull requests and branches of repositories on GitHub, GitLab, Gitea or Forgejo.',
    schema: 'GitConnection',
    paths: ['/git-connections', '/hooks/git', '/teams/:team_id/git-automation'],
  },
  {
    name: 'pull-requests',
    title: 'Pull requests',
    line: 'A pull request of a connected repository, with the issues it is linked to.',
    schema: 'PullRequest',
    paths: ['/pull-requests', '/issues/:issue_id/pull-requests'],
  },
  {
    name: 'imports',
    title: 'Imports',
    line: 'An import brings issues from Linear, GitHub, Jira or a CSV file into the workspace.',
    schema: 'Import',
    paths: ['/imports'],
  },
  {
    name: 'placeholders',
    title: 'Placeholders',
    line: 'A placeholder is a person of imported data who is not a member.',
    schema: 'Placeholder',
    paths: ['/placeholders'],
  },
  {
    name: 'live-updates',
    title: 'Live updates',
    line: 'A stream that names every item that changes, for clients that show a workspace.',
    schema: 'LiveChange',
    paths: ['/live'],
  },
  {
    name: 'insights',
    title: 'Insights',
    line: 'How agents, deliveries, issues and cycles did over time, without naming any person.',
    schema: null,
    paths: ['/insights'],
  },
  {
    name: 'audit-log',
    title: 'Audit log',
    line: 'Who changed settings, access and secrets of a workspace, and when.',
    schema: 'AuditEntry',
    paths: ['/audit-log'],
  },
  {
    name: 'mcp',
    title: 'MCP',
    line: 'The API as tools for models, over the Model Context Protocol.',
    schema: 'JsonRpcResult',
    paths: ['/mcp'],
  },
  {
    name: 'linear',
    title: 'Linear',
    line: "Linear's API, for agents that were written for Linear.",
    schema: 'GraphqlAnswer',
    paths: ['/linear'],
  },
  {
    name: 'instance',
    title: 'Instance',
    line: 'The service itself: its state, its version, its description and its documentation.',
    schema: 'Instance',
    paths: [''],
  },
]

/** The noun with the longest path that the route is below. */
export function nounOf({ path }: Pick<Route, 'path'>): Noun {
  const length = ({ paths }: Noun) =>
    Math.max(-1, ...paths.filter((one) => path === one || path.startsWith(`${one}/`)).map((one) => one.length))
  return nouns.reduce((best, noun) => (length(noun) > length(best) ? noun : best))
}
