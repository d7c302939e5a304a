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

/**
 * 3.4.6: why an issue of this team cannot be delegated to the app, by the first requirement that is missing, or null.
 * Without a place, whether it could be at all.
 */
export function unavailableReason(
  app: InstalledApp,
  place: { teamId: string | null } | null,
): UnavailableReason | null {
  const covered = app.allTeams || !place || (place.teamId !== null && app.teamIds.includes(place.teamId))
  if (!covered) return 'app_not_installed_for_team'
  if (!effectiveScopes(app.approved, app.requested).includes('app:assignable')) return 'app_missing_scope'
  return app.webhook === 'enabled' ? null : 'app_webhook_disabled'
}
