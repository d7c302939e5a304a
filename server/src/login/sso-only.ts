import { days, plus } from '../clock.ts'
import type { Config } from '../config.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { SignInMethod } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'

const tokensKeptMs = days(30)

/** Whether only a provider lets this address in. The break-glass account keeps its password. */
export const needsSso = ({ sso }: Config, email?: string) =>
  sso.only && (email === undefined || email !== sso.breakGlass)

/** Refuses what an instance with single sign-on only does not offer; with `email`, except to the break-glass account. */
export function refuseInSsoOnly(config: Config, email?: string) {
  if (needsSso(config, email)) throw new ApiError('SSO_REQUIRED')
}

/** Of the sign-in methods of this address, those that it may use. */
export const usableMethods = (config: Config, email: string, methods: readonly SignInMethod[]) =>
  config.sso.only
    ? methods.filter((method) => method === 'sso' || (method === 'password' && !needsSso(config, email)))
    : methods

/** Whether the login `l` of the statement began in a way that is still allowed. */
export const isAllowed = ({ sso }: Config): Sql =>
  sso.only
    ? sql`(l.identity_id is not null or l.user_id = (select b.id from users b where b.email = ${sso.breakGlass}))`
    : sql`true`

/**
 * Whether the user of the statement may still act through programs and personal tokens: without this, a person who
 * can no longer sign in at the provider would keep them.
 */
export const tokensWork = ({ sso }: Config, now: Date, user = sql`u`): Sql =>
  sso.only ? sql`coalesce(${user}.last_sso_at >= ${plus(now, -tokensKeptMs)}, false)` : sql`true`
