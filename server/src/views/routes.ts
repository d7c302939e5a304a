import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { createView, deleteView, listViews, updateView } from './views.ts'

export const viewRoutes = [
  route(api.listViews, ({ ctx, caller, query }) => listViews(ctx, caller, query)),
  route(api.createView, ({ ctx, caller, body }) => createView(ctx, caller, body)),
  route(api.updateView, ({ ctx, caller, params, body }) => updateView(ctx, caller, params.view_id, body)),
  route(api.deleteView, ({ ctx, caller, params }) => deleteView(ctx, caller, params.view_id)),
]
