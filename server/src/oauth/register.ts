import { limits, nameProblem, normalizeName } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { OAuthError } from '../http/errors.ts'
import { networkOf, takeOne } from '../http/rate-limit.ts'
import { newId } from '../ids.ts'

const isStringList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

/** RFC 7591: programs such as MCP clients register themselves and get no secret (oauth.register-public-client). */
export async function registerClient(
  { config, db, clock }: Context,
  address: string,
  metadata: Record<string, unknown>,
) {
  const now = clock.now()
  const { redirect_uris: uris, client_name = 'Unnamed program', token_endpoint_auth_method: method } = metadata
  if (!isStringList(uris) || uris.length === 0 || uris.length > limits.redirectUris || !uris.every(isAcceptable)) {
    throw new OAuthError(
      'invalid_redirect_uri',
      `redirect_uris must contain 1 to ${limits.redirectUris} URLs, each https, or http on a loopback host.`,
    )
  }
  const name = typeof client_name === 'string' ? normalizeName(client_name) : ''
  if (name === '' || name.length > limits.name) {
    throw new OAuthError('invalid_client_metadata', `client_name must have 1 to ${limits.name} characters.`)
  }
  const problem = nameProblem(name, 'agent')
  if (problem) throw new OAuthError('invalid_client_metadata', `client_name ${problem}.`)
  if (method !== undefined && method !== 'none') {
    throw new OAuthError(
      'invalid_client_metadata',
      'token_endpoint_auth_method must be none: clients that register here have no secret.',
    )
  }
  if (!config.local) {
    await takeOne(
      db,
      `register ${networkOf(address)}`,
      { limit: limits.registrationsPerHour, periodMs: 3_600_000 },
      now,
    )
  }
  const id = newId('cli')
  await db.run(sql`
    insert into oauth_clients (id, name, redirect_uris, created_at) values (${id}, ${name}, ${uris}, ${now})`)
  return {
    client_id: id,
    client_id_issued_at: Math.floor(now.getTime() / 1000),
    client_name: name,
    redirect_uris: uris,
    token_endpoint_auth_method: 'none' as const,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
}

function isAcceptable(uri: string) {
  const [, scheme, authority] = /^(https?):\/\/([^/?#]+)/.exec(uri) ?? []
  if (!scheme || !authority || authority.includes('@') || uri.length > limits.url) return false
  if (!/^[\x21-\x7e]+$/.test(uri) || /[\\#]/.test(uri) || !URL.canParse(uri)) return false
  return scheme === 'https' || ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(uri).hostname)
}
