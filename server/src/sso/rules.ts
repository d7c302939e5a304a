import { limits, nameProblem, normalizeName, placeholderDomain, type SsoProblem } from '@baton/protocol'
import type { Provider } from '../sso-config.ts'

/** Claims of a provider about a person. They come from outside, so each value can have any type. */
export type Claims = Record<string, unknown>

/** A refusal of a sign-in. `cause` is for the log; the person sees the problem only. */
export class SsoRefusal extends Error {
  readonly problem: SsoProblem
  constructor(problem: SsoProblem, cause: string) {
    super(cause)
    this.problem = problem
  }
}

/** The e-mail address in lower case, or null. Addresses of accounts are ASCII: other letters can look or fold alike. */
export function emailOf({ email }: Claims): string | null {
  if (typeof email !== 'string' || email.length > limits.email) return null
  if (email.toLowerCase().endsWith(`@${placeholderDomain}`)) return null
  return /^[\x21-\x3f\x41-\x7e]+@[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(email) ? email.toLowerCase() : null
}

/** Only the boolean: issuers that send a text leave open what "false" means to their other clients. */
export const emailIsVerified = ({ emailIsVerified }: Provider, claims: Claims) =>
  emailIsVerified || claims.email_verified === true

/** Exact: who controls a subdomain does not control the domain, nor the other way round. */
export const domainIsAllowed = ({ allowedDomains }: Provider, email: string | null) =>
  email !== null && allowedDomains.includes(email.slice(email.lastIndexOf('@') + 1))

/** With too many groups, some issuers send a reference instead of the claim. */
export function hasOverage({ groupsClaim }: Provider, claims: Claims): boolean {
  const { _claim_names: names, hasgroups } = claims
  return (typeof names === 'object' && names !== null && Object.hasOwn(names, groupsClaim)) || hasgroups !== undefined
}

/** Whether UserInfo has to be read: only for a claim that a rule needs and the ID token lacks. */
export const needsUserInfo = (provider: Provider, claims: Claims) =>
  claims.email === undefined ||
  (provider.allowedGroups.length > 0 && claims[provider.groupsClaim] === undefined && !hasOverage(provider, claims))

/** The e-mail and its verification come from the same source, so that one does not vouch for the other's address. */
export function withUserInfo(provider: Provider, claims: Claims, info: Claims): Claims {
  const { email, email_verified } = claims.email === undefined ? info : claims
  return {
    ...info,
    ...claims,
    email,
    email_verified,
    [provider.groupsClaim]: claims[provider.groupsClaim] ?? info[provider.groupsClaim],
  }
}

/** Applies at every sign-in, before the account is looked up. */
export function refuseOutsiders(provider: Provider, claims: Claims) {
  const { allowedDomains, allowedGroups, groupsClaim } = provider
  if (allowedDomains.length > 0 && !domainIsAllowed(provider, emailOf(claims))) {
    throw new SsoRefusal('sso_not_allowed', 'the domain of the e-mail address is not in allowed_domains')
  }
  if (allowedGroups.length === 0) return
  const groups = claims[groupsClaim]
  if (hasOverage(provider, claims)) {
    throw new SsoRefusal('sso_not_allowed', 'the user has too many groups for the claim (overage)')
  }
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === 'string')) {
    throw new SsoRefusal('sso_not_allowed', 'the claim of groups is missing or not a list of texts')
  }
  if (!groups.some((group) => allowedGroups.includes(group))) {
    throw new SsoRefusal('sso_not_allowed', 'the user is in none of allowed_groups')
  }
}

/** A name that our rules accept, from the claims or else from the e-mail address. */
export function nameOf({ name, given_name, preferred_username }: Claims, email: string): string {
  for (const claim of [name, given_name, preferred_username, email.split('@')[0]]) {
    if (typeof claim !== 'string') continue
    const normal = normalizeName([...normalizeName(claim)].slice(0, limits.name).join(''))
    if (/\S/.test(normal) && !nameProblem(normal, 'person')) return normal
  }
  return 'New member'
}

/** The claim `sid`, by which the provider ends this login later. */
export const sidOf = ({ sid }: Claims) => (typeof sid === 'string' && sid !== '' && sid.length <= 255 ? sid : null)

const freshSeconds = 300
const clockDifferenceSeconds = 60

/** reauth.by-sso-fresh: the person signed in at the provider just now, not with a cookie of this morning. */
export function isFresh({ auth_time: at }: Claims, now: Date): boolean {
  if (typeof at !== 'number') return false
  const age = now.getTime() / 1000 - at
  return age <= freshSeconds && age >= -clockDifferenceSeconds
}

/** A path of this instance; anything else becomes the start page (sso.next-stays-here). */
export function localPath(rootUrl: string, next: string | undefined): string {
  if (!next || !/^\/(?![/\\])/.test(next) || !URL.canParse(next, rootUrl)) return '/'
  const { origin, pathname, search, hash } = new URL(next, rootUrl)
  // "/.//evil.example" resolves to this origin, but its path alone would be another one.
  return origin === rootUrl && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/'
}
