import { type AppScope, type AuthorizeQuery, api, appScopes, limits } from '@baton/protocol'
import { plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Anonymous, Person } from '../http/caller.ts'
import { Reply } from '../http/route.ts'
import { textProblem } from '../http/validate.ts'
import { newId } from '../ids.ts'
import { findClient, type OAuthClient } from './clients.ts'

const parameters = Object.keys(api.authorize.query.properties) as (keyof AuthorizeQuery)[]

/** What has been established so far; each check adds to it or refuses. */
interface Asked {
  query: AuthorizeQuery
  client: OAuthClient
  redirectUri: string
  scopes: AppScope[]
  /** Parameters that are no text, or stand twice. */
  unreadable: string[]
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

/** 4.2, decisions 5, in this order. Failures go back to the app by redirect. */
const checks: ((asked: Asked) => Refusal | undefined)[] = [readable, codeResponse, pkceS256, actorFits, scopesAllowed]

/** Before client and address are known there is nowhere safe to send anybody: these failures show a page. */
export async function authorize(ctx: Context, caller: Anonymous | Person, sent: AuthorizeQuery, url: string) {
  const unreadable = parameters.filter((name) => sent[name] !== undefined && !isReadable(sent[name]))
  const query: AuthorizeQuery = { ...sent }
  for (const name of unreadable) delete query[name]
  const client = query.client_id ? await findClient(ctx.db, query.client_id) : undefined
  if (!client) return page('The app that sent you here is not known to this service.')
  const redirectUri = query.redirect_uri
  if (!redirectUri || !isRegistered(client, redirectUri)) {
    return page('The address to return to is not one that the app has registered.')
  }
  const asked = { query, client, redirectUri, scopes: scopesOf(query.scope), unreadable }
  for (const check of checks) {
    const refusal = check(asked)
    if (refusal) return backTo(ctx, asked, { error: refusal.error, error_description: refusal.description })
  }
  if (caller.kind === 'anonymous' || caller.scopes) {
    return redirect(`${ctx.config.appUrl}/sign-in?${new URLSearchParams({ next: url })}`)
  }
  const id = await rememberRequest(ctx, caller, asked)
  return redirect(`${ctx.config.appUrl}/oauth/consent?${new URLSearchParams({ request: id })}`)
}

/** Exactly one of those registered. A program on the person's own machine may listen on any port (RFC 8252 7.3). */
export function isRegistered({ app, redirectUris }: OAuthClient, uri: string) {
  if (redirectUris.includes(uri)) return true
  if (!URL.canParse(uri)) return false
  const withoutPort = (text: string) =>
    text.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d{1,5}(?=[/?]|$)/, '$1')
  return !app && withoutPort(uri) !== uri && redirectUris.some((known) => withoutPort(known) === withoutPort(uri))
}

const scopesOf = (scope = '') => [...new Set(scope.split(/[\s,]+/).filter(Boolean))] as AppScope[]

const isReadable = (value: unknown) =>
  typeof value === 'string' && value.length <= limits.oauthParameter && !textProblem(value)

function readable({ unreadable: [name] }: Asked) {
  return name ? refuse('invalid_request', `${name} must be sent once, as text.`) : undefined
}

function codeResponse({ query }: Asked) {
  return query.response_type === 'code' ? undefined : refuse('unsupported_response_type', 'response_type must be code.')
}

function pkceS256({ query: { code_challenge, code_challenge_method } }: Asked) {
  const ok = /^[\w-]{43}$/.test(code_challenge ?? '') && code_challenge_method === 'S256'
  return ok ? undefined : refuse('invalid_request', 'PKCE is required: code_challenge with code_challenge_method=S256.')
}

function actorFits({ query: { actor }, client, scopes }: Asked) {
  if (!client.app) return actor === 'app' ? refuse('unsupported_actor', 'This client is not an agent app.') : undefined
  if (actor === 'app') return undefined
  return scopes.some((scope) => scope.startsWith('app:'))
    ? refuse('invalid_scope', 'app: scopes need actor=app.')
    : refuse('invalid_request', 'An agent app must send actor=app.')
}

function scopesAllowed({ client, scopes }: Asked) {
  const allowed: readonly string[] = client.app ? client.app.scopes : ['read', 'write']
  const unknown = scopes.find((scope) => !appScopes.includes(scope) || !allowed.includes(scope))
  return unknown
    ? refuse('invalid_scope', `The scope ${unknown.slice(0, 50)} cannot be granted to this client.`)
    : undefined
}

/** Bound to the person who began it, and to ten minutes. */
async function rememberRequest({ db, clock }: Context, person: Person, { client, redirectUri, query, scopes }: Asked) {
  const id = newId('con')
  const expiresAt = plus(clock.now(), limits.consentMinutes * 60_000)
  await db.run(sql`
    insert into oauth_requests (id, client_id, user_id, redirect_uri, scopes, state, code_challenge, expires_at)
    values (${id}, ${client.id}, ${person.id}, ${redirectUri}, ${scopes}, ${query.state ?? null},
      ${query.code_challenge}, ${expiresAt})`)
  return id
}

/** RFC 9207: `iss` says who answers, so that an answer of ours cannot be passed off as another server's. */
export function returnAddress(
  issuer: string,
  redirectUri: string,
  state: string | null,
  fields: Record<string, string>,
) {
  const query = new URLSearchParams({ ...fields, ...(state === null ? {} : { state }), iss: issuer })
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`
}

const backTo = ({ config }: Context, { redirectUri, query }: Asked, fields: Record<string, string>) =>
  redirect(returnAddress(config.rootUrl, redirectUri, query.state ?? null, fields))

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
