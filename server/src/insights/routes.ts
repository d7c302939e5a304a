import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { agentsCsv, flowCsv } from './csv.ts'
import { readAgentInsights } from './read-agents.ts'
import { readCycleInsights, readDeliveryInsights, readFlowInsights } from './read-flow.ts'

export const insightRoutes = [
  route(api.getAgentInsights, ({ ctx, caller, query }) => readAgentInsights(ctx, caller, query)),
  route(api.exportAgentInsights, async ({ ctx, caller, query }) =>
    agentsCsv(await readAgentInsights(ctx, caller, query)),
  ),
  route(api.getDeliveryInsights, ({ ctx, caller }) => readDeliveryInsights(ctx, caller)),
  route(api.getFlowInsights, ({ ctx, caller, query }) => readFlowInsights(ctx, caller, query)),
  route(api.exportFlowInsights, async ({ ctx, caller, query }) => flowCsv(await readFlowInsights(ctx, caller, query))),
  route(api.getCycleInsights, ({ ctx, caller, params }) => readCycleInsights(ctx, caller, params.cycle_id)),
]
