import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { exportAuditEntries } from './export.ts'
import { listAuditEntries } from './read.ts'

export const auditRoutes = [
  route(api.listAuditEntries, ({ ctx, caller, query }) => listAuditEntries(ctx, caller, query)),
  route(api.exportAuditEntries, ({ ctx, caller, query }) => exportAuditEntries(ctx, caller, query)),
]
