import type { Route } from '@baton/protocol'

/** The nouns of the API, by the first word of their paths. */
const nouns: Record<string, string> = {
  auth: 'Your account, your logins and the programs you connected',
  workspaces: 'Workspaces, their members, roles and invitations',
  invitations: 'Accepting an invitation to a workspace',
  teams: 'Teams, their members, guidance and repositories',
  users: 'People and agents to choose from',
  issues: 'Work to be done, with its history',
  projects: 'Groups of issues with a goal, members and progress',
  comments: 'Threads on issues and projects',
  labels: 'Labels of issues and projects',
  milestones: 'Steps of a project',
  cycles: 'Time periods of a team',
  initiatives: 'Groups of projects',
  views: 'Saved setups of the issues screen',
  inbox: 'Notifications for a person',
  live: 'Hints about changes in a workspace, as server-sent events',
  agents: 'Agents of a workspace, and personal agents',
  'agent-sessions': 'The work of an agent on an issue or project, and its activities',
  'agent-apps': 'Registered agent apps, their secrets, webhooks and deliveries',
  installations: 'Which teams and scopes an agent app has',
  webhooks: 'Webhooks of a workspace and their deliveries',
  'audit-log': 'Changes of access and settings',
  oauth: 'Authorization of agent apps and programs',
  mcp: 'The API as tools for models',
  instance: 'The service itself: health, metrics, documentation',
}

export const tags = Object.entries(nouns).map(([name, description]) => ({ name, description }))

/** Paths below `.well-known` belong to a noun too; everything else outside the API is about the instance. */
export function tagOf({ path, at }: Pick<Route, 'path' | 'at'>): string {
  if (path.startsWith('/.well-known/oauth')) return 'oauth'
  if (path.startsWith('/.well-known/agent-app')) return 'agent-apps'
  const [word = ''] = path.slice(1).split('/')
  return word in nouns && (at !== 'root' || word === 'mcp') ? word : 'instance'
}
