import { isAgentSessionApi, type Route } from '@baton/protocol'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Caller } from './caller.ts'
import { limitOf, rateLimited } from './rate-limit.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Of the keys of windows of an hour, which are kept longer. */
const hourPrefix = 'hour:'
const windowsPerStatement = 100

/** At most `max` calls in any 60 seconds. */
export interface RateLimit {
  name: 'sessions' | 'api' | 'linear tokens' | 'mails' | 'uploads'
  max: number
}

/** The result of a call: whether it was allowed, and how many more are. */
export interface Taken {
  allowed: boolean
  remaining: number
  reset_ms: number
}

/** The route that decides which limit applies. */
export type Counted = Pick<Route, 'path' | 'at'>

/** rate.installation-600-per-minute for the Agent Session API, rate.api-1200-per-minute for other routes. */
export const rateLimitOf = (config: Config, route: Counted): RateLimit & { name: 'sessions' | 'api' } =>
  isAgentSessionApi(route)
    ? { name: 'sessions', max: config.installationRatePerMinute }
    : { name: 'api', max: config.apiRatePerMinute }

/**
 * SQL that counts a call (a function of migration 0006), for use in the statement that finds the caller. It counts
 * nothing without a limit, or when the holder is null.
 */
export const takeFromWindow = (limit: RateLimit | null, holder: Sql, now: Date) => sql`take_from_window(
  ${limit?.name ?? null}::text || ':' || ${holder}, ${limit?.max ?? null}::int, ${minuteMs}::bigint,
  ${now.getTime()}::bigint)`

/** Counts one use of `limit` by `holder`, unless it is exceeded. */
export async function takeIfAllowed({ db, clock }: Context, limit: RateLimit, holder: string): Promise<Taken> {
  const call = takeFromWindow(limit, sql`${holder}::text`, clock.now())
  return (await db.row<Taken>(sql`select * from ${call}`)) as Taken
}

/** Counts one use of `limit` by `holder`; throws 429 when it is exceeded. */
export const takeOneCall = async (ctx: Context, limit: RateLimit, holder: string) =>
  rateLimitHeaders(limit, await takeIfAllowed(ctx, limit, holder))

/** At most `max` calls with this key in any hour; throws 429 above. Unlike `takeOne`, nothing is restored in between. */
export async function takeOneInHour(db: Queryable, key: string, max: number, now: Date) {
  const { allowed, reset_ms } = await takeInHourIfAllowed(db, key, max, now)
  if (allowed) return
  throw rateLimited(limitOf(key), reset_ms)
}

/** The same, for work that waits instead. */
export async function takeInHourIfAllowed(db: Queryable, key: string, max: number, now: Date): Promise<Taken> {
  return (await db.row<Taken>(sql`
    select * from take_from_window(${hourPrefix + key}, ${max}, ${hourMs}::bigint, ${now.getTime()}::bigint)`)) as Taken
}

/** Counts a call that is not a separate HTTP request, such as a tool call. Returns the headers. */
export async function takeCall(ctx: Context, caller: Caller, route: Route) {
  if (caller.kind === 'anonymous' || !caller.scopes) return {}
  const limit = rateLimitOf(ctx.config, route)
  const token = caller.tokenHash.toString('hex')
  const holder = limit.name === 'sessions' && caller.kind === 'app' ? (caller.installationId ?? caller.id) : token
  return takeOneCall(ctx, limit, holder)
}

/** The rate limit headers, with `linearAt` also those of Linear; throws 429 with them when the limit is exceeded. */
export function rateLimitHeaders(
  { name, max }: RateLimit,
  { allowed, remaining, reset_ms }: Taken,
  linearAt: Date | null = null,
): Record<string, string> {
  const seconds = String(Math.ceil(reset_ms / 1000))
  const headers = {
    'ratelimit-limit': String(max),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': seconds,
    ...(linearAt
      ? {
          'x-ratelimit-requests-limit': String(max),
          'x-ratelimit-requests-remaining': String(remaining),
          'x-ratelimit-requests-reset': String(linearAt.getTime() + Math.ceil(reset_ms)),
        }
      : {}),
  }
  if (allowed) return headers
  throw rateLimited(name, reset_ms, { headers })
}

/**
 * Deletes windows idle longer than the period plus clock skew, and windows in the future: they were written by a clock
 * that has since been corrected, and would refuse calls until then.
 */
export async function sweepRateWindows(db: Queryable, now: Date) {
  const nowMs = now.getTime()
  let swept: number
  do {
    swept = await db.run(sql`
      with gone as (
        delete from rate_windows where (key, max) in (
          select key, max from rate_windows
          where last_at > ${nowMs + minuteMs} or last_at <= ${nowMs - 2 * minuteMs}
            and (key not like ${`${hourPrefix}%`} or last_at <= ${nowMs - 2 * hourMs})
          limit ${windowsPerStatement} for update skip locked)
        returning id
      ), calls as (
        delete from rate_window_calls c using gone where c.window_id = gone.id
      )
      select id from gone`)
  } while (swept === windowsPerStatement)
}
