import type { Context } from '../context.ts'
import { ApiError } from '../http/errors.ts'
import { type Attempt, redirectUri } from './attempts.ts'
import { IssuerUnreachable } from './issuer-fetch.ts'
import type { Issuer } from './issuers.ts'
import { type Claims, needsUserInfo, SsoRefusal, withUserInfo } from './rules.ts'

/** A person at a provider, after all checks of the protocol. */
export interface Verified {
  issuer: string
  subject: string
  claims: Claims
}

const asymmetric = /^(RS|PS|ES)(256|384|512)$|^(EdDSA|Ed25519)$/
const maxIssuer = 2048
/** OpenID Connect Core 2: at most 255 characters. */
const maxSubject = 255

/**
 * Exchanges the code of a callback for the claims about the person. openid-client checks the response's `iss` and
 * `state`, and of the ID token the signature, `iss`, `aud`, `exp` and `nonce`.
 */
export async function verifyCallback(
  { config }: Context,
  issuer: Issuer,
  attempt: Attempt,
  parameters: URLSearchParams,
): Promise<Verified> {
  const { openid, jose, provider } = issuer
  const address = new URL(`${redirectUri(config, provider.id)}?${parameters}`)
  try {
    const configuration = await issuer.configuration()
    const tokens = await openid.authorizationCodeGrant(configuration, address, {
      expectedState: attempt.state,
      expectedNonce: attempt.nonce,
      pkceCodeVerifier: attempt.verifier,
      idTokenExpected: true,
    })
    const idToken = tokens.claims()
    if (!idToken || !tokens.id_token) throw new SsoRefusal('sso_failed', 'the issuer sent no ID token')
    const { alg } = jose.decodeProtectedHeader(tokens.id_token)
    // HS256 would make everyone who knows the client secret an issuer.
    if (!alg || !asymmetric.test(alg))
      throw new SsoRefusal('sso_failed', 'the ID token has a symmetric signature or none')
    // openid-client checks it only for several audiences.
    if (idToken.azp !== undefined && idToken.azp !== provider.clientId) {
      throw new SsoRefusal('sso_failed', 'the ID token was issued to another client (azp)')
    }
    const { iss, sub } = idToken
    if (iss.length > maxIssuer || sub === '' || sub.length > maxSubject) {
      throw new SsoRefusal('sso_failed', 'the ID token has a subject that is too long')
    }
    let claims: Claims = { ...idToken }
    if (needsUserInfo(provider, claims) && configuration.serverMetadata().userinfo_endpoint) {
      // Throws if its subject is another one.
      const info = await openid.fetchUserInfo(configuration, tokens.access_token, sub)
      claims = withUserInfo(provider, claims, { ...info })
    }
    return { issuer: iss, subject: sub, claims }
  } catch (error) {
    throw refusalOf(error)
  }
}

/** Messages of the library name the check that failed; their causes hold tokens and are left out. */
function refusalOf(error: unknown): unknown {
  if (error instanceof SsoRefusal || error instanceof ApiError) return error
  const { name, message, error: code } = error as Error & { error?: unknown }
  if (name === 'AuthorizationResponseError') {
    const reason = String(code)
      .replace(/[^\w-]/g, '')
      .slice(0, 60)
    return new SsoRefusal(code === 'access_denied' ? 'sso_denied' : 'sso_failed', `the issuer answered ${reason}`)
  }
  if (error instanceof IssuerUnreachable || 'code' in (error as object) || error instanceof TypeError) {
    return new SsoRefusal('sso_failed', String(message).slice(0, 200))
  }
  return error
}
