import type { AuditAction } from '@baton/protocol'

/** The list in the web app that each action changes, if any. A new action without an entry does not compile. */
export const shownIn: Record<AuditAction, 'Workspace' | 'Agents' | null> = {
  'workspace.created': null, // no browser can watch it yet
  'workspace.updated': 'Workspace',
  'member.joined': 'Workspace',
  'member.role_changed': 'Workspace',
  'member.removed': 'Workspace',
  'invitation.created': 'Workspace',
  'invitation.withdrawn': 'Workspace',
  'team.created': 'Workspace',
  'team.updated': 'Workspace',
  'team.deleted': 'Workspace',
  'team.member_added': 'Workspace',
  'team.member_removed': 'Workspace',
  'app.registered': 'Agents',
  'app.updated': 'Agents',
  'app.deleted': 'Agents',
  'app.client_secret_rotated': null,
  'app.webhook_secret_rotated': null,
  'app.webhook_enabled': 'Agents',
  'app.webhook_disabled': 'Agents',
  'app.listening_started': 'Agents',
  'app.listening_ended': 'Agents',
  'app.budget_set': 'Agents',
  'installation.approved': 'Agents',
  'installation.coverage_changed': 'Agents',
  'installation.uninstalled': 'Agents',
  // Only the owner's list shows it; agents/personal.ts notifies the owner.
  'personal_agent.created': null,
  'personal_agent.updated': null,
  'personal_agent.deleted': null,
  // Not live: only managers see webhooks, and failures are in their inbox.
  'webhook.created': null,
  'webhook.updated': null,
  'webhook.deleted': null,
  'webhook.enabled': null,
  'webhook.disabled': null,
  'webhook.failing': null,
  'webhook.secret_shown': null,
  'webhook.secret_rotated': null,
}
