import type { AppScope } from '@baton/protocol'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { none, sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import type { Claimed } from './claim.ts'
import type { Work } from './mind.ts'

/**
 * What agents inside the service may do (decisions 10): what an app may that reads and writes. The rules of the built-in
 * one, which it has for want of a model, only read and comment, so then it may no more.
 */
export const scopesOf = (kind: Work['agent']['kind'], { model }: Config): AppScope[] =>
  kind === 'deployment' && !model ? ['read', 'comments:create'] : ['read', 'write']

interface Found {
  id: string
  name: string
  kind: Work['agent']['kind']
  instructions: string
  workspaceId: string
  personalOf: string | null
}

/**
 * The agent of a session, as it is at this moment; undefined once it was deleted or its owner has left, and for who
 * worked for it until somebody else took over.
 */
export async function agentIn(
  { db, config }: Pick<Context, 'db' | 'config'>,
  sessionId: string,
  claimed?: Claimed,
): Promise<{ agent: Found; caller: App } | undefined> {
  const agent = await db.row<Found>(sql`
    select n.user_id as id, u.display_name as name, u.agent_kind as kind, n.instructions,
      n.workspace_id as "workspaceId",
      case when i.personal and i.reporter_id = n.owner_id or p.personal and p.owner_id = n.owner_id
        then n.owner_id end as "personalOf"
    from agent_sessions s
    join inside_agents n on n.user_id = s.agent_id and n.deleted_at is null
    join users u on u.id = n.user_id
    left join issues i on i.id = s.issue_id
    left join projects p on p.id = s.project_id
    where s.id = ${sessionId} and (n.owner_id is null or exists (
      select from memberships m where m.workspace_id = n.workspace_id and m.user_id = n.owner_id))
      ${claimed ? sql`and exists (select from agent_work w where w.id = ${claimed.id} and w.claim_id = ${claimed.claimId})` : none}`)
  if (!agent) return undefined
  const { id, name, kind, workspaceId, personalOf } = agent
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
    },
  }
}
