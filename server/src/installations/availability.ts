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

/** Where work is to be done. */
export interface WorkPlace {
  personal: boolean
  teamIds: readonly string[]
}

/** Whether the installation covers it: never what is personal, without a team only if it covers all. */
export const coversPlace = ({ allTeams, teamIds }: Pick<InstalledApp, 'allTeams' | 'teamIds'>, place: WorkPlace) =>
  !place.personal && (allTeams || place.teamIds.some((id) => teamIds.includes(id)))

/**
 * 3.4.6, decisions 6: why work there cannot be handed to the app, by the first requirement that is missing, or null.
 * Delegating needs one scope, mentioning another. Without a place, whether it could be at all.
 */
export function unavailableReason(
  app: InstalledApp | null,
  place: WorkPlace | null,
  scope: 'app:assignable' | 'app:mentionable' = 'app:assignable',
): UnavailableReason | null {
  if (!app || (place && !coversPlace(app, place))) return 'app_not_installed_for_team'
  if (!effectiveScopes(app.approved, app.requested).includes(scope)) return 'app_missing_scope'
  return app.webhook === 'enabled' ? null : 'app_webhook_disabled'
}
