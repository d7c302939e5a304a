import { isDeepStrictEqual } from 'node:util'
import type { AgentSession, ExternalUrl, SessionChange } from '@baton/protocol'
import { limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { transact } from '../unit-of-work.ts'
import { refuseRepeated } from './bodies.ts'
import { lockSessions, readSession, refuseEnded, standingColumns } from './session.ts'
import { afterLink } from './state.ts'
import { watched } from './watched.ts'

/** 4.5: the plan as a whole; the links as a whole, or some added and some removed. The state stays. */
export function updateSession(ctx: Context, caller: App, id: string, change: SessionChange): Promise<AgentSession> {
  const { plan, external_urls, added_external_urls, removed_external_urls } = change
  if (external_urls && (added_external_urls || removed_external_urls)) {
    throw invalid({ external_urls: 'cannot be sent together with added_external_urls or removed_external_urls' })
  }
  refuseRepeated('external_urls', 'url', external_urls ?? [])
  refuseRepeated('added_external_urls', 'url', added_external_urls ?? [])
  return transact(ctx, caller, async (unit) => {
    const { tx, now, config } = unit
    const [locked] = await lockSessions(
      unit,
      sql`s.id = ${id} and s.workspace_id = ${caller.workspaceId} and s.agent_id = ${caller.id}`,
    )
    const session = found(locked)
    refuseEnded(session)
    const urls = external_urls ?? changedUrls(session.externalUrls, added_external_urls, removed_external_urls)
    if (urls.length > limits.externalUrls) {
      throw invalid({ added_external_urls: `must leave at most ${limits.externalUrls} links in all` })
    }
    const items = plan ?? session.plan
    // What is asked for is there already: nothing changes, not even the time of the last change.
    if (isDeepStrictEqual([items, urls], [session.plan, session.externalUrls])) {
      return readSession(unit, id)
    }
    const links = external_urls ?? added_external_urls ?? []
    const standing = { ...session.standing, updatedAt: now }
    const after = links.length > 0 ? afterLink(standing, now) : standing
    await tx.run(sql`
      update agent_sessions set ${standingColumns(session, after, now, config)},
        plan = ${JSON.stringify(items)}, external_urls = ${JSON.stringify(urls)}
      where id = ${id}`)
    watched(tx, session)
    return readSession(unit, id)
  })
}

/** decisions 6: a link that is there gets the new label in its place; removing one that is not there is no error. */
function changedUrls(before: ExternalUrl[], added: ExternalUrl[] = [], removed: string[] = []): ExternalUrl[] {
  const urls = new Map(before.filter(({ url }) => !removed.includes(url)).map((link) => [link.url, link]))
  for (const link of added) urls.set(link.url, link)
  return [...urls.values()]
}
