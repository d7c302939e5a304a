import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import {
  addFile,
  cancelImport,
  createImport,
  deleteImport,
  listImports,
  listProblems,
  readImport,
  startReading,
  startRun,
  updateImport,
} from './imports.ts'
import { assignPlaceholder, listPlaceholders } from './placeholders.ts'

export const importRoutes = [
  route(api.listImports, ({ ctx, caller, query }) => listImports(ctx, caller, query)),
  route(api.createImport, ({ ctx, caller, body }) => createImport(ctx, caller, body)),
  route(api.getImport, ({ ctx, caller, params }) => readImport(ctx, caller, params.import_id)),
  route(api.updateImport, ({ ctx, caller, params, body }) => updateImport(ctx, caller, params.import_id, body)),
  route(api.deleteImport, ({ ctx, caller, params }) => deleteImport(ctx, caller, params.import_id)),
  route(api.addImportFile, ({ ctx, caller, params, query, upload }) =>
    addFile(ctx, caller, params.import_id, query.name, upload),
  ),
  route(api.readImport, ({ ctx, caller, params }) => startReading(ctx, caller, params.import_id)),
  route(api.startImport, ({ ctx, caller, params }) => startRun(ctx, caller, params.import_id)),
  route(api.cancelImport, ({ ctx, caller, params }) => cancelImport(ctx, caller, params.import_id)),
  route(api.listImportProblems, ({ ctx, caller, params, query }) => listProblems(ctx, caller, params.import_id, query)),
  route(api.listPlaceholders, ({ ctx, caller, query }) => listPlaceholders(ctx, caller, query)),
  route(api.assignPlaceholder, ({ ctx, caller, params, body }) =>
    assignPlaceholder(ctx, caller, params.placeholder_id, body.user_id),
  ),
]
