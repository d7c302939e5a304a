import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { readAccount, updateAccount } from './account.ts'
import {
  acceptInvitation,
  invite,
  listInvitations,
  previewInvitation,
  sendInvitation,
  withdrawInvitation,
} from './invitations.ts'
import { changeRole, listMembers } from './members.ts'
import {
  addTeamMember,
  createTeam,
  listTeamMembers,
  listTeams,
  readTeam,
  removeTeamMember,
  selectTeams,
  updateTeam,
} from './teams.ts'
import { readWorkspace, updateWorkspace } from './workspaces.ts'

export const workspaceRoutes = [
  route(api.getAccount, ({ ctx, caller }) => readAccount(ctx.db, caller)),
  route(api.updateAccount, ({ ctx, caller, body }) => updateAccount(ctx, caller, body)),

  route(api.getWorkspace, ({ ctx, caller }) => readWorkspace(ctx.db, caller.workspaceId)),
  route(api.updateWorkspace, ({ ctx, caller, body }) => updateWorkspace(ctx, caller, body)),

  route(api.listMembers, ({ ctx, caller, query }) => listMembers(ctx, caller, query)),
  route(api.updateMember, ({ ctx, caller, params, body }) => changeRole(ctx, caller, params.user_id, body.role)),

  route(api.listInvitations, ({ ctx, caller, query }) => listInvitations(ctx, caller, query)),
  route(api.createInvitation, ({ ctx, caller, body }) => invite(ctx, caller, body)),
  route(api.deleteInvitation, ({ ctx, caller, params }) => withdrawInvitation(ctx, caller, params.invitation_id)),
  route(api.sendInvitation, ({ ctx, caller, params }) => sendInvitation(ctx, caller, params.invitation_id)),
  route(api.previewInvitation, ({ ctx, address, body }) => previewInvitation(ctx, address, body.token)),
  route(api.acceptInvitation, ({ ctx, caller, body }) => acceptInvitation(ctx, caller, body.token)),

  route(api.listTeams, ({ ctx, caller, query }) => listTeams(ctx, caller, query)),
  route(api.createTeam, ({ ctx, caller, body }) => createTeam(ctx, caller, body)),
  route(api.selectTeams, ({ ctx, caller, query }) => selectTeams(ctx, caller, query)),
  route(api.getTeam, ({ ctx, caller, params }) => readTeam(ctx.db, caller, params.team_id)),
  route(api.updateTeam, ({ ctx, caller, params, body }) => updateTeam(ctx, caller, params.team_id, body)),
  route(api.listTeamMembers, ({ ctx, caller, params, query }) => listTeamMembers(ctx, caller, params.team_id, query)),
  route(api.addTeamMember, ({ ctx, caller, params }) => addTeamMember(ctx, caller, params.team_id, params.user_id)),
  route(api.removeTeamMember, ({ ctx, caller, params }) =>
    removeTeamMember(ctx, caller, params.team_id, params.user_id),
  ),
]
