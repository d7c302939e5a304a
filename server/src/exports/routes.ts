import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { createExport, createExportLink, deleteExport, downloadExport, listExports, readExport } from './exports.ts'
import { createRestore, readRestore } from './restores.ts'

export const exportRoutes = [
  route(api.listExports, ({ ctx, caller, query }) => listExports(ctx, caller, query)),
  route(api.createExport, ({ ctx, caller }) => createExport(ctx, caller)),
  route(api.getExport, ({ ctx, caller, params }) => readExport(ctx, caller, params.export_id)),
  route(api.deleteExport, ({ ctx, caller, params }) => deleteExport(ctx, caller, params.export_id)),
  route(api.createExportLink, ({ ctx, caller, params }) => createExportLink(ctx, caller, params.export_id)),
  route(api.downloadExport, ({ ctx, params }) => downloadExport(ctx, params.token)),
  route(api.createRestore, ({ ctx, caller, upload }) => createRestore(ctx, caller, upload)),
  route(api.getRestore, ({ ctx, caller, params }) => readRestore(ctx, caller, params.restore_id)),
]
