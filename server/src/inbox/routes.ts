import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { listInbox, markAllRead, markEntry } from './entries.ts'
import { setPresence } from './presence.ts'
import { readSettings, setSettings } from './settings.ts'
import { archiveReadThreads, changeThread, listThreads } from './threads.ts'
import { unsubscribe } from './unsubscribe.ts'

export const inboxRoutes = [
  route(api.listInbox, ({ ctx, caller, query }) => listInbox(ctx, caller, query)),
  route(api.updateInboxEntry, ({ ctx, caller, params, body }) => markEntry(ctx, caller, params.entry_id, body.read)),
  route(api.readInbox, ({ ctx, caller }) => markAllRead(ctx, caller)),
  route(api.listInboxThreads, ({ ctx, caller, query }) => listThreads(ctx, caller, query)),
  route(api.updateInboxThread, ({ ctx, caller, params, body }) => changeThread(ctx, caller, params.subject_id, body)),
  route(api.archiveReadThreads, ({ ctx, caller }) => archiveReadThreads(ctx, caller)),
  route(api.getNotificationSettings, ({ ctx, caller }) => readSettings(ctx.db, caller)),
  route(api.setNotificationSettings, ({ ctx, caller, body }) => setSettings(ctx, caller, body)),
  route(api.setPresence, ({ ctx, caller }) => setPresence(ctx, caller)),
  route(api.unsubscribe, ({ ctx, params }) => unsubscribe(ctx, params.token)),
]
