import { days } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { found } from '../http/errors.ts'
import { generatedIcon } from '../icons/generated.ts'
import { fetchIcon } from '../icons/icon.ts'
import { SingleFlight } from '../single-flight.ts'

/** How long a fetched icon, and a failed fetch, are used before the next fetch. */
const freshMs = days(1)
const failureMs = 60 * 60 * 1000

interface App {
  name: string
  icon_url: string | null
  cached: { url: string; type: string | null; fetched_at: string } | null
}

/** By app and address, so that a page with many copies of one icon fetches it once. */
const fetches = new SingleFlight<void>()

/** The app's icon, or a generated one. The service fetches and caches it, so browsers do not call the app's site. */
export async function readIcon(ctx: Context, appId: string): Promise<{ type: string; bytes: Uint8Array }> {
  const app = found(
    await ctx.db.row<App>(sql`
      select a.name, a.icon_url,
        case when i.app_id is not null
          then jsonb_build_object('url', i.url, 'type', i.type, 'fetched_at', i.fetched_at) end as cached
      from agent_apps a left join app_icons i on i.app_id = a.id
      where a.id = ${appId} and a.deleted_at is null`),
  )
  if (app.icon_url && !isFresh(app, ctx.clock.now())) await refresh(ctx, appId, app.icon_url)
  const icon = app.icon_url
    ? await ctx.db.row<{ type: string; bytes: Uint8Array }>(sql`
        select type, bytes from app_icons where app_id = ${appId} and url = ${app.icon_url} and bytes is not null`)
    : undefined
  return icon ?? { type: 'image/svg+xml', bytes: generatedIcon(appId, app.name) }
}

function isFresh({ icon_url, cached }: App, now: Date) {
  if (cached?.url !== icon_url || !cached) return false
  return now.getTime() - Date.parse(cached.fetched_at) < (cached.type ? freshMs : failureMs)
}

const refresh = (ctx: Context, appId: string, url: string) =>
  fetches.run(`${appId} ${url}`, () => fetchAndCache(ctx, appId, url))

/** Fetches the icon and caches it. A failed fetch keeps the icon that was cached from the same URL. */
async function fetchAndCache({ db, clock, outbound }: Context, appId: string, url: string) {
  const icon = await fetchIcon(outbound, url)
  await db.run(sql`
    insert into app_icons as i (app_id, url, type, bytes, fetched_at)
    values (${appId}, ${url}, ${icon?.type ?? null}, ${icon?.bytes ?? null}, ${clock.now()})
    on conflict (app_id) do update set url = excluded.url, fetched_at = excluded.fetched_at,
      type = case when excluded.type is null and i.url = excluded.url then i.type else excluded.type end,
      bytes = case when excluded.type is null and i.url = excluded.url then i.bytes else excluded.bytes end`)
}
