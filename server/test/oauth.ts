import { createHash, randomBytes } from 'node:crypto'
import type { TestApp, TestPerson } from './harness.ts'

export const redirectUri = 'https://robots.example.com/callback'
export const allScopes = ['read', 'write', 'issues:create', 'comments:create', 'app:assignable', 'app:mentionable']

export const pkce = () => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

export async function oauthScene(app: TestApp, scopes = allScopes) {
  const workspace = await app.workspace()
  const { owner } = workspace
  const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  const { body: client } = await owner.post('/agent-apps', {
    schemaVersion: '1.0.0',
    name: 'Robot',
    developer: { name: 'Robots Inc', url: 'https://robots.example.com' },
    oauth: { redirect_uris: [redirectUri, `${redirectUri}?tenant=1`], scopes },
  })
  return { ...workspace, team, client }
}
export type Scene = Awaited<ReturnType<typeof oauthScene>>

export const asked = (clientId: string, change: Record<string, string | undefined> = {}) => {
  const query: Record<string, string | undefined> = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'read write',
    state: 'a state',
    actor: 'app',
    code_challenge: pkce().challenge,
    code_challenge_method: 'S256',
    ...change,
  }
  return new URLSearchParams(Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

export const authorize = (
  person: { get: TestPerson['get'] },
  clientId: string,
  change?: Record<string, string | undefined>,
) => person.get(`/oauth/authorize?${asked(clientId, change)}`)

export async function askConsent(person: TestPerson, clientId: string, change?: Record<string, string | undefined>) {
  const { headers } = await authorize(person, clientId, change)
  return new URL(headers.get('location') ?? '').searchParams.get('request') ?? ''
}

/** Approves a request. Returns the code for the app, and its PKCE verifier. */
export async function consent(
  person: TestPerson,
  clientId: string,
  decision: object,
  change: Record<string, string> = {},
) {
  const { verifier, challenge } = pkce()
  const id = await askConsent(person, clientId, { code_challenge: challenge, ...change })
  const { body } = await person.post(`/oauth/requests/${id}/approve`, decision)
  const url = new URL(body.redirect_to)
  return { code: url.searchParams.get('code') ?? '', verifier, url }
}

export const token = (app: TestApp, form: Record<string, string>, headers: Record<string, string> = {}) =>
  app.anonymous.post('/oauth/token', undefined, {
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

export const secretOf = ({ client }: Scene) => ({ client_id: client.client_id, client_secret: client.client_secret })

export const exchange = (
  app: TestApp,
  at: Scene,
  { code, verifier }: { code: string; verifier: string },
  change = {},
) =>
  token(app, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    ...secretOf(at),
    ...change,
  })

export const asApp = (app: TestApp, workspaceId: string, accessToken: string) =>
  app.anonymous.with({ authorization: `Bearer ${accessToken}`, 'x-workspace-id': workspaceId })

/** The access token of a program that a person connected. */
export const programOf = async (app: TestApp, member: TestPerson, workspaceId: string) =>
  (await connected(app, member, workspaceId)).access_token

/** The tokens and client id of a program that a person connected. */
export async function connected(app: TestApp, member: TestPerson, workspaceId: string, client_name = 'Editor') {
  const uri = 'http://127.0.0.1:4000/callback'
  const { body } = await app.anonymous.post('/oauth/register', { client_name, redirect_uris: [uri] })
  const { verifier, challenge } = pkce()
  const change = { redirect_uri: uri, code_challenge: challenge }
  const query = {
    client_id: body.client_id,
    response_type: 'code',
    scope: 'read write',
    code_challenge_method: 'S256',
    ...change,
  }
  const asked = await member.get(`/oauth/authorize?${new URLSearchParams(query)}`)
  const request = new URL(asked.headers.get('location') ?? '').searchParams.get('request')
  const approved = await member.post(`/oauth/requests/${request}/approve`, { workspace_id: workspaceId })
  const code = new URL(approved.body.redirect_to).searchParams.get('code') ?? ''
  const form = {
    grant_type: 'authorization_code',
    code,
    client_id: body.client_id,
    redirect_uri: uri,
    code_verifier: verifier,
  }
  const tokens: { access_token: string; refresh_token: string } = (await token(app, form)).body
  return { ...tokens, client_id: body.client_id as string }
}
