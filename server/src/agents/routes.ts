import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { removeMember } from '../workspaces/members.ts'
import { createWorkspace } from '../workspaces/workspaces.ts'
import { createBuiltInAgent } from './inside-agents.ts'
import { removeItemsOf } from './leaving.ts'
import { modelStatus } from './model/health.ts'
import { createPersonalAgent, deletePersonalAgent, listPersonalAgents, updatePersonalAgent } from './personal.ts'
import { listAgents, listNames, readUser, selectUsers } from './pickers.ts'

export const agentRoutes = [
  route(api.listAgents, ({ ctx, caller, query }) => listAgents(ctx, caller, query)),
  route(api.selectUsers, ({ ctx, caller, query }) => selectUsers(ctx, caller, query)),
  route(api.listNames, ({ ctx, caller, query }) => listNames(ctx, caller, query)),
  route(api.getUser, ({ ctx, caller, params }) => readUser(ctx, caller, params.user_id)),
  route(api.getModelStatus, ({ ctx }) => modelStatus(ctx)),
  route(api.listPersonalAgents, ({ ctx, caller, query }) => listPersonalAgents(ctx, caller, query)),
  route(api.createPersonalAgent, ({ ctx, caller, body }) => createPersonalAgent(ctx, caller, body)),
  route(api.updatePersonalAgent, ({ ctx, caller, params, body }) =>
    updatePersonalAgent(ctx, caller, params.agent_id, body),
  ),
  route(api.deletePersonalAgent, ({ ctx, caller, params }) => deletePersonalAgent(ctx, caller, params.agent_id)),
  // The next two are mounted here because they also create or delete agents, or change issues.
  route(api.createWorkspace, ({ ctx, caller, body }) => createWorkspace(ctx, caller, body.name, createBuiltInAgent)),
  route(api.removeMember, ({ ctx, caller, params: { user_id } }) =>
    removeMember(ctx, caller, user_id, removeItemsOf(user_id)),
  ),
]
