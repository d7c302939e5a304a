import type { AppScope } from '@baton/protocol/routes'

interface Words {
  /** Where whoever builds the app chooses it. */
  short: string
  can: string
  /** What its lack keeps the app from. */
  cannot: string
  /** 5.6: who has this has those too. */
  implies?: AppScope[]
}

/** What a scope lets an app do. */
export const scopeWords: Record<AppScope, Words> = {
  read: {
    short: 'Read what its teams can read',
    can: 'Read issues, projects, comments and members of the teams you choose',
    cannot: 'Read anything beyond the work it is given',
  },
  write: {
    short: 'Create, change and delete what its teams have',
    can: 'Create, change and delete issues, projects and comments there; it may move issues only to In progress or QA',
    cannot: 'Change or delete issues, projects or comments',
    implies: ['issues:create', 'comments:create'],
  },
  'issues:create': { short: 'Create issues', can: 'Create issues in those teams', cannot: 'Create issues' },
  'comments:create': {
    short: 'Write comments',
    can: 'Write comments on issues and projects it reaches',
    cannot: 'Write comments',
  },
  'app:assignable': {
    short: 'People can hand issues to it',
    can: 'Be handed issues, and work on them',
    cannot: 'Be handed issues',
  },
  'app:mentionable': {
    short: 'People can mention it in comments',
    can: 'Be @mentioned, and answer',
    cannot: 'Be @mentioned',
  },
}
export const scopeNames = Object.keys(scopeWords) as AppScope[]

/** What an app with these scopes still cannot do. */
export function missingFrom(scopes: readonly string[]): AppScope[] {
  const implied = scopeNames.flatMap((scope) => (scopes.includes(scope) ? (scopeWords[scope].implies ?? []) : []))
  return scopeNames.filter((scope) => !scopes.includes(scope) && !implied.includes(scope))
}

/** For a program that acts as the person. */
export const programWords: Record<string, string> = {
  read: 'Read what you can read in that workspace',
  write: 'Create, change and delete issues, projects and comments as you',
}

/** What no agent app can do, whatever it asks for. */
export const neverAllowed = [
  'Act as an admin: settings, members, teams, webhooks and apps stay out of reach',
  'See personal issues, internal comments, or teams you do not choose',
  'Finish or release issues, or hand them to an agent',
]

export const eventWords: Record<string, string> = {
  AgentSessionEvent: 'work it is handed, mentions and answers to it',
  PermissionChange: 'changes of the teams it reaches',
  OAuthApp: 'that it was uninstalled',
  Issue: 'every change of issues',
  Comment: 'every comment',
  Project: 'every change of projects',
}
