import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { listAgents, selectUsers } from './pickers.ts'

export const agentRoutes = [
  route(api.listAgents, ({ ctx, caller, query }) => listAgents(ctx, caller, query)),
  route(api.selectUsers, ({ ctx, caller, query }) => selectUsers(ctx, caller, query)),
]
