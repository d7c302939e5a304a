import type { AgentApp } from '@baton/sdk'

/** What a scope lets an app do, in the words of the web app's consent. */
const words: Record<AgentApp['requested_scopes'][number], string> = {
  read: 'Read issues, projects, comments and members of its teams',
  write: 'Create, change and delete issues, projects and comments there; it may move issues only to In progress or QA',
  'issues:create': 'Create issues in those teams',
  'comments:create': 'Write comments on issues and projects it reaches',
  'app:assignable': 'Be handed issues, and work on them',
  'app:mentionable': 'Be @mentioned, and answer',
}

/** One row for each scope; one that a newer service has is shown by its name alone. */
export const scopeRows = (scopes: readonly string[]) =>
  scopes.map((scope) => [scope, (words as Record<string, string>)[scope] ?? ''])
