import type { AuditAction } from '@baton/protocol'

/** Which of the lists that browsers keep looks different after it, if one does. A new action does not compile without. */
export const shownIn: Record<AuditAction, 'Workspace' | 'Agents' | null> = {
  'workspace.created': null, // nobody watches it yet
  'workspace.updated': 'Workspace',
  'member.joined': 'Workspace',
  'member.role_changed': 'Workspace',
  'member.removed': 'Workspace',
  'invitation.created': 'Workspace',
  'invitation.withdrawn': 'Workspace',
  'team.created': 'Workspace',
  'team.updated': 'Workspace',
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
  'installation.approved': 'Agents',
  'installation.coverage_changed': 'Agents',
  'installation.uninstalled': 'Agents',
  // Its owner alone sees it in a list; agents/ tells them.
  'personal_agent.created': null,
  'personal_agent.updated': null,
  'personal_agent.deleted': null,
  // Webhooks are for managers, who find what fails in their inbox.
  'webhook.created': null,
  'webhook.updated': null,
  'webhook.deleted': null,
  'webhook.enabled': null,
  'webhook.disabled': null,
  'webhook.failing': null,
  'webhook.secret_shown': null,
  'webhook.secret_rotated': null,
}
