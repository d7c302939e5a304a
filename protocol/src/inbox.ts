import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, paging, Timestamp } from './common.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

export const InboxKind = Type.Enum([
  'mention',
  'assignment',
  'agent_needs_you',
  'agent_finished',
  'webhook_failing',
  'install_request',
  'budget_reached',
])
export type InboxKind = Static<typeof InboxKind>

export const InboxEntry = Type.Object(
  {
    id: id('inb'),
    kind: InboxKind,
    /** The issue, project, comment, agent session, webhook or app it is about. */
    subject_id: Type.String(),
    title: Type.String(),
    url: Type.String(),
    actor: nullable(Type.Object({ id: id('usr'), name: Type.String() }, closed)),
    read_at: nullable(Timestamp),
    created_at: Timestamp,
  },
  { ...closed, title: 'InboxEntry' },
)
export type InboxEntry = Static<typeof InboxEntry>

export const inbox = {
  listInbox: operation(routes.listInbox, {
    summary: 'List inbox entries of the caller, newest first',
    query: Type.Object({ ...paging, unread: Type.Optional(Type.Boolean()) }, closed),
    returns: { 200: list(InboxEntry) },
  }),
  updateInboxEntry: operation(routes.updateInboxEntry, {
    summary: 'Mark an entry as read or unread',
    body: Type.Object({ read: Type.Boolean() }, closed),
    returns: { 200: InboxEntry },
  }),
  readInbox: operation(routes.readInbox, {
    summary: 'Mark all entries as read',
    returns: { 204: null },
  }),
}
