import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, paging, Timestamp } from './common.ts'
import { inboxLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Moment } from './tracker.ts'

export const inboxKinds = [
  'mention',
  'assignment',
  'comment',
  'status',
  'agent_needs_you',
  'agent_finished',
  'webhook_failing',
  'webhook_struggling',
  'install_request',
  'budget_reached',
  'automation_notice',
  'automation_paused',
  'review_requested',
  'suggestions_ready',
] as const
export const InboxKind = Type.Enum(inboxKinds)
export type InboxKind = Static<typeof InboxKind>

export const InboxEntry = Type.Object(
  {
    id: id('inb'),
    kind: InboxKind,
    /** The issue, project, comment, agent session, webhook, app, automation or team it is about. */
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

/** The entries of the caller about one subject. */
export const InboxThread = Type.Object(
  {
    /** The issue, project, webhook, app, automation or team; entries about a comment or session belong to its issue or project. */
    subject_id: Type.String(),
    title: Type.String(),
    url: Type.String(),
    latest: InboxEntry,
    count: Type.Integer(),
    unread_count: Type.Integer(),
    kinds: Type.Array(InboxKind),
    snoozed_until: nullable(Timestamp),
    archived_at: nullable(Timestamp),
  },
  { ...closed, title: 'InboxThread' },
)
export type InboxThread = Static<typeof InboxThread>

export const ThreadState = Type.Enum(['open', 'snoozed', 'archived'], {
  'x-message': 'must be open, snoozed or archived',
})
export type ThreadState = Static<typeof ThreadState>

export const InboxThreadChange = Type.Partial(
  Type.Object({ read: Type.Boolean(), archived: Type.Boolean(), snoozed_until: Moment }),
  closed,
)
export type InboxThreadChange = Static<typeof InboxThreadChange>

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
  listInboxThreads: operation(routes.listInboxThreads, {
    summary: 'List the inbox of the caller with one thread for each subject, newest first',
    query: Type.Object({ ...paging, state: Type.Optional(ThreadState), unread: Type.Optional(Type.Boolean()) }, closed),
    returns: { 200: list(InboxThread) },
  }),
  updateInboxThread: operation(routes.updateInboxThread, {
    summary: `Mark a thread as read or unread, archive it, or snooze it for up to ${inboxLimits.snoozeDays} days`,
    body: InboxThreadChange,
    returns: { 200: InboxThread },
  }),
  archiveReadThreads: operation(routes.archiveReadThreads, {
    summary: 'Archive all open threads without unread entries',
    returns: { 204: null },
  }),
}
