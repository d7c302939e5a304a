import { type HintSender, sendHints } from '../live/hint.ts'
import type { Session } from './session.ts'

/** Whoever watches the session, or the workspace, looks at it again. */
export function watched(
  sender: HintSender,
  { id, workspaceId, issueId, projectId, personalOf }: Session,
  action: 'create' | 'update' = 'update',
) {
  const parentId = issueId ?? projectId
  sendHints(sender, [
    { workspace_id: workspaceId, type: 'AgentSession', id, action, parent_id: parentId, only: personalOf },
  ])
}
