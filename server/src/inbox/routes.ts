import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { listInbox, markAllRead, markEntry } from './entries.ts'

export const inboxRoutes = [
  route(api.listInbox, ({ ctx, caller, query }) => listInbox(ctx, caller, query)),
  route(api.updateInboxEntry, ({ ctx, caller, params, body }) => markEntry(ctx, caller, params.entry_id, body.read)),
  route(api.readInbox, ({ ctx, caller }) => markAllRead(ctx, caller)),
]
