import type { AppScope, Compat } from '@baton/protocol'
import { sameBytes, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { OAuthError } from '../http/errors.ts'
import { textProblem } from '../http/validate.ts'

/** An agent app with a secret, or a public client (`app` is null) that registered itself and has none. */
export interface OAuthClient {
  id: string
  name: string
  redirectUris: string[]
  app: {
    id: string
    workspaceId: string
    endpointId: string
    compat: Compat | null
    scopes: AppScope[]
    secretHash: Buffer
    description: string | null
    developer: { name: string; url: string | null }
  } | null
}

/** A client that is an agent app. */
export type AppClient = OAuthClient & { app: NonNullable<OAuthClient['app']> }

interface AppRow {
  appId: string
  workspaceId: string
  endpointId: string
  name: string
  redirectUris: string[]
  compat: Compat | null
  scopes: AppScope[]
  secretHash: Uint8Array
  description: string | null
  developer: { name: string; url: string | null }
}

export async function findClient(db: Queryable, id: string): Promise<OAuthClient | undefined> {
  const app = await db.row<AppRow>(sql`
    select id as "appId", workspace_id as "workspaceId", endpoint_id as "endpointId", name,
      redirect_uris as "redirectUris", compat, requested_scopes as scopes, client_secret_hash as "secretHash", description,
      jsonb_build_object('name', developer_name, 'url', developer_url) as developer
    from agent_apps a where client_id = ${id} and deleted_at is null
      -- a2a.no-oauth
      and not exists (select from a2a_apps x where x.app_id = a.id)`)
  if (app) {
    const { appId, name, redirectUris, secretHash, ...rest } = app
    return { id, name, redirectUris, app: { id: appId, secretHash: Buffer.from(secretHash), ...rest } }
  }
  const program = await db.row<{ name: string; redirectUris: string[] }>(sql`
    select name, redirect_uris as "redirectUris" from oauth_clients where id = ${id}`)
  return program ? { id, ...program, app: null } : undefined
}

interface Credentials {
  id: string
  secret: string | null
}

export const refused = () => new OAuthError('invalid_client', 'The client is not known, or its secret is wrong.', 401)

/**
 * Identifies the client. An agent app sends its secret by HTTP Basic or in the form, not both; a public client has
 * none. With `needsSecret: false` an app may omit it too, but a wrong secret is still refused.
 */
export async function authenticate(
  db: Queryable,
  authorization: string | undefined,
  form: Record<string, string | undefined>,
  { needsSecret = true } = {},
): Promise<OAuthClient> {
  const credentials = credentialsOf(authorization, form)
  const client = textProblem(credentials.id) ? undefined : await findClient(db, credentials.id)
  if (!client) throw refused()
  if (credentials.secret === null && (!client.app || !needsSecret)) return client
  if (!client.app || credentials.secret === null) throw refused()
  if (!sameBytes(sha256(credentials.secret), client.app.secretHash)) throw refused()
  return client
}

function credentialsOf(authorization: string | undefined, form: Record<string, string | undefined>): Credentials {
  if (authorization === undefined) {
    if (!form.client_id) throw refused()
    return { id: form.client_id, secret: form.client_secret ?? null }
  }
  const encoded = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization)?.[1]
  const [, id, secret] = /^([^:]+):(.*)$/s.exec(encoded ? Buffer.from(encoded, 'base64').toString('utf8') : '') ?? []
  if (!id || secret === undefined) throw refused()
  if (form.client_secret)
    throw new OAuthError('invalid_request', 'Authenticate the client by HTTP Basic or in the form, not both.')
  const basic = { id: formDecoded(id), secret: formDecoded(secret) }
  if (form.client_id && form.client_id !== basic.id) {
    throw new OAuthError('invalid_request', 'client_id must be the client of the Authorization header.')
  }
  return basic
}

/** RFC 6749 2.3.1: id and secret are encoded like form fields before they are joined. */
function formDecoded(text: string) {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw refused()
  }
}
