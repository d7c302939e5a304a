import type { AppScope } from '@baton/protocol'
import type { Claimed } from '../agent-sessions/work-queue.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { none, sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'

export type InsideAgentKind = 'deployment' | 'personal'

/** Agents have the scopes `read` and `write`. Without a model the built-in agent's rules only read and comment. */
export const scopesOf = (kind: InsideAgentKind, { model }: Config): AppScope[] =>
  kind === 'deployment' && !model ? ['read', 'comments:create'] : ['read', 'write']

interface SessionAgent {
  id: string
  name: string
  kind: InsideAgentKind
  instructions: string
  workspaceId: string
  personalOf: string | null
  pendingDeletion: boolean
}

/**
 * Reads the agent of a session as of now. Undefined if it was deleted, its owner left the workspace, or `claimed` is
 * given and no longer holds.
 */
export async function findSessionAgent(
  { db, config }: Pick<Context, 'db' | 'config'>,
  sessionId: string,
  claimed?: Claimed,
): Promise<{ agent: SessionAgent; caller: App } | undefined> {
  const agent = await db.row<SessionAgent>(sql`
    select n.user_id as id, u.display_name as name, u.agent_kind as kind, n.instructions,
      n.workspace_id as "workspaceId",
      case when i.personal and i.reporter_id = n.owner_id or p.personal and p.owner_id = n.owner_id
        then n.owner_id end as "personalOf", w.deletion_at is not null as "pendingDeletion"
    from agent_sessions s
    join inside_agents n on n.user_id = s.agent_id and n.deleted_at is null
    join users u on u.id = n.user_id
    join workspaces w on w.id = n.workspace_id
    left join issues i on i.id = s.issue_id
    left join projects p on p.id = s.project_id
    where s.id = ${sessionId} and (n.owner_id is null or exists (
      select from memberships m where m.workspace_id = n.workspace_id and m.user_id = n.owner_id))
      ${claimed ? sql`and exists (select from agent_work w where w.id = ${claimed.id} and w.claim_id = ${claimed.claimId})` : none}`)
  if (!agent) return undefined
  const { id, name, kind, workspaceId, personalOf, pendingDeletion } = agent
  return {
    agent,
    caller: {
      kind: 'app',
      id,
      name,
      workspaceId,
      workspaceAsked: workspaceId,
      appId: null,
      appName: name,
      installationId: null,
      tokenHash: Buffer.alloc(0),
      scopes: scopesOf(kind, config),
      allTeams: true,
      teamIds: [],
      personalOf,
      pendingDeletion,
    },
  }
}
