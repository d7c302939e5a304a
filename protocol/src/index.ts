import { audit } from './audit.ts'
import { login } from './login.ts'
import type { Operation } from './operation.ts'
import type { RouteName } from './routes.ts'
import { service } from './service.ts'
import { teams } from './teams.ts'
import { workspaces } from './workspaces.ts'

export type { AuditAction, AuditEntry } from './audit.ts'
export type { Role } from './common.ts'
export * from './errors.ts'
export * from './limits.ts'
export type { NewPerson, Person } from './login.ts'
export * from './operation.ts'
export * from './routes.ts'
export type { NewTeam, Repository, Team, TeamChange, TeamMember } from './teams.ts'
export type { Invitation, Member, NewInvitation, Workspace, WorkspaceChange } from './workspaces.ts'

/** Every operation by its name. A route without an operation, or the reverse, does not compile. */
export const api = {
  ...service,
  ...login,
  ...workspaces,
  ...teams,
  ...audit,
} satisfies { [Name in RouteName]: Operation }
