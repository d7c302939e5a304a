import { limits } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { networkOf } from '../http/rate-limit.ts'

const knownMs = days(limits.knownNetworkDays)

/** Networks are stored as keyed hashes, because an address is personal data. */
export const networkHash = ({ keys }: Context, address: string) => keys.mac('sign-in network', networkOf(address))

/** Whether the user `u` of the statement signed in from the caller's network lately. */
export const knowsNetwork = (ctx: Context, address: string) => sql`exists (
  select 1 from login_networks n where n.user_id = u.id and n.network_hash = ${networkHash(ctx, address)}
    and n.last_used_at >= ${plus(ctx.clock.now(), -knownMs)})`

/** Call after a sign-in. */
export const rememberNetwork = (ctx: Context, userId: string, address: string) =>
  ctx.db.run(sql`
    insert into login_networks as n (user_id, network_hash, last_used_at)
    values (${userId}, ${networkHash(ctx, address)}, ${ctx.clock.now()})
    on conflict (user_id, network_hash) do update set last_used_at = greatest(n.last_used_at, excluded.last_used_at)`)

/** Call when the password changes: another person may have signed in with the old one. */
export const forgetOtherNetworks = (tx: Queryable, ctx: Context, userId: string, address: string) =>
  tx.run(sql`delete from login_networks where user_id = ${userId} and network_hash <> ${networkHash(ctx, address)}`)

export const sweepLoginNetworks = (db: Queryable, now: Date) =>
  db.run(sql`delete from login_networks where last_used_at < ${plus(now, -knownMs)}`)

/** Call when the account was recovered: another person may have signed in from any of them. */
export const forgetNetworks = (tx: Queryable, userId: string) =>
  tx.run(sql`delete from login_networks where user_id = ${userId}`)
