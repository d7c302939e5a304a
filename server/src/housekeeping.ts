import { sweepListeners } from './agent-apps/listeners.ts'
import { repeat } from './clock.ts'
import type { Context } from './context.ts'
import { sweepDeliveries } from './delivery/retention.ts'
import { sweepRateLimits } from './http/rate-limit.ts'
import { sweepRateWindows } from './http/rate-window.ts'
import { sweepLogins } from './login/logins.ts'
import { sweepOAuth } from './oauth/sweep.ts'
import { sweepRelayed } from './relay/relay.ts'
import { sweepInvitations } from './workspaces/invitations.ts'

const everyMs = 10 * 60 * 1000

/** Removes what no longer means anything. Every process may do it; none depends on it having been done. */
export async function sweep({ db, clock }: Context) {
  const now = clock.now()
  await sweepRateLimits(db, now)
  await sweepRateWindows(db, now)
  await sweepLogins(db, now)
  await sweepInvitations(db, now)
  await sweepDeliveries(db, now)
  await sweepOAuth(db, now)
  await sweepListeners(db, now)
  await sweepRelayed(db, now)
  await db.tidy()
}

export const startHousekeeping = (ctx: Context) =>
  repeat(ctx.clock, everyMs, () =>
    sweep(ctx).catch((error: Error) => ctx.log.warn({ message: error.message }, 'housekeeping failed')),
  )
