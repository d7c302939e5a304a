import { sweepMessages } from './a2a/conversation.ts'
import { sweepListeners } from './agent-apps/listeners.ts'
import { sweepSessions } from './agent-sessions/retention.ts'
import { sweepAudit } from './audit/retention.ts'
import { sweepRuns } from './automations/runs.ts'
import { repeat } from './clock.ts'
import type { Context } from './context.ts'
import { counters } from './counters.ts'
import type { Db } from './db/database.ts'
import { sweepDeliveries } from './delivery/retention.ts'
import { sweepEvents } from './events/retention.ts'
import { sweepFiles } from './files/store.ts'
import { sweepGitDeliveries } from './git/receive.ts'
import { sweepRateLimits } from './http/rate-limit.ts'
import { sweepRateWindows } from './http/rate-window.ts'
import { removeOldImportData } from './imports/imports.ts'
import { sweepInbox } from './inbox/retention.ts'
import { sweepCliCodes } from './login/cli-logins.ts'
import { sweepLoginNetworks } from './login/known-networks.ts'
import { sweepLinks } from './login/links.ts'
import { sweepLogins } from './login/logins.ts'
import { sweepPersonalTokens } from './login/personal-tokens.ts'
import { sweepMails } from './mail/queue.ts'
import { sweepOAuth } from './oauth/sweep.ts'
import { sweepPasskeyChallenges } from './passkeys/challenges.ts'
import { sweepRelayed } from './relay/relay.ts'
import { sweepSso } from './sso/attempts.ts'
import { sweepInvitations } from './workspaces/invitations.ts'

const everyMs = 10 * 60 * 1000

const chores: Record<string, (db: Db, now: Date, ctx: Context) => Promise<unknown>> = {
  'rate limits': sweepRateLimits,
  'rate windows': sweepRateWindows,
  logins: sweepLogins,
  'personal tokens': sweepPersonalTokens,
  'known networks': sweepLoginNetworks,
  'account links': sweepLinks,
  'CLI codes': sweepCliCodes,
  invitations: sweepInvitations,
  'audit entries': sweepAudit,
  'agent sessions': sweepSessions,
  'inbox entries': sweepInbox,
  events: sweepEvents,
  deliveries: sweepDeliveries,
  oauth: sweepOAuth,
  'single sign-on': sweepSso,
  'passkey challenges': sweepPasskeyChallenges,
  mails: sweepMails,
  'A2A messages': sweepMessages,
  'git deliveries': sweepGitDeliveries,
  files: (_db, _now, ctx) => sweepFiles(ctx),
  imports: (_db, _now, ctx) => removeOldImportData(ctx),
  'automation runs': sweepRuns,
  listeners: sweepListeners,
  relayed: sweepRelayed,
  tables: (db) => db.tidy(),
}

/**
 * Deletes expired rows. Every process may do it, and none depends on it. A chore that fails is logged and tried again the
 * next time; the others still run.
 */
export async function sweep(ctx: Context) {
  const { db, clock, log } = ctx
  for (const [chore, work] of Object.entries(chores)) {
    try {
      await work(db, clock.now(), ctx)
      counters.choresDone.set({ chore }, clock.now().getTime() / 1000)
    } catch (error) {
      counters.choresFailed.inc({ chore })
      log.warn({ chore, message: (error as Error).message }, 'housekeeping failed')
    }
  }
}

export function startHousekeeping(ctx: Context) {
  for (const chore of Object.keys(chores)) {
    counters.choresDone.set({ chore }, ctx.clock.now().getTime() / 1000)
    counters.choresFailed.inc({ chore }, 0)
  }
  return repeat(
    ctx.clock,
    everyMs,
    () => sweep(ctx),
    ({ message }) => ctx.log.warn({ message }, 'housekeeping failed'),
  )
}
