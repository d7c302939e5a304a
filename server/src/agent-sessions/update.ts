import { isDeepStrictEqual } from 'node:util'
import type { AgentSession, ExternalUrl, SessionChange } from '@baton/protocol'
import { limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { invalid } from '../http/errors.ts'
import { transact } from '../unit-of-work.ts'
import { refuseRepeated } from './bodies.ts'
import { lifecycleColumns, lockOwnSession, readSession } from './session.ts'
import { sendSessionHint } from './session-hint.ts'
import { afterUpdate } from './state.ts'
import { reportUsage } from './usage.ts'

/** Replaces the plan, replaces or changes the list of links, and stores usage. The state stays the same (plan.keeps-state). */
export function updateSession(ctx: Context, caller: App, id: string, change: SessionChange): Promise<AgentSession> {
  const { plan, external_urls, added_external_urls, removed_external_urls, usage } = change
  if (external_urls && (added_external_urls || removed_external_urls)) {
    throw invalid({ external_urls: 'cannot be sent together with added_external_urls or removed_external_urls' })
  }
  refuseRepeated('external_urls', 'url', external_urls ?? [])
  refuseRepeated('added_external_urls', 'url', added_external_urls ?? [])
  return transact(ctx, caller, async (unit) => {
    const { tx, now, config } = unit
    const session = await lockOwnSession(unit, id)
    const urls = external_urls ?? changedUrls(session.externalUrls, added_external_urls, removed_external_urls)
    if (urls.length > limits.externalUrls) {
      throw invalid({ added_external_urls: `must leave at most ${limits.externalUrls} links` })
    }
    const items = plan ?? session.plan
    // Nothing differs, so `updated_at` stays too.
    if (!usage && isDeepStrictEqual([items, urls], [session.plan, session.externalUrls])) {
      return readSession(unit, id)
    }
    const addsLinks = (external_urls ?? added_external_urls ?? []).length > 0
    const after = afterUpdate(session.lifecycle, { addsLinks }, now)
    await tx.run(sql`
      update agent_sessions set ${lifecycleColumns(session, after, now, config)},
        plan = ${JSON.stringify(items)}, external_urls = ${JSON.stringify(urls)}
      where id = ${id}`)
    if (usage) await reportUsage(unit, session, usage)
    sendSessionHint(tx, session)
    return readSession(unit, id)
  })
}

/** A link that exists keeps its position and gets the new label (external-url.added-existing-replaces-label). */
function changedUrls(before: ExternalUrl[], added: ExternalUrl[] = [], removed: string[] = []): ExternalUrl[] {
  const urls = new Map(before.filter(({ url }) => !removed.includes(url)).map((link) => [link.url, link]))
  for (const link of added) urls.set(link.url, link)
  return [...urls.values()]
}
