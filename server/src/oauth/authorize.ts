import { type AppScope, type AuthorizeQuery, api, appScopes, type Compat, limits } from '@baton/protocol'
import { plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Anonymous, Person } from '../http/caller.ts'
import { Reply } from '../http/route.ts'
import { textProblem } from '../http/validate.ts'
import { newId } from '../ids.ts'
import { findClient, type OAuthClient } from './clients.ts'

const parameters = Object.keys(api.authorize.query.properties) as (keyof AuthorizeQuery)[]

interface AuthorizeRequest {
  query: AuthorizeQuery
  client: OAuthClient
  redirectUri: string
  scopes: AppScope[]
  /** `linear`: asked for at /linear, where PKCE, `state` and `actor` are optional. */
  compat: Compat | null
  /** All parameters, also the unreadable ones. */
  sent: AuthorizeQuery
  /** Parameters that are not text, too long, or were sent twice. */
  unreadable: (keyof AuthorizeQuery)[]
}

class Refusal {
  readonly error: string
  readonly description: string
  constructor(error: string, description: string) {
    this.error = error
    this.description = description
  }
}

const refuse = (error: string, description: string) => new Refusal(error, description)

/** Order: oauth.pkce-checked-before-scope, oauth.actor-checked-before-scope. Failures redirect to the client. */
const checks: ((request: AuthorizeRequest) => Refusal | undefined)[] = [
  readable,
  codeResponse,
  pkceS256,
  actorFits,
  scopesAllowed,
]

/** Until the client and its redirect URI are known, no redirect is safe: those failures show a page. */
export async function authorize(
  ctx: Context,
  caller: Anonymous | Person,
  sent: AuthorizeQuery,
  url: string,
  compat: Compat | null = null,
) {
  const unreadable = parameters.filter((name) => sent[name] !== undefined && !isReadable(sent[name]))
  const query: AuthorizeQuery = { ...sent }
  for (const name of unreadable) delete query[name]
  const client = query.client_id ? await findClient(ctx.db, query.client_id) : undefined
  if (!client || !speaks(client, compat)) return page('The app that sent you here is not registered with this service.')
  const redirectUri = query.redirect_uri
  if (!redirectUri || !isRegistered(client, redirectUri, compat)) {
    return page('The redirect address is not registered for this app.')
  }
  const scopes = scopesOf(query.scope)
  // Linear's clients ask for `read` implicitly.
  if (compat && !scopes.includes('read')) scopes.unshift('read')
  const request = { sent, query, client, redirectUri, scopes, compat, unreadable }
  for (const check of checks) {
    const refusal = check(request)
    if (refusal) return redirectToClient(ctx, request, { error: refusal.error, error_description: refusal.description })
  }
  if (caller.kind === 'anonymous' || caller.scopes) {
    return redirect(`${ctx.config.appUrl}/sign-in?${new URLSearchParams({ next: url })}`)
  }
  const id = await storeRequest(ctx, caller, request)
  return redirect(`${ctx.config.appUrl}/oauth/consent?${new URLSearchParams({ request: id })}`)
}

/** Apps that do not use Linear's API are unknown there. */
export const speaks = ({ app }: OAuthClient, compat: Compat | null) => compat === null || app?.compat === compat

/**
 * Exact match, except that a public client may use any port of a loopback address (RFC 8252, 7.3), and a client at
 * /linear also http there (linear.compat-loopback-redirects).
 */
export function isRegistered({ app, redirectUris }: OAuthClient, uri: string, compat: Compat | null = null) {
  if (redirectUris.includes(uri)) return true
  if (!URL.canParse(uri)) return false
  if (compat) return redirectUris.some((known) => loopbackPage(known, 'https') === (loopbackPage(uri, 'http') ?? ''))
  const withoutPort = (text: string) =>
    text.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d{1,5}(?=[/?]|$)/, '$1')
  return !app && withoutPort(uri) !== uri && redirectUris.some((known) => withoutPort(known) === withoutPort(uri))
}

/** Host, path and query of a loopback address, without its port; undefined for any other address. */
const loopbackPage = (uri: string, scheme: 'http' | 'https') => {
  const [, sent, host, page = ''] =
    /^(https?):\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?([/?][^#]*)?$/.exec(uri) ?? []
  return sent === scheme ? `${host}${page}` : undefined
}

/** RFC 6749 3.3: only U+0020 separates scopes, and commas by oauth.scope-separators; a tab does not. */
export const scopesOf = (scope = '') => [...new Set(scope.split(/[ ,]+/).filter(Boolean))] as AppScope[]

const isTooLong = (value: unknown) => typeof value === 'string' && value.length > limits.oauthParameter

const isReadable = (value: unknown) => typeof value === 'string' && !isTooLong(value) && !textProblem(value)

function readable({ sent, unreadable: [name] }: AuthorizeRequest) {
  if (!name) return undefined
  const rule = isTooLong(sent[name])
    ? `must have at most ${limits.oauthParameter} characters`
    : 'must be sent once, as text'
  return refuse('invalid_request', `${name} ${rule}.`)
}

function codeResponse({ query }: AuthorizeRequest) {
  return query.response_type === 'code' ? undefined : refuse('unsupported_response_type', 'response_type must be code.')
}

function pkceS256({ query: { code_challenge, code_challenge_method }, compat }: AuthorizeRequest) {
  if (compat && code_challenge === undefined) return undefined
  const ok = /^[\w-]{43}$/.test(code_challenge ?? '') && code_challenge_method === 'S256'
  return ok ? undefined : refuse('invalid_request', 'PKCE is required: code_challenge with code_challenge_method=S256.')
}

function actorFits({ query: { actor }, client, scopes, compat }: AuthorizeRequest) {
  if (compat) {
    return actor === undefined || actor === 'app' ? undefined : refuse('invalid_request', 'actor must be app.')
  }
  if (!client.app) return actor === 'app' ? refuse('unsupported_actor', 'This client is not an agent app.') : undefined
  if (actor === 'app') return undefined
  return scopes.some((scope) => scope.startsWith('app:'))
    ? refuse('invalid_scope', 'app: scopes need actor=app.')
    : refuse('invalid_request', 'An agent app must send actor=app.')
}

function scopesAllowed({ client, scopes }: AuthorizeRequest) {
  const allowed: readonly string[] = client.app ? client.app.scopes : ['read', 'write']
  const unknown = scopes.find((scope) => !appScopes.includes(scope) || !allowed.includes(scope))
  return unknown
    ? refuse('invalid_scope', `The scope ${unknown.slice(0, 50)} cannot be granted to this client.`)
    : undefined
}

/** The request belongs to this person and expires (oauth.request-bound-to-person, oauth.consent-request-expires). */
async function storeRequest(
  { db, clock }: Context,
  person: Person,
  { client, redirectUri, query, scopes, compat }: AuthorizeRequest,
) {
  const id = newId('con')
  const expiresAt = plus(clock.now(), limits.consentMinutes * 60_000)
  await db.run(sql`
    insert into oauth_requests (id, client_id, user_id, redirect_uri, scopes, state, code_challenge, expires_at, compat)
    values (${id}, ${client.id}, ${person.id}, ${redirectUri}, ${scopes}, ${query.state ?? null},
      ${query.code_challenge ?? ''}, ${expiresAt}, ${compat})`)
  return id
}

/** RFC 9207: `iss` names the server that responds, so that clients can detect a mix-up of servers. */
export function returnAddress(
  issuer: string,
  redirectUri: string,
  state: string | null,
  fields: Record<string, string>,
) {
  const query = new URLSearchParams({ ...fields, ...(state === null ? {} : { state }), iss: issuer })
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}

const redirectToClient = (
  { config }: Context,
  { redirectUri, query }: AuthorizeRequest,
  fields: Record<string, string>,
) => redirect(returnAddress(config.rootUrl, redirectUri, query.state ?? null, fields))

const redirect = (location: string) => new Reply<undefined>(undefined, { location, 'cache-control': 'no-store' }, 302)

const page = (problem: string) =>
  new Reply(
    `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Baton</title></head>
<body><h1>This request cannot be completed</h1><p>${problem}</p><p>Nothing was installed. Go back and tell the app's developer.</p></body>
</html>
`,
    { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
    400,
  )
