import type { Role } from '@baton/protocol'
import { plus } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { sha256 } from '../crypto.ts'
import { none, sql } from '../db/sql.ts'
import type { Actor, LoginMethod, Member, SignInMethod } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import type { Counted } from '../http/rate-window.ts'
import type { Credentials, ResolveCaller } from '../http/server.ts'
import { loginCookie } from './cookie.ts'
import { isValid, recentMs } from './logins.ts'
import { methodNames } from './methods.ts'
import { isOwnOrigin, otherOrigin } from './origin.ts'
import { personalTokenPrefix, resolvePersonalToken } from './personal-tokens.ts'
import { isPendingDeletion, roleOf } from './roles.ts'
import { isAllowed, usableMethods } from './sso-only.ts'
import { lastUseGrainMs, resolveToken, withValidToken } from './tokens.ts'

/** Finds the caller: a person by login or personal token, or the holder of an OAuth token. */
export async function resolveCaller(
  ctx: Context,
  credentials: Credentials,
  counted: Counted | null,
): ReturnType<ResolveCaller> {
  if (credentials.linear) return resolveLinearToken(ctx, credentials.authorization, counted)
  const bearer = bearerOf(credentials.authorization)
  if (bearer?.startsWith('svc_at_')) return resolveToken(ctx, bearer, credentials.workspaceId, counted)
  if (bearer?.startsWith(personalTokenPrefix)) {
    return resolvePersonalToken(ctx, bearer, credentials.workspaceId, counted)
  }
  const token = bearer ?? cookieOf(credentials, ctx.config)
  if (token === undefined) return { caller: { kind: 'anonymous' } }
  if (!token.startsWith('psn_')) throw new ApiError('UNAUTHORIZED')
  return resolveLogin(ctx, credentials, token, bearer === undefined)
}

/** Linear's clients send the token with or without `Bearer `. It selects the workspace. */
async function resolveLinearToken(
  ctx: Context,
  authorization: string | undefined,
  counted: Counted | null,
): ReturnType<ResolveCaller> {
  const token = /^(?:Bearer +)?(lin_oauth_[\w-]+)$/i.exec(authorization ?? '')?.[1]
  if (!token) throw new ApiError('UNAUTHORIZED')
  return resolveToken(ctx, token, undefined, counted, 'linear')
}

interface FoundLogin {
  id: string
  name: string
  email: string
  role: Role | null
  pendingDeletion: boolean
  last_used_at: string
  loginMethod: LoginMethod | null
  recent: boolean
  signInMethods?: readonly SignInMethod[]
}

/** One query finds the login, the person and the role in the requested workspace. */
async function resolveLogin(
  { db, clock, config }: Context,
  credentials: Credentials,
  token: string,
  byCookie: boolean,
): ReturnType<ResolveCaller> {
  const now = clock.now()
  const tokenHash = sha256(token)
  const workspaceId = credentials.workspaceId ?? null
  const found = await db.row<FoundLogin>(sql`
    select u.id, u.display_name as name, u.email, ${roleOf}, ${isPendingDeletion}, l.last_used_at, l.method as "loginMethod",
      coalesce(l.proved_at > ${plus(now, -recentMs)}, false) as recent
      ${credentials.recent ? sql`, ${methodNames} as "signInMethods"` : none}
    from logins l
    join users u on u.id = l.user_id
    left join memberships m on m.user_id = u.id and m.workspace_id = ${workspaceId}
    left join workspaces w on w.id = m.workspace_id
    where l.token_hash = ${tokenHash} and ${isValid(now)} and ${isAllowed(config)}`)
  if (!found) throw new ApiError('UNAUTHORIZED')

  const { last_used_at, ...person } = found
  if (person.signInMethods) person.signInMethods = usableMethods(config, person.email, person.signInMethods)
  const renew = now.getTime() - Date.parse(last_used_at) >= lastUseGrainMs
  if (renew) {
    await db.run(sql`update logins set last_used_at = ${now} where token_hash = ${tokenHash} and last_used_at < ${now}`)
  }
  return {
    caller: { kind: 'person', ...person, tokenHash, workspaceId, scopes: null },
    // The cookie must last as long as the login.
    headers: renew && byCookie ? { 'set-cookie': loginCookie(config, token) } : {},
  }
}

/** The callers who may still receive what a stream sends. */
export async function stillAdmitted(ctx: Context, callers: readonly Actor[]): Promise<Set<Actor>> {
  const members = callers.filter((caller) => caller.kind === 'person')
  const apps = callers.filter((caller) => caller.kind === 'app')
  return new Set([
    ...(members.length > 0 ? await withValidLogin(ctx, members) : []),
    ...(apps.length > 0 ? await withValidToken(ctx, apps) : []),
  ])
}

/**
 * The members whose login and membership are still valid, and whose role is still the same. This does not renew the
 * login: a renewal needs a new cookie, and the response, a stream, has already started.
 */
async function withValidLogin({ db, clock, config }: Context, callers: readonly Member[]): Promise<Member[]> {
  const hashes = callers.map(({ tokenHash }) => tokenHash.toString('hex'))
  const places = callers.map(({ workspaceId }) => workspaceId)
  const roles = callers.map(({ role }) => role)
  const found = await db.rows<{ place: number }>(sql`
    select asked.place::int as place
    from unnest(${hashes}::text[], ${places}::text[], ${roles}::text[])
      with ordinality as asked (hash, workspace_id, role, place)
    join logins l on l.token_hash = decode(asked.hash, 'hex')
    join memberships m on m.user_id = l.user_id and m.workspace_id = asked.workspace_id
    where m.role = asked.role and ${isValid(clock.now())} and ${isAllowed(config)}`)
  return found.map(({ place }) => callers[place - 1] as Member)
}

function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1]
  if (!token) throw new ApiError('UNAUTHORIZED')
  return token
}

/** Browsers send the cookie automatically, so a write must prove that it comes from our origin (login.csrf-*). */
function cookieOf({ cookie, writes, origin, fetchSite }: Credentials, config: Config): string | undefined {
  if (!cookie || !writes) return cookie || undefined
  const sameOrigin = origin === undefined ? fetchSite === 'same-origin' : isOwnOrigin(origin, config)
  if (!sameOrigin) throw otherOrigin(config)
  return cookie
}
