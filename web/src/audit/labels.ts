import type { AuditAction, AuditEntry } from '@baton/protocol'
import { isolated } from '../ui/isolated.ts'

/** Labels of the filter. Also the text of an entry whose subject has no known name. */
export const actionLabels: Record<AuditAction, string> = {
  'workspace.created': 'Created the workspace',
  'workspace.exported': 'Exported the workspace',
  'workspace.restored': 'Restored the workspace from an archive',
  'workspace.updated': 'Updated the workspace',
  'workspace.deletion_started': 'Started to delete the workspace',
  'workspace.deletion_canceled': 'Canceled the deletion of the workspace',
  'member.joined': 'Joined the workspace',
  'member.role_changed': "Changed a member's role",
  'member.removed': 'Removed a member',
  'invitation.created': 'Invited a person',
  'invitation.withdrawn': 'Revoked an invitation',
  'login.break_glass': 'Signed in with the break-glass account',
  'identity.linked': 'Added a single sign-on identity',
  'identity.unlinked': 'Removed a single sign-on identity',
  'team.created': 'Created a team',
  'team.updated': 'Updated a team',
  'team.deleted': 'Deleted a team',
  'team.member_added': 'Added a team member',
  'team.member_removed': 'Removed a team member',
  'app.registered': 'Registered an agent app',
  'app.updated': "Changed an app's manifest",
  'app.deleted': 'Deleted an agent app',
  'app.client_secret_rotated': "Rotated an app's client secret",
  'app.webhook_secret_rotated': "Rotated an app's webhook secret",
  'app.replay_started': 'Started a replay for an app',
  'app.replay_stopped': 'Stopped a replay for an app',
  'app.webhook_rotation_finished': "Ended the overlap of an app's webhook secrets",
  'app.webhook_enabled': "Enabled an app's webhook",
  'app.webhook_disabled': "Disabled an app's webhook",
  'app.listening_started': "Started listening to an app's deliveries",
  'app.listening_ended': "Stopped listening to an app's deliveries",
  'app.budget_set': 'Set the budget of an app',
  'installation.approved': 'Installed an agent app',
  'installation.coverage_changed': "Changed an app's teams",
  'installation.uninstalled': 'Uninstalled an agent app',
  'token.created': 'Created a personal token',
  'token.revoked': 'Revoked a personal token',
  'personal_agent.created': 'Created a personal agent',
  'personal_agent.updated': 'Updated a personal agent',
  'personal_agent.deleted': 'Deleted a personal agent',
  'webhook.created': 'Created a webhook',
  'webhook.updated': 'Updated a webhook',
  'webhook.deleted': 'Deleted a webhook',
  'webhook.enabled': 'Enabled a webhook',
  'webhook.disabled': 'Disabled a webhook',
  'webhook.failing': 'Disabled a webhook after repeated failures',
  'webhook.secret_shown': "Viewed a webhook's secret",
  'webhook.secret_rotated': "Rotated a webhook's secret",
  'webhook.replay_started': 'Started a replay of a webhook',
  'webhook.replay_stopped': 'Stopped a replay of a webhook',
  'webhook.rotation_finished': "Ended the overlap of a webhook's secrets",
  'git_connection.created': 'Created a git connection',
  'git_connection.updated': 'Updated a git connection',
  'git_connection.deleted': 'Deleted a git connection',
  'git_connection.secret_rotated': "Rotated a git connection's secret",
  'team.git_automation_changed': "Changed a team's git automation",
  'automation.created': 'Created an automation',
  'automation.updated': 'Updated an automation',
  'automation.deleted': 'Deleted an automation',
  'automation.enabled': 'Turned an automation on',
  'automation.disabled': 'Turned an automation off',
  'automation.paused': 'Paused an automation',
  'automation.taken_over': 'Took over an automation',
  'import.started': 'Started an import',
  'import.deleted': 'Deleted an import',
  'placeholder.assigned': 'Assigned a placeholder',
  'operator.password_reset': 'Operator reset a password',
  'operator.role_changed': "Operator changed a member's role",
  'operator.person_erased': 'Operator erased a person',
}

type Details = AuditEntry['details']
type Names = ReadonlyMap<string, string>
type Sentence = (subject: string, details: Details, names: Names) => string

const nameOf = (id: unknown, names: Names) => (typeof id === 'string' && names.get(id)) || 'a member'

const teamsOf = ({ all_teams, team_ids }: Details, names: Names) => {
  const teams = Array.isArray(team_ids) ? team_ids.flatMap((id) => names.get(id) ?? []) : []
  return all_teams ? 'all teams' : teams.join(', ') || 'selected teams'
}

const countOf = (issues: unknown) => (issues === 1 ? '1 issue' : `${issues} issues`)

/** How long the old secret still signs after a rotation. */
const overlapOf = ({ overlap_hours: hours }: Details) =>
  hours === undefined ? ' without overlap' : ` with an overlap of ${hours === 1 ? '1 hour' : `${hours} hours`}`

/** Texts that name the subject, to follow the name of the actor. Actions without one use their label. */
const sentences: Partial<Record<AuditAction, Sentence>> = {
  'member.role_changed': (member, { from, to }) => `changed the role of ${member} from ${from} to ${to}`,
  'member.removed': (member) => `removed ${member}`,
  'invitation.created': (email, { role }) => `invited ${email} as ${role}`,
  'invitation.withdrawn': (email) => `revoked the invitation for ${email}`,
  'identity.linked': (_, { provider }) => `added an identity of ${provider}`,
  'identity.unlinked': (_, { provider }) => `removed an identity of ${provider}`,
  'team.created': (team) => `created the team ${team}`,
  'team.deleted': (team, { issues, moved_to }, names) =>
    `deleted the team ${team}` +
    (!issues
      ? ''
      : moved_to
        ? ` and moved ${countOf(issues)} to ${names.get(String(moved_to)) ?? 'another team'}`
        : ` with ${countOf(issues)}`),
  'team.updated': (team) => `updated the team ${team}`,
  'team.member_added': (team, { user_id }, names) => `added ${nameOf(user_id, names)} to ${team}`,
  'team.member_removed': (team, { user_id }, names) => `removed ${nameOf(user_id, names)} from ${team}`,
  'app.registered': (app) => `registered the agent app ${app}`,
  'app.updated': (app) => `changed the manifest of ${app}`,
  'app.deleted': (app) => `deleted the agent app ${app}`,
  'app.client_secret_rotated': (app) => `rotated the client secret of ${app}`,
  'app.webhook_secret_rotated': (app, details) => `rotated the webhook secret of ${app}${overlapOf(details)}`,
  'app.replay_started': (app) => `started a replay for ${app}`,
  'app.replay_stopped': (app) => `stopped a replay for ${app}`,
  'app.webhook_rotation_finished': (app) => `ended the overlap of webhook secrets of ${app}`,
  'app.webhook_enabled': (app) => `enabled the webhook of ${app}`,
  'app.webhook_disabled': (app) => `disabled the webhook of ${app}`,
  'app.listening_started': (app) => `started listening to the deliveries of ${app}`,
  'app.listening_ended': (app) => `stopped listening to the deliveries of ${app}`,
  'app.budget_set': (app) => `set the budget of ${app}`,
  'installation.approved': (app, details, names) => `installed ${app} for ${teamsOf(details, names)}`,
  'installation.coverage_changed': (app, details, names) => `changed the teams of ${app} to ${teamsOf(details, names)}`,
  'installation.uninstalled': (app) => `uninstalled ${app}`,
  'personal_agent.created': (agent) => `created the personal agent ${agent}`,
  'personal_agent.updated': (agent) => `updated the personal agent ${agent}`,
  'personal_agent.deleted': (agent) => `deleted the personal agent ${agent}`,
  'webhook.created': (webhook) => `created the webhook ${webhook}`,
  'webhook.updated': (webhook) => `updated the webhook ${webhook}`,
  'webhook.deleted': (webhook) => `deleted the webhook ${webhook}`,
  'webhook.enabled': (webhook) => `enabled the webhook ${webhook}`,
  'webhook.disabled': (webhook) => `disabled the webhook ${webhook}`,
  'webhook.failing': (webhook) => `disabled the webhook ${webhook} after repeated failures`,
  'webhook.secret_shown': (webhook) => `viewed the secret of the webhook ${webhook}`,
  'webhook.secret_rotated': (webhook, details) => `rotated the secret of the webhook ${webhook}${overlapOf(details)}`,
  'webhook.replay_started': (webhook) => `started a replay of the webhook ${webhook}`,
  'webhook.replay_stopped': (webhook) => `stopped a replay of the webhook ${webhook}`,
  'webhook.rotation_finished': (webhook) => `ended the overlap of secrets of the webhook ${webhook}`,
  'git_connection.created': (connection) => `created the git connection ${connection}`,
  'git_connection.updated': (connection) => `updated the git connection ${connection}`,
  'git_connection.deleted': (connection) => `deleted the git connection ${connection}`,
  'git_connection.secret_rotated': (connection) => `rotated the secret of the git connection ${connection}`,
  'team.git_automation_changed': (team) => `changed the git automation of ${team}`,
  'import.started': (_, details) => `started an import from ${details.source}`,
  'import.deleted': (_, details) => `deleted an import from ${details.source}`,
  'placeholder.assigned': (_, details) => `assigned the placeholder ${details.name}`,
  'operator.password_reset': (member) => `reset the password of ${member} for the operator`,
  'operator.role_changed': (member, { from, to }) =>
    `changed the role of ${member} from ${from} to ${to} for the operator`,
  'operator.person_erased': () => 'erased a person for the operator',
}

/** Tokens and automations have a name only in the entry. */
const nameInDetails: Partial<Record<AuditAction, (name: string) => string>> = {
  'token.created': (name) => `created the personal token ${name}`,
  'automation.created': (name) => `created the automation ${name}`,
  'automation.updated': (name) => `updated the automation ${name}`,
  'automation.deleted': (name) => `deleted the automation ${name}`,
  'automation.enabled': (name) => `turned the automation ${name} on`,
  'automation.disabled': (name) => `turned the automation ${name} off`,
  'automation.paused': (name) => `paused the automation ${name}`,
  'automation.taken_over': (name) => `took over the automation ${name}`,
  'token.revoked': (name) => `revoked the personal token ${name}`,
}

/** What the actor did, such as "added Priya Nair to Support". */
export function sentenceOf({ action, subject_id, details }: AuditEntry, names: Names): string {
  const subject = names.get(subject_id)
  const sentence = sentences[action]
  if (subject && sentence) return sentence(subject, details, names)
  const named = nameInDetails[action]
  if (named && typeof details.name === 'string') return named(isolated(details.name))
  const label = actionLabels[action]
  return label.charAt(0).toLowerCase() + label.slice(1)
}
