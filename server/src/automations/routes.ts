import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import {
  createAutomation,
  deleteAutomation,
  disableAutomation,
  enableAutomation,
  listAutomations,
  readAutomation,
  runAutomation,
  takeOverAutomation,
  updateAutomation,
} from './automations.ts'
import { listRuns } from './runs.ts'
import { tryAutomation } from './try.ts'

export const automationRoutes = [
  route(api.listAutomations, ({ ctx, caller, query }) => listAutomations(ctx, caller, query)),
  route(api.createAutomation, ({ ctx, caller, body }) => createAutomation(ctx, caller, body)),
  route(api.tryAutomation, ({ ctx, caller, body }) => tryAutomation(ctx, caller, body)),
  route(api.getAutomation, ({ ctx, caller, params }) => readAutomation(ctx.db, caller, params.automation_id)),
  route(api.updateAutomation, ({ ctx, caller, params, body }) =>
    updateAutomation(ctx, caller, params.automation_id, body),
  ),
  route(api.deleteAutomation, ({ ctx, caller, params }) => deleteAutomation(ctx, caller, params.automation_id)),
  route(api.enableAutomation, ({ ctx, caller, params }) => enableAutomation(ctx, caller, params.automation_id)),
  route(api.disableAutomation, ({ ctx, caller, params }) => disableAutomation(ctx, caller, params.automation_id)),
  route(api.takeOverAutomation, ({ ctx, caller, params }) => takeOverAutomation(ctx, caller, params.automation_id)),
  route(api.runAutomation, ({ ctx, caller, params, body }) => runAutomation(ctx, caller, params.automation_id, body)),
  route(api.listAutomationRuns, ({ ctx, caller, params, query }) => listRuns(ctx, caller, params.automation_id, query)),
]
