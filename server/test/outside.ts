import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers freely
export type Json = any

/** Calls the service over HTTP only, like an external program. */
export const callerAt =
  (url: string, headers: Record<string, string>) =>
  async (method: string, path: string, body?: object): Promise<{ status: number; body: Json; location: string }> => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      redirect: 'manual',
      headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    return {
      status: response.status,
      body: text.startsWith('{') ? JSON.parse(text) : text,
      location: response.headers.get('location') ?? '',
    }
  }

export type Outsider = ReturnType<typeof callerAt>

/** A new account with a workspace and a team. */
export async function newcomer(url: string, email = 'ada@example.com') {
  const account = await callerAt(url, {})('POST', '/auth/sign-up', { email, password: 'a password', name: 'Ada' })
  const login = { authorization: `Bearer ${account.body.token}` }
  const workspace = (await callerAt(url, login)('POST', '/workspaces', { name: 'Acme' })).body
  const headers = { ...login, 'x-workspace-id': workspace.id as string }
  const person = callerAt(url, headers)
  const team = (await person('POST', '/teams', { name: 'Engineering', key: 'ENG' })).body
  return { person, headers, userId: account.body.user.id as string, teamId: team.id as string }
}

const redirectUri = 'https://robots.example.com/callback'

/** Registers an app, installs it through OAuth, and returns its credentials. */
export async function install(url: string, person: Outsider, hook: string, name = 'Robot') {
  const registered = await person('POST', '/agent-apps', {
    schemaVersion: '1.0.0',
    name,
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: [redirectUri], scopes: ['read', 'write', 'app:assignable', 'app:mentionable'] },
    webhook: { url: hook },
  })
  expect(registered.status).toBe(201)
  const { client_id, client_secret, webhook_secret, install_url } = registered.body
  const verifier = randomBytes(32).toString('base64url')
  const filled = install_url
    .replace('{redirect_uri}', encodeURIComponent(redirectUri))
    .replace('{state}', 'a-state')
    .replace('{code_challenge}', createHash('sha256').update(verifier).digest('base64url'))
  const { pathname, search } = new URL(filled)
  const asked = await person('GET', `${pathname.replace('/api/v1', '')}${search}`)
  const request = new URL(asked.location).searchParams.get('request')
  const approved = await person('POST', `/oauth/requests/${request}/approve`, { all_teams: true })
  const back = new URL(approved.body.redirect_to)
  expect(back.searchParams.get('state')).toBe('a-state')
  const answer = await fetch(`${url}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
      client_id,
      client_secret,
    }),
  })
  const token = (await answer.json()) as Json
  const { access_token, workspace_id, app_user_id, installation_id } = token
  const headers = { authorization: `Bearer ${access_token}`, 'x-workspace-id': workspace_id }
  return {
    app: callerAt(url, headers),
    headers,
    appId: registered.body.app.id as string,
    appUserId: app_user_id as string,
    installationId: installation_id as string,
    webhookSecret: webhook_secret as string,
    client: { client_id, client_secret } as { client_id: string; client_secret: string },
    refreshToken: token.refresh_token as string,
  }
}
