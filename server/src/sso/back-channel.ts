import { minutes, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { ApiError, OAuthError } from '../http/errors.ts'
import { endLoginsOfIdentity, endLoginsOfSid } from '../login/sso-accounts.ts'
import { transact } from '../unit-of-work.ts'
import { IssuerUnreachable } from './issuer-fetch.ts'
import type { Issuer, Issuers } from './issuers.ts'

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
const validMs = minutes(5)
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** OpenID Connect Back-Channel Logout 1.0: the provider says that a person signed out there. */
export async function endLoginsByProvider(
  ctx: Context,
  issuers: Issuers,
  providerId: string,
  token: string | undefined,
) {
  const provider = issuers.provider(providerId)
  const issuer = await issuers.issuer(provider)
  const { iss, sub, sid, jti } = await verifyLogoutToken(ctx, issuer, token ?? '')
  await transact(ctx, null, async ({ tx, now }) => {
    // Longer than a token is valid, so that none can be used twice.
    const isNew = await tx.run(sql`
      insert into sso_logouts (issuer, jti, expires_at) values (${iss}, ${jti}, ${plus(now, 3 * validMs)})
      on conflict do nothing`)
    if (isNew === 0) throw refused('its jti was used before')
    if (sid !== undefined) await endLoginsOfSid(tx, provider.id, sid)
    else if (sub !== undefined) await endLoginsOfIdentity(tx, iss, sub)
  })
  ctx.log.info({ provider: provider.id }, 'single sign-on: the provider ended logins')
}

interface LogoutToken {
  iss: string
  jti: string
  sub: string | undefined
  sid: string | undefined
}

async function verifyLogoutToken(ctx: Context, issuer: Issuer, token: string): Promise<LogoutToken> {
  const { jose, keys, provider } = issuer
  const now = ctx.clock.now()
  const { issuer: iss } = (await issuer.configuration()).serverMetadata()
  const { payload } = await jose
    .jwtVerify(token, keys, {
      issuer: iss,
      audience: provider.clientId,
      algorithms,
      currentDate: now,
      clockTolerance: 30,
    })
    .catch((error: Error) => {
      if (error instanceof IssuerUnreachable) throw new ApiError('NOT_READY')
      throw refused('its signature, iss, aud or exp is wrong')
    })
  const { iat, events, sub, sid, jti, nonce } = payload
  if (typeof iat !== 'number' || Math.abs(now.getTime() - iat * 1000) > validMs) throw refused('its iat is not recent')
  if (!isObject(events) || !isObject(events[logoutEvent])) throw refused('it has no event of a sign-out')
  // An ID token has one, and must not end logins.
  if (nonce !== undefined) throw refused('it has a nonce')
  if (!isId(jti)) throw refused('it has no jti')
  if (!isId(sub) && !isId(sid)) throw refused('it has neither sub nor sid')
  return { iss, jti, sub: isId(sub) ? sub : undefined, sid: isId(sid) ? sid : undefined }
}

const refused = (reason: string) => new OAuthError('invalid_request', `The logout token was refused: ${reason}.`)

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const isId = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= 255
