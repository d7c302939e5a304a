import { isAgentSessionApi, type Route } from '@baton/protocol'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Caller } from './caller.ts'
import { ApiError } from './errors.ts'

const minuteMs = 60_000
const windowsAtOnce = 100

/** So many calls in any minute, wherever it begins. */
export interface RateLimit {
  name: 'sessions' | 'api'
  max: number
}

/** What a window said: whether the call was let through, and how many more would be. */
export interface Taken {
  allowed: boolean
  remaining: number
  reset_ms: number
}

/** What a call is counted on. */
export type Counted = Pick<Route, 'path' | 'at'>

/** 8, decisions 1: the Agent Session API has a limit of its own. */
export const rateLimitOf = (config: Config, route: Counted): RateLimit =>
  isAgentSessionApi(route)
    ? { name: 'sessions', max: config.installationRatePerMinute }
    : { name: 'api', max: config.apiRatePerMinute }

/**
 * A call of the function that takes one (migration 0006), for a statement that knows who is calling. Nothing is taken
 * without a limit, nor where the holder is null.
 */
export const takeFromWindow = (limit: RateLimit | null, holder: Sql, now: Date) => sql`take_from_window(
  ${limit?.name ?? null}::text || ':' || ${holder}, ${limit?.max ?? null}::int, ${minuteMs}::bigint,
  ${now.getTime()}::bigint)`

/** Takes one for whoever comes in another way than by an HTTP request of their own. Returns the headers. */
export async function takeCall({ config, db, clock }: Context, caller: Caller, route: Route) {
  if (caller.kind === 'anonymous' || !caller.scopes) return {}
  const limit = rateLimitOf(config, route)
  const token = caller.tokenHash.toString('hex')
  const holder = limit.name === 'sessions' && caller.kind === 'app' ? (caller.installationId ?? caller.id) : token
  const call = takeFromWindow(limit, sql`${holder}::text`, clock.now())
  return letThrough(limit, (await db.row<Taken>(sql`select * from ${call}`)) as Taken)
}

/** The headers that tell an app how it stands; over the limit they come with the refusal. */
export function letThrough({ max }: RateLimit, { allowed, remaining, reset_ms }: Taken): Record<string, string> {
  const seconds = String(Math.ceil(reset_ms / 1000))
  const headers = {
    'ratelimit-limit': String(max),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': seconds,
  }
  if (allowed) return headers
  throw new ApiError('RATE_LIMIT_EXCEEDED', {}, { headers: { ...headers, 'retry-after': seconds } })
}

/**
 * Windows whose last call has left them, by any clock, say nothing. One that lies ahead was written by a clock that has
 * been put right since, and would refuse calls until then.
 */
export async function sweepRateWindows(db: Queryable, now: Date) {
  const nowMs = now.getTime()
  let swept: number
  do {
    swept = await db.run(sql`
      with gone as (
        delete from rate_windows where (key, max) in (
          select key, max from rate_windows
          where last_at <= ${nowMs - 2 * minuteMs} or last_at > ${nowMs + minuteMs}
          limit ${windowsAtOnce} for update skip locked)
        returning id
      ), calls as (
        delete from rate_window_calls c using gone where c.window_id = gone.id
      )
      select id from gone`)
  } while (swept === windowsAtOnce)
}
