import type { AppScope } from '@baton/protocol/routes'
import { scopeWords } from '@baton/protocol/scope-words'

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
