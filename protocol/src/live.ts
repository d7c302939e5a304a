import { type Static, Type } from 'typebox'
import { closed, nullable } from './common.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

/** The data of a `change` event. It says that a record changed, not how: clients read the record again. */
export const LiveChange = Type.Object(
  {
    /**
     * `Workspace`: its settings, members, invitations, teams, labels, cycles, milestones, initiatives or views.
     * `Agents`: registered apps, installations, or which agents are available. `Import`: the progress of an import.
     */
    type: Type.Enum(['Issue', 'Project', 'Comment', 'AgentSession', 'Inbox', 'Workspace', 'Agents', 'Import']),
    /** For `Inbox` the owner's id; for `Workspace` and `Agents` the workspace's id. */
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
      'Watch the workspace with server-sent events: `ready` at the start, `change` after each change, `resync` if changes may have been missed',
    query: Type.Object({ workspace_id: Type.Optional(Type.String()) }, closed),
    returns: { 200: Type.String() },
    produces: 'text/event-stream',
  }),
}
