import { type Static, Type } from 'typebox'
import { closed, nullable } from './common.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

/** The data of a `change`: that something changed, never what. Whoever wants to know reads it. */
export const LiveChange = Type.Object(
  {
    /**
     * `Workspace`: its settings, members, invitations, teams, labels, cycles, milestones, initiatives or views.
     * `Agents`: registered apps, installations, or who can be given work.
     */
    type: Type.Enum(['Issue', 'Project', 'Comment', 'AgentSession', 'Inbox', 'Workspace', 'Agents']),
    /** Of an inbox: its owner's. Of `Workspace` and `Agents`: the workspace's. */
    id: Type.String(),
    action: Type.Enum(['create', 'update', 'remove']),
    /** The issue or project that a comment or agent session belongs to. */
    parent_id: nullable(Type.String()),
  },
  { ...closed, title: 'LiveChange' },
)
export type LiveChange = Static<typeof LiveChange>

export const live = {
  watchWorkspace: operation(routes.watchWorkspace, {
    summary:
      'Watch the workspace by server-sent events: `ready` at the start, `change` when something changed, `resync` when changes may have been missed',
    query: Type.Object({ workspace_id: Type.Optional(Type.String()) }, closed),
    returns: { 200: Type.String() },
    produces: 'text/event-stream',
  }),
}
