import type { Tx } from '../db/database.ts'
import type { Session } from './session.ts'

/** Whoever watches the session, or the workspace, looks at it again. */
export function watched(
  teller: Pick<Tx, 'tell'>,
  { id, workspaceId, issueId, projectId, personalOf }: Session,
  action: 'create' | 'update' = 'update',
) {
  teller.tell('live', [
    JSON.stringify({
      workspace_id: workspaceId,
      type: 'AgentSession',
      id,
      action,
      parent_id: issueId ?? projectId,
      only: personalOf,
    }),
  ])
}
