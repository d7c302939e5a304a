import type { PausedReason } from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Hooks, HookUnit } from '../hooks.ts'
import { notifyManagers } from '../inbox/notify.ts'

/** Pauses the automations `a` that match, unless they are paused, and tells their owners and the managers. */
export async function pauseMatching(unit: Pick<HookUnit, 'tx' | 'now'>, which: Sql, reason: PausedReason) {
  const paused = await unit.tx.rows<{ id: string; name: string; workspaceId: string; ownerId: string }>(sql`
    update automations a set state = 'paused', paused_reason = ${reason}, next_at = null, updated_at = ${unit.now}
    where ${which} and a.state <> 'paused'
    returning a.id, a.name, a.workspace_id as "workspaceId", a.owner_id as "ownerId"`)
  for (const { id, name, workspaceId, ownerId } of paused) {
    // By the service: the person who caused it may be one of those to tell.
    const byService = { ...unit, caller: { id: null, workspaceId } }
    await recordAudit(byService, { action: 'automation.paused', subjectId: id, details: { name, reason } })
    await notifyManagers(byService, 'automation_paused', { automationId: id }, [ownerId])
  }
  return paused.length
}

/** automation.agent-gone */
export const agentGone: Hooks['agentGone'] = async (unit, agentId) => {
  await pauseMatching(unit, sql`a.agent_ids @> array[${agentId}::text]`, 'agent_gone')
}

/** automation.owner-left */
export const memberGone: Hooks['memberGone'] = async (unit, workspaceId, userId) => {
  await pauseMatching(unit, sql`a.owner_id = ${userId} and a.workspace_id = ${workspaceId}`, 'owner_left')
}
