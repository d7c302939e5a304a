import { accountLimits, limits, type SsoStart } from '@baton/protocol'
import { minutes, plus } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { newSecret, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Anonymous, Person } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { type Allowance, networkOf, takeOne } from '../http/rate-limit.ts'
import { refuseUnlessRecent } from '../login/methods.ts'
import type { Issuers } from './issuers.ts'
import { localPath } from './rules.ts'

const lifetimeMs = minutes(10)

const startsPerAddress: Allowance = {
  limit: accountLimits.ssoStartsPerAddress,
  periodMs: limits.signInPeriodSeconds * 1000,
}

export const redirectUri = ({ rootUrl }: Config, providerId: string) => `${rootUrl}/sso/callback/${providerId}`

/**
 * Starts an attempt. Returns the address at the provider, and the secret that binds the attempt to this browser: one
 * that the browser has is used again, so that two tabs can sign in at the same time.
 */
export async function startSso(
  ctx: Context,
  issuers: Issuers,
  caller: Anonymous | Person,
  { providerId, cookie, address }: { providerId: string; cookie: string | undefined; address: string },
  { purpose = 'sign_in', next }: SsoStart,
) {
  const { config, clock, db, keys } = ctx
  const provider = issuers.provider(providerId)
  if (purpose !== 'sign_in') {
    if (caller.kind !== 'person' || caller.scopes) throw new ApiError('UNAUTHORIZED')
    if (purpose === 'link') await refuseUnlessRecent(ctx, caller)
  }
  await takeOne(db, `sso start ${networkOf(address)}`, startsPerAddress, clock.now())
  const { openid, configuration } = await issuers.issuer(provider)
  const [state, nonce, verifier] = [newSecret(''), newSecret(''), openid.randomPKCECodeVerifier()]
  const browser = cookie ?? newSecret('')
  const url = openid.buildAuthorizationUrl(await configuration(), {
    redirect_uri: redirectUri(config, provider.id),
    scope: provider.scopes.join(' '),
    state,
    nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    // Issuers send auth_time only if they are asked with max_age.
    ...(purpose === 'reauth' ? { prompt: 'login', max_age: '0' } : {}),
  })
  const now = clock.now()
  const stateHash = sha256(state)
  await db.run(sql`
    insert into sso_attempts
      (state_hash, cookie_hash, provider_id, purpose, login_hash, nonce, verifier, next, created_at, expires_at)
    values (${stateHash}, ${sha256(browser)}, ${provider.id}, ${purpose},
      ${purpose === 'sign_in' || caller.kind !== 'person' ? null : caller.tokenHash}, ${nonce},
      ${keys.seal(verifier, ownerOf(stateHash))}, ${keys.seal(localPath(config.rootUrl, next), ownerOf(stateHash))},
      ${now}, ${plus(now, lifetimeMs)})`)
  return { redirectTo: url.href, browser }
}

/** Both are sealed: the verifier is a secret, and `next` can have the token of an invitation in its fragment. */
const ownerOf = (stateHash: Buffer) => `sso attempt ${stateHash.toString('hex')}`

export interface Attempt {
  providerId: string
  purpose: 'sign_in' | 'link' | 'reauth'
  loginHash: Buffer | null
  nonce: string
  verifier: string
  next: string
  state: string
}

/** One DELETE uses the attempt up, so that of two callbacks only one continues. Undefined if there is none. */
export async function takeAttempt(
  { db, clock, keys }: Context,
  state: string,
  cookie: string,
): Promise<Attempt | undefined> {
  const stateHash = sha256(state)
  const row = await db.row<{
    provider_id: string
    purpose: Attempt['purpose']
    login_hash: Uint8Array | null
    nonce: string
    verifier: string
    next: string
  }>(sql`
    delete from sso_attempts
    where state_hash = ${stateHash} and cookie_hash = ${sha256(cookie)} and expires_at > ${clock.now()}
    returning provider_id, purpose, login_hash, nonce, verifier, next`)
  return (
    row && {
      providerId: row.provider_id,
      purpose: row.purpose,
      loginHash: row.login_hash && Buffer.from(row.login_hash),
      nonce: row.nonce,
      verifier: keys.open(row.verifier, ownerOf(stateHash)),
      next: keys.open(row.next, ownerOf(stateHash)),
      state,
    }
  )
}

export async function sweepSso(db: Queryable, now: Date) {
  await db.run(sql`delete from sso_attempts where expires_at < ${now}`)
  await db.run(sql`delete from sso_logouts where expires_at < ${now}`)
}

/** The cookie that binds attempts to the browser. `Lax`, because the provider's redirect must send it. */
export const browserCookie = ({ rootUrl }: Config, secret: string) =>
  `baton_sso=${secret}; Path=/; Max-Age=${lifetimeMs / 1000}; HttpOnly; SameSite=Lax${rootUrl.startsWith('https:') ? '; Secure' : ''}`

export function browserOf(header: string | string[] | undefined): string | undefined {
  return /(?:^|;\s*)baton_sso=([\w-]{43})(?:;|$)/.exec(String(header ?? ''))?.[1]
}
