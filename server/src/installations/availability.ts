import type { AppScope, UnavailableReason } from '@baton/protocol'
import { effectiveScopes } from '../login/tokens.ts'
import { limitsOfMonth, type Spending } from './budget.ts'

export interface InstalledApp {
  allTeams: boolean
  teamIds: readonly string[]
  approved: AppScope[]
  requested: AppScope[]
  /** The state of its webhook; must be `enabled`. */
  webhook: string
  /** Null without a budget. */
  spending: Spending | null
}

/** An agent inside the service: a personal agent if it has an owner, else the built-in agent. */
export interface InsideAgent {
  ownerId: string | null
}

/** The teams of an issue or project, or that it is personal. */
export interface WorkPlace {
  personal: boolean
  teamIds: readonly string[]
}

/**
 * An app covers shared items of its teams, and items without a team only if it covers all teams. The built-in agent
 * covers all shared items. A personal agent also covers personal items, because only its owner can delegate to it.
 */
export function coversPlace(agent: Pick<InstalledApp, 'allTeams' | 'teamIds'> | InsideAgent, place: WorkPlace) {
  if ('ownerId' in agent) return !place.personal || agent.ownerId !== null
  return !place.personal && (agent.allTeams || place.teamIds.some((id) => agent.teamIds.includes(id)))
}

/**
 * The first unmet requirement for this person to delegate to or mention the agent, or null (identity.picker-reason-order,
 * delegation.personal-agent-owner-only). Without a place, coverage is not checked.
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
  if (agent.webhook !== 'enabled') return 'app_webhook_disabled'
  return agent.spending && limitsOfMonth(agent.spending).length > 0 ? 'app_budget_reached' : null
}
