import { type Static, Type } from 'typebox'
import { closed, Email, Guidance, id, list, Name, nullable, Page, Role, Timestamp, text } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Ref } from './tracker.ts'

export const Workspace = Type.Object(
  {
    id: id('wsp'),
    name: Type.String(),
    guidance: Type.String(),
    /** When its data is deleted; null unless an owner has started its deletion. */
    deletion_at: nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, title: 'Workspace' },
)
export type Workspace = Static<typeof Workspace>

export const WorkspaceChange = Type.Partial(Type.Object({ name: Name, guidance: Guidance }), closed)
export type WorkspaceChange = Static<typeof WorkspaceChange>

export const Member = Type.Object(
  {
    id: id('usr'),
    display_name: Type.String(),
    email: nullable(Type.String()),
    role: Role,
    joined_at: Timestamp,
  },
  { ...closed, title: 'Member' },
)
export type Member = Static<typeof Member>

export const Invitation = Type.Object(
  {
    id: id('inv'),
    email: Type.String(),
    role: Role,
    invited_by: nullable(id('usr')),
    /** The teams that the person joins. */
    team_ids: Type.Array(id('team')),
    created_at: Timestamp,
    expires_at: Timestamp,
    /** `none`: the instance sends no mail, or sent none for this invitation. */
    mail: Type.Enum(['none', 'queued', 'sent', 'failed']),
  },
  { ...closed, title: 'Invitation' },
)
export type Invitation = Static<typeof Invitation>

export const NewInvitation = Type.Object(
  { email: Email, role: Role, team_ids: Type.Optional(Type.Array(Ref, { maxItems: limits.teamsPerInvitation })) },
  closed,
)
export type NewInvitation = Static<typeof NewInvitation>

/** What the person sees who was sent the invitation. */
export const InvitationPreview = Type.Object(
  {
    workspace: Type.Object({ name: Type.String() }, closed),
    /** Null if the account of the person who invited was deleted. */
    inviter: nullable(Type.Object({ name: Type.String() }, closed)),
    email: Type.String(),
    role: Role,
    teams: Type.Array(Type.Object({ key: Type.String(), name: Type.String() }, closed)),
    expires_at: Timestamp,
  },
  { ...closed, title: 'InvitationPreview' },
)
export type InvitationPreview = Static<typeof InvitationPreview>

const InvitationToken = Type.Object({ token: text(1, 200) }, closed)

export const workspaces = {
  createWorkspace: operation(routes.createWorkspace, {
    summary: 'Create a workspace; the caller becomes its owner',
    body: Type.Object({ name: Name }, closed),
    returns: { 201: Workspace },
    errors: ['WORKSPACE_LIMIT_REACHED'],
  }),
  getWorkspace: operation(routes.getWorkspace, {
    summary: 'Get the workspace in X-Workspace-ID',
    returns: { 200: Workspace },
  }),
  updateWorkspace: operation(routes.updateWorkspace, {
    summary: 'Change the name of the workspace or the guidance for all its agents',
    body: WorkspaceChange,
    returns: { 200: Workspace },
  }),

  startDeletion: operation(routes.startDeletion, {
    summary:
      'Delete the workspace after a delay, until which it is read-only and any owner can cancel; only for owners',
    body: Type.Object({ name: text(1, limits.name) }, closed),
    returns: { 200: Workspace },
  }),
  cancelDeletion: operation(routes.cancelDeletion, {
    summary: 'Cancel the pending deletion of the workspace; only for owners',
    returns: { 204: null },
    errors: ['RESOURCE_NOT_FOUND'],
  }),

  listMembers: operation(routes.listMembers, {
    summary: 'List members of the workspace, newest first',
    query: Page,
    returns: { 200: list(Member) },
  }),
  updateMember: operation(routes.updateMember, {
    summary: "Change a member's role; only owners can make or demote owners",
    body: Type.Object({ role: Role }, closed),
    returns: { 200: Member },
    errors: ['LAST_OWNER'],
  }),
  removeMember: operation(routes.removeMember, {
    summary: 'Remove a member (managers), or leave the workspace',
    returns: { 204: null },
    errors: ['FORBIDDEN', 'LAST_OWNER'],
  }),

  listInvitations: operation(routes.listInvitations, {
    summary: 'List open invitations, newest first',
    query: Page,
    returns: { 200: list(Invitation) },
  }),
  createInvitation: operation(routes.createInvitation, {
    summary:
      'Invite a person; the token works once and expires after 7 days. Only owners can invite owners. The person gets a mail with a link, if the instance sends mail',
    body: NewInvitation,
    returns: { 201: Type.Object({ invitation: Invitation, token: Type.String() }, closed) },
  }),
  deleteInvitation: operation(routes.deleteInvitation, {
    summary: 'Revoke an invitation',
    returns: { 204: null },
  }),
  sendInvitation: operation(routes.sendInvitation, {
    summary: 'Mail an invitation again with a new link; three times a day. The link of the previous mail stops working',
    returns: { 202: Invitation },
    errors: ['MAIL_NOT_CONFIGURED'],
  }),
  previewInvitation: operation(routes.previewInvitation, {
    summary: 'Get the workspace, the inviter and the teams of an invitation by its token',
    body: InvitationToken,
    returns: { 200: InvitationPreview },
    errors: ['RESOURCE_NOT_FOUND', 'RATE_LIMIT_EXCEEDED'],
  }),
  acceptInvitation: operation(routes.acceptInvitation, {
    summary: 'Join a workspace with the token of an invitation',
    body: InvitationToken,
    returns: { 200: Type.Object({ workspace: Workspace, role: Role }, closed) },
    errors: ['RESOURCE_NOT_FOUND', 'ALREADY_MEMBER', 'WORKSPACE_PENDING_DELETION'],
  }),
}
