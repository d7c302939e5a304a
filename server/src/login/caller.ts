import { limits, type Role } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import { isLoopback } from '../config.ts'
import type { Context } from '../context.ts'
import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import type { Counted } from '../http/rate-window.ts'
import type { Credentials, ResolveCaller } from '../http/server.ts'
import { loginCookie } from './cookie.ts'
import { bearerOfToken, lastUseGrainMs } from './tokens.ts'

export const loginLifetimeMs = days(limits.loginLifetimeDays)

/** Who is calling: a person by their login, or whoever an OAuth token was given to. */
export async function resolveCaller(
  ctx: Context,
  credentials: Credentials,
  counted: Counted | null,
): ReturnType<ResolveCaller> {
  const bearer = bearerOf(credentials.authorization)
  if (bearer?.startsWith('svc_at_')) return bearerOfToken(ctx, bearer, credentials.workspaceId, counted)
  const token = bearer ?? cookieOf(credentials, ctx.config.rootUrl)
  if (token === undefined) return { caller: { kind: 'anonymous' } }
  if (!token.startsWith('psn_')) throw new ApiError('UNAUTHORIZED')
  return resolveLogin(ctx, credentials, token, bearer === undefined)
}

/** One query finds the login, the person and their role in the workspace asked for. */
async function resolveLogin(
  { db, clock, config }: Context,
  credentials: Credentials,
  token: string,
  byCookie: boolean,
): ReturnType<ResolveCaller> {
  const now = clock.now()
  const tokenHash = sha256(token)
  const workspaceId = credentials.workspaceId ?? null
  const found = await db.row<{ id: string; name: string; email: string; role: Role | null; last_used_at: string }>(sql`
    select u.id, u.display_name as name, u.email, m.role, l.last_used_at
    from logins l
    join users u on u.id = l.user_id
    left join memberships m on m.user_id = u.id and m.workspace_id = ${workspaceId}
    where l.token_hash = ${tokenHash} and l.last_used_at >= ${plus(now, -loginLifetimeMs)}`)
  if (!found) throw new ApiError('UNAUTHORIZED')

  const { last_used_at, ...person } = found
  const renew = now.getTime() - Date.parse(last_used_at) >= lastUseGrainMs
  if (renew) {
    await db.run(sql`update logins set last_used_at = ${now} where token_hash = ${tokenHash} and last_used_at < ${now}`)
  }
  return {
    caller: { kind: 'person', ...person, tokenHash, workspaceId, scopes: null },
    // The browser's copy must live as long as ours.
    headers: renew && byCookie ? { 'set-cookie': loginCookie(config, token) } : {},
  }
}

/**
 * Whether a member who was let in would be let in now. This is no use of the login: a use is followed by a new cookie,
 * and what is being answered already cannot carry one.
 */
export async function isLetIn({ db, clock }: Context, { tokenHash, workspaceId }: Member): Promise<boolean> {
  const found = await db.row(sql`
    select 1 from logins l
    join memberships m on m.user_id = l.user_id and m.workspace_id = ${workspaceId}
    where l.token_hash = ${tokenHash} and l.last_used_at >= ${plus(clock.now(), -loginLifetimeMs)}`)
  return found !== undefined
}

function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1]
  if (!token) throw new ApiError('UNAUTHORIZED')
  return token
}

/** A browser sends the cookie by itself, so a write must prove that a page of ours asked for it. */
function cookieOf({ cookie, writes, origin, fetchSite }: Credentials, rootUrl: string): string | undefined {
  if (!cookie || !writes) return cookie || undefined
  const sameOrigin = origin === undefined ? fetchSite === 'same-origin' : isOurs(origin, rootUrl)
  if (!sameOrigin) throw new ApiError('CSRF_REFUSED')
  return cookie
}

/** On one's own machine an address has several spellings, and all of them lead to this port. */
function isOurs(origin: string, rootUrl: string): boolean {
  if (origin === rootUrl) return true
  if (!URL.canParse(origin)) return false
  const [asked, ours] = [new URL(origin), new URL(rootUrl)]
  return (
    [asked, ours].every(({ hostname }) => isLoopback(hostname)) &&
    asked.origin === origin &&
    asked.protocol === ours.protocol &&
    asked.port === ours.port
  )
}
