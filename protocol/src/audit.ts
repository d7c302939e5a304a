import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, paging, Timestamp } from './common.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Ref, Time } from './tracker.ts'

export const auditActions = [
  'workspace.created',
  'workspace.updated',
  'workspace.deletion_started',
  'workspace.deletion_canceled',
  'workspace.exported',
  'workspace.restored',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'invitation.created',
  'invitation.withdrawn',
  'login.break_glass',
  'identity.linked',
  'identity.unlinked',
  'team.created',
  'team.updated',
  'team.deleted',
  'team.member_added',
  'team.member_removed',
  'app.registered',
  'app.updated',
  'app.deleted',
  'app.client_secret_rotated',
  'app.webhook_secret_rotated',
  'app.webhook_rotation_finished',
  'app.replay_started',
  'app.replay_stopped',
  'app.webhook_enabled',
  'app.webhook_disabled',
  'app.listening_started',
  'app.listening_ended',
  'app.budget_set',
  'installation.approved',
  'installation.coverage_changed',
  'installation.uninstalled',
  'token.created',
  'token.revoked',
  'personal_agent.created',
  'personal_agent.updated',
  'personal_agent.deleted',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.enabled',
  'webhook.disabled',
  'webhook.failing',
  'webhook.secret_shown',
  'webhook.secret_rotated',
  'webhook.rotation_finished',
  'webhook.replay_started',
  'webhook.replay_stopped',
  'git_connection.created',
  'git_connection.updated',
  'git_connection.deleted',
  'git_connection.secret_rotated',
  'team.git_automation_changed',
  'automation.created',
  'automation.updated',
  'automation.deleted',
  'automation.enabled',
  'automation.disabled',
  'automation.paused',
  'automation.taken_over',
  'import.started',
  'import.deleted',
  'placeholder.assigned',
  'operator.password_reset',
  'operator.role_changed',
  'operator.person_erased',
] as const

export const AuditAction = Type.Enum(auditActions)
export type AuditAction = Static<typeof AuditAction>

export const AuditEntry = Type.Object(
  {
    id: id('aud'),
    action: AuditAction,
    actor: nullable(Type.Object({ id: id('usr'), name: Type.String() }, closed)),
    subject_id: Type.String(),
    details: Type.Record(Type.String(), Type.Unknown()),
    created_at: Timestamp,
  },
  { ...closed, title: 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>

export const audit = {
  listAuditEntries: operation(routes.listAuditEntries, {
    summary: 'List audit entries of the workspace, newest first',
    query: Type.Object({ ...paging, action: Type.Optional(AuditAction), actor_id: Type.Optional(Ref) }, closed),
    returns: { 200: list(AuditEntry) },
  }),
  exportAuditEntries: operation(routes.exportAuditEntries, {
    summary: 'Export the audit entries of up to 366 days, oldest first; 6 times an hour',
    query: Type.Object(
      {
        /** 366 days before `to`, if left out. */
        from: Type.Optional(Time),
        /** Now, if left out. */
        to: Type.Optional(Time),
        format: Type.Optional(Type.Enum(['ndjson', 'csv'])),
      },
      closed,
    ),
    produces: 'application/x-ndjson, text/csv',
    returns: { 200: Type.Unknown() },
    errors: ['RATE_LIMIT_EXCEEDED'],
  }),
}
