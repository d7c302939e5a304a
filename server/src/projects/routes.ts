import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { mergeLabel } from './merge-label.ts'
import { createProject, deleteProject, listProjects, readProject, updateProject } from './projects.ts'

export const projectRoutes = [
  route(api.listProjects, ({ ctx, caller, query }) => listProjects(ctx, caller, query)),
  route(api.createProject, ({ ctx, caller, body }) => createProject(ctx, caller, body)),
  route(api.getProject, ({ ctx, caller, params }) => readProject(ctx, caller, params.project_id)),
  route(api.updateProject, ({ ctx, caller, params, body }) => updateProject(ctx, caller, params.project_id, body)),
  route(api.deleteProject, ({ ctx, caller, params }) => deleteProject(ctx, caller, params.project_id)),
  route(api.mergeLabel, ({ ctx, caller, params, body }) =>
    mergeLabel(ctx, caller, params.label_id, body.into_label_id),
  ),
]
