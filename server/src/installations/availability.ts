import type { AppScope, UnavailableReason } from '@baton/protocol'
import { effectiveScopes } from '../login/tokens.ts'

export interface InstalledApp {
  allTeams: boolean
  teamIds: readonly string[]
  approved: AppScope[]
  requested: AppScope[]
  /** The state of its webhook; only `enabled` will do. */
  webhook: string
}

/** An agent that runs inside the service; with an owner it is that person's own (decisions 10). */
export interface InsideAgent {
  ownerId: string | null
}

/** Where work is to be done. */
export interface WorkPlace {
  personal: boolean
  teamIds: readonly string[]
}

/**
 * Whether it works there. An app never on what is personal, and without a team only if it covers all; the built-in agent
 * on all that is shared; a personal one also on what is personal, which nobody but its owner could hand to it.
 */
export function coversPlace(agent: Pick<InstalledApp, 'allTeams' | 'teamIds'> | InsideAgent, place: WorkPlace) {
  if ('ownerId' in agent) return !place.personal || agent.ownerId !== null
  return !place.personal && (agent.allTeams || place.teamIds.some((id) => agent.teamIds.includes(id)))
}

/**
 * 3.4.6, decisions 6 and 10: why this person cannot hand work there to the agent, by the first requirement that is
 * missing, or null. Delegating needs one scope, mentioning another. Without a place, whether it could be at all.
 */
export function unavailableReason(
  agent: InstalledApp | InsideAgent | null,
  place: WorkPlace | null,
  personId: string,
  scope: 'app:assignable' | 'app:mentionable' = 'app:assignable',
): UnavailableReason | null {
  if (agent && 'ownerId' in agent && agent.ownerId !== null && agent.ownerId !== personId) {
    return 'personal_agent_not_yours'
  }
  if (!agent || (place && !coversPlace(agent, place))) return 'app_not_installed_for_team'
  if ('ownerId' in agent) return null
  if (!effectiveScopes(agent.approved, agent.requested).includes(scope)) return 'app_missing_scope'
  return agent.webhook === 'enabled' ? null : 'app_webhook_disabled'
}
