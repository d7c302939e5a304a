/** What a scope lets an app do, and what its lack keeps it from. */
export const scopeWords: Record<string, { can: string; cannot: string }> = {
  read: {
    can: 'Read issues, projects, comments and members of the teams you choose',
    cannot: 'Read anything beyond the work it is given',
  },
  write: {
    can: 'Change issues and projects there; it may move issues only to In progress or QA',
    cannot: 'Change issues or projects',
  },
  'issues:create': { can: 'Create issues in those teams', cannot: 'Create issues' },
  'comments:create': { can: 'Write comments on issues and projects it reaches', cannot: 'Write comments' },
  'app:assignable': { can: 'Be handed issues, and work on them', cannot: 'Be handed issues' },
  'app:mentionable': { can: 'Be @mentioned, and answer', cannot: 'Be @mentioned' },
}

/** For a program that acts as the person. */
export const programWords: Record<string, string> = {
  read: 'Read what you can read in that workspace',
  write: 'Create and change issues, projects and comments as you',
}

/** What no agent app can do, whatever it asks for. */
export const neverAllowed = [
  'Act as an admin: settings, members, teams, webhooks and apps stay out of reach',
  'See personal issues, internal comments, or teams you do not choose',
  'Finish, release or reopen issues, or hand them to somebody else',
]

export const eventWords: Record<string, string> = {
  AgentSessionEvent: 'work it is handed, mentions and answers to it',
  PermissionChange: 'changes of the teams it reaches',
  OAuthApp: 'that it was uninstalled',
  Issue: 'every change of issues',
  Comment: 'every comment',
  Project: 'every change of projects',
}
