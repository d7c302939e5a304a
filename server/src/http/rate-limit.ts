import ipaddr from 'ipaddr.js'
import { counters } from '../counters.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { ApiError } from './errors.ts'

/** More than the clocks of two processes differ. */
const maxClockSkewMs = 60_000

/** `limit` calls at once, restored evenly over the period. */
export interface Allowance {
  limit: number
  periodMs: number
}

/**
 * Takes one call from the allowance of `key`, or throws 429. GCRA in one statement: the row has the time at which the
 * whole allowance is available again, so it is exact across processes and needs no window.
 */
export async function takeOne(db: Queryable, key: string, allowance: Allowance, now: Date): Promise<void> {
  const nowMs = now.getTime()
  const step = allowance.periodMs / allowance.limit
  const full = nowMs + allowance.periodMs
  // A time beyond a full period was written by a clock that has since been set back; ignore it.
  const used = sql`case when r.clear_at > ${full + maxClockSkewMs} then ${nowMs} else greatest(r.clear_at, ${nowMs}) end`
  const taken = await db.row(sql`
    insert into rate_limits as r (key, clear_at) values (${key}, ${nowMs + step})
    on conflict (key) do update set clear_at = ${used} + ${step} where ${used} + ${step} <= ${full}
    returning clear_at`)
  if (taken) return
  const found = await db.row<{ clear_at: number }>(sql`select clear_at from rate_limits where key = ${key}`)
  const waitMs = (found?.clear_at ?? nowMs) + step - full
  throw rateLimited(limitOf(key), waitMs)
}

/** A key begins with the name of its limit; what follows is of the caller. */
export const limitOf = (key: string) => key.slice(0, key.indexOf(' '))

/** A refusal, counted by the name of the limit. */
export function rateLimited(limit: string, waitMs: number, { message, headers = {} }: RateLimitDetails = {}) {
  counters.rateLimited.inc({ limit })
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1000)))
  const sent = { 'retry-after': seconds, ...headers }
  return new ApiError('RATE_LIMIT_EXCEEDED', {}, message === undefined ? { headers: sent } : { message, headers: sent })
}

interface RateLimitDetails {
  message?: string
  headers?: Record<string, string>
}

/** The key that an address is counted by: for IPv6 its /64 network, because one household has 2^64 addresses. */
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

/** Returns one call to the allowance. */
export const giveBackOne = (db: Queryable, key: string, { limit, periodMs }: Allowance) =>
  db.run(sql`update rate_limits set clear_at = clear_at - ${periodMs / limit} where key = ${key}`)

/** Deletes keys whose allowance is complete. */
export const sweepRateLimits = (db: Queryable, now: Date) =>
  db.run(sql`delete from rate_limits where clear_at < ${now.getTime()}`)
