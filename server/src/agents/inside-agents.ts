import { builtInName } from '@baton/protocol'
import { sql } from '../db/sql.ts'
import { createAgentUser } from '../login/users.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { InsideAgentKind } from './identity.ts'

interface NewInsideAgent {
  kind: InsideAgentKind
  name: string
  instructions: string
  workspaceId: string
  ownerId: string | null
}

export async function createInsideAgent(unit: UnitOfWork, agent: NewInsideAgent, userId?: string): Promise<string> {
  const { tx, now } = unit
  const id = await createAgentUser(unit, agent.kind, agent.name, userId)
  await tx.run(sql`
    insert into inside_agents (user_id, workspace_id, owner_id, instructions, created_at, updated_at)
    values (${id}, ${agent.workspaceId}, ${agent.ownerId}, ${agent.instructions}, ${now}, ${now})`)
  return id
}

/** Every workspace has a built-in agent from the start. A restored workspace keeps the id of the one it had. */
export const createBuiltInAgent = (unit: UnitOfWork, workspaceId: string, userId?: string) => {
  const agent = { kind: 'deployment', name: builtInName, instructions: '', workspaceId, ownerId: null } as const
  return createInsideAgent(unit, agent, userId)
}
