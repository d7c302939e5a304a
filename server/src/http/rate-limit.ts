import ipaddr from 'ipaddr.js'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { ApiError } from './errors.ts'

/** The clocks of two processes do not differ by so much. */
const clocksDifferMs = 60_000

/** So many at once, given back evenly over the period. */
export interface Allowance {
  limit: number
  periodMs: number
}

/**
 * Takes one from the allowance of `key`, or throws 429. GCRA in one statement: the row holds the time at which the key
 * will have used nothing, so it is exact over all processes and needs no window.
 */
export async function takeOne(db: Queryable, key: string, allowance: Allowance, now: Date): Promise<void> {
  const nowMs = now.getTime()
  const step = allowance.periodMs / allowance.limit
  const full = nowMs + allowance.periodMs
  // What lies far beyond a full allowance was written by a clock that has been set back since, and says nothing.
  const used = sql`case when r.clear_at > ${full + clocksDifferMs} then ${nowMs} else greatest(r.clear_at, ${nowMs}) end`
  const taken = await db.row(sql`
    insert into rate_limits as r (key, clear_at) values (${key}, ${nowMs + step})
    on conflict (key) do update set clear_at = ${used} + ${step} where ${used} + ${step} <= ${full}
    returning clear_at`)
  if (taken) return
  const found = await db.row<{ clear_at: number }>(sql`select clear_at from rate_limits where key = ${key}`)
  const waitMs = (found?.clear_at ?? nowMs) + step - full
  throw new ApiError(
    'RATE_LIMIT_EXCEEDED',
    {},
    { headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) } },
  )
}

/** Whom an address counts for: IPv6 hands out networks of 2^64 addresses to one household. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const ip = ipaddr.process(address)
  return ip.kind() === 'ipv4'
    ? ip.toString()
    : `${(ip as ipaddr.IPv6).parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
}

/** Gives one back that turned out not to count. */
export const giveBackOne = (db: Queryable, key: string, { limit, periodMs }: Allowance) =>
  db.run(sql`update rate_limits set clear_at = clear_at - ${periodMs / limit} where key = ${key}`)

/** Rows of keys that have used nothing say nothing. */
export const sweepRateLimits = (db: Queryable, now: Date) =>
  db.run(sql`delete from rate_limits where clear_at < ${now.getTime()}`)
