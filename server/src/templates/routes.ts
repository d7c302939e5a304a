import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { createTemplate, deleteTemplate, listTemplates, updateTemplate } from './templates.ts'

export const templateRoutes = [
  route(api.listTemplates, ({ ctx, caller, query }) => listTemplates(ctx, caller, query)),
  route(api.createTemplate, ({ ctx, caller, body }) => createTemplate(ctx, caller, body)),
  route(api.updateTemplate, ({ ctx, caller, params, body }) => updateTemplate(ctx, caller, params.template_id, body)),
  route(api.deleteTemplate, ({ ctx, caller, params }) => deleteTemplate(ctx, caller, params.template_id)),
]
