import { api } from '@baton/protocol'
import { none, sql } from '../db/sql.ts'
import { route } from '../http/route.ts'
import { createCycle, createMilestone } from './create.ts'
import { cycles, initiatives, labels, milestones } from './resources.ts'

export const planningRoutes = [
  route(api.listLabels, ({ ctx, caller, query }) => labels.list(ctx, caller, query)),
  route(api.createLabel, ({ ctx, caller, body }) => labels.create(ctx, caller, body)),
  route(api.getLabel, ({ ctx, caller, params }) => labels.read(ctx, caller, params.label_id)),
  route(api.updateLabel, ({ ctx, caller, params, body }) => labels.update(ctx, caller, params.label_id, body)),
  route(api.deleteLabel, ({ ctx, caller, params }) => labels.delete(ctx, caller, params.label_id)),

  route(api.listMilestones, ({ ctx, caller, query }) =>
    milestones.list(ctx, caller, query, query.project_id ? sql`and t.project_id = ${query.project_id}` : none),
  ),
  route(api.createMilestone, ({ ctx, caller, body }) => createMilestone(ctx, caller, body)),
  route(api.getMilestone, ({ ctx, caller, params }) => milestones.read(ctx, caller, params.milestone_id)),
  route(api.updateMilestone, ({ ctx, caller, params, body }) =>
    milestones.update(ctx, caller, params.milestone_id, body),
  ),
  route(api.deleteMilestone, ({ ctx, caller, params }) => milestones.delete(ctx, caller, params.milestone_id)),

  route(api.listCycles, ({ ctx, caller, query }) =>
    cycles.list(ctx, caller, query, query.team_id ? sql`and t.team_id = ${query.team_id}` : none),
  ),
  route(api.createCycle, ({ ctx, caller, body }) => createCycle(ctx, caller, body)),
  route(api.getCycle, ({ ctx, caller, params }) => cycles.read(ctx, caller, params.cycle_id)),
  route(api.updateCycle, ({ ctx, caller, params, body }) => cycles.update(ctx, caller, params.cycle_id, body)),
  route(api.deleteCycle, ({ ctx, caller, params }) => cycles.delete(ctx, caller, params.cycle_id)),

  route(api.listInitiatives, ({ ctx, caller, query }) => initiatives.list(ctx, caller, query)),
  route(api.createInitiative, ({ ctx, caller, body }) => initiatives.create(ctx, caller, { description: '', ...body })),
  route(api.getInitiative, ({ ctx, caller, params }) => initiatives.read(ctx, caller, params.initiative_id)),
  route(api.updateInitiative, ({ ctx, caller, params, body }) =>
    initiatives.update(ctx, caller, params.initiative_id, body),
  ),
  route(api.deleteInitiative, ({ ctx, caller, params }) => initiatives.delete(ctx, caller, params.initiative_id)),
]
