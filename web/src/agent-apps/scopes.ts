import type { AppScope } from '@baton/protocol/routes'
import { scopeWords } from '@baton/protocol/scope-words'

export const scopeNames = Object.keys(scopeWords) as AppScope[]

/** Scopes that are neither in the list nor implied by one in it. */
export function missingScopes(scopes: readonly string[]): AppScope[] {
  const implied = scopeNames.flatMap((scope) => (scopes.includes(scope) ? (scopeWords[scope].implies ?? []) : []))
  return scopeNames.filter((scope) => !scopes.includes(scope) && !implied.includes(scope))
}

/** Scopes of a program that acts as the user. */
export const programScopeTexts: Record<string, string> = {
  read: 'Read everything you can read in that workspace',
  write: 'Create, change and delete issues, projects and comments as you',
}

/** No scope allows these to an agent app. */
export const neverAllowed = [
  'Change settings, members, teams, webhooks or apps',
  'See private issues, internal comments or teams you do not select',
  'Move issues to Release or Done, or delegate them to an agent',
]

export const eventTexts: Record<string, string> = {
  AgentSessionEvent: 'delegated work, mentions and replies to it',
  PermissionChange: 'changes to its teams',
  OAuthApp: 'its uninstallation',
  Issue: 'all issue changes',
  Comment: 'all comments',
  Project: 'all project changes',
}
