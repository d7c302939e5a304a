import type { AppScope } from './routes.ts'

interface ScopeWords {
  /** For developers who choose the scopes of their app. */
  short: string
  /** For managers who approve the app. */
  can: string
  /** For managers, if the app does not have the scope. */
  cannot: string
  /** Scopes that this one includes. */
  implies?: AppScope[]
}

/** Describes each scope of agent apps, for the web app and the CLI. */
export const scopeWords: Record<AppScope, ScopeWords> = {
  read: {
    short: 'Read issues, projects, comments and members',
    can: 'Read issues, projects, comments and members of its teams',
    cannot: 'Read anything outside its own agent sessions',
  },
  write: {
    short: 'Create, change and delete issues, projects and comments',
    can: 'Create, change and delete issues, projects and comments in its teams; it can move issues only to In progress or QA',
    cannot: 'Change or delete issues, projects or comments',
    implies: ['issues:create', 'comments:create'],
  },
  'issues:create': { short: 'Create issues', can: 'Create issues in its teams', cannot: 'Create issues' },
  'comments:create': {
    short: 'Write comments',
    can: 'Write comments on issues and projects of its teams',
    cannot: 'Write comments',
  },
  'app:assignable': {
    short: 'Accept delegated issues',
    can: 'Accept delegated issues and work on them',
    cannot: 'Accept delegated issues',
  },
  'app:mentionable': {
    short: 'Be mentioned in comments',
    can: 'Be @mentioned and reply',
    cannot: 'Be @mentioned',
  },
}
