import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as jose from 'jose'

// Must not import a test runner: every suite starts issuers with it.
type Claims = Record<string, unknown>

export interface IssuerPerson extends Claims {
  sub: string
}

/** How the issuer lies or fails; without one it is honest. */
export interface Behaviour {
  /** Changes the claims of the ID token; undefined removes one. */
  claims?: Claims
  /** Replaces the ID token. */
  idToken?: (claims: Claims, issuer: TestIssuer) => Promise<string> | string
  userInfo?: Claims
  metadata?: Claims
  /** In place of the answer to requests whose path contains the key. */
  answers?: Record<string, (request: IncomingMessage, response: ServerResponse) => void>
}

/**
 * An OpenID provider on a real socket. Its users sign in without a password: `signIn` plays browser and user.
 * It reads the time of the app, so that tests move both clocks together.
 */
export class TestIssuer {
  readonly url: string
  readonly clientId = 'baton'
  readonly clientSecret = 'a client secret that is long enough'
  /** Paths of all requests, in order. */
  readonly requests: string[] = []
  behaviour: Behaviour = {}
  now: () => Date = () => new Date()
  readonly #keys: jose.GenerateKeyPairResult
  readonly #codes = new Map<string, { person: IssuerPerson; nonce: string; challenge: string; redirectUri: string }>()
  #people = 0
  /** Of the last ID token: UserInfo has nothing more about it. */
  #lastSubject = ''

  /** Who is signed in at the issuer, for browsers that open its page. */
  user: IssuerPerson | null = null
  readonly #server: Server

  private constructor(server: Server, keys: jose.GenerateKeyPairResult) {
    this.#server = server.on('request', (request, response) => void this.answer(request, response))
    this.url = `http://localhost:${(server.address() as AddressInfo).port}`
    this.#keys = keys
  }

  static async start(): Promise<TestIssuer> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TestIssuer(server, await jose.generateKeyPair('ES256'))
  }

  stop() {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** A person at this issuer, with a verified address at example.com. */
  person(claims: Claims = {}): IssuerPerson {
    const sub = `subject-${++this.#people}-${this.url.slice(-5)}`
    return { sub, email: `${sub}@example.com`, email_verified: true, name: `Person ${this.#people}`, ...claims }
  }

  /** The code of a person who agreed, for the request at this address. */
  authorize(redirectTo: string, person: IssuerPerson): URLSearchParams {
    const query = new URL(redirectTo).searchParams
    const code = `code-${Math.random().toString(36).slice(2)}`
    this.#codes.set(code, {
      person,
      nonce: query.get('nonce') ?? '',
      challenge: query.get('code_challenge') ?? '',
      redirectUri: query.get('redirect_uri') ?? '',
    })
    const { authorization_response_iss_parameter_supported: announced } = this.behaviour.metadata ?? {}
    return new URLSearchParams({ code, state: query.get('state') ?? '', ...(announced ? { iss: this.url } : {}) })
  }

  sign(claims: Claims, { key = this.#keys.privateKey, alg = 'ES256', typ = 'JWT' } = {}): Promise<string> {
    return new jose.SignJWT(claims).setProtectedHeader({ alg, kid: 'one', typ }).sign(key)
  }

  /** A token without a signature. */
  unsigned(claims: Claims): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    return `${part({ alg: 'none' })}.${part(claims)}.`
  }

  /** A message that a person signed out here. */
  logoutClaims(claims: Claims = {}): Claims {
    const iat = Math.floor(this.now().getTime() / 1000)
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const jti = `jti-${Math.random().toString(36).slice(2)}`
    return { iss: this.url, aud: this.clientId, iat, exp: iat + 120, jti, events, ...claims }
  }

  async answer(request: IncomingMessage, response: ServerResponse) {
    const path = new URL(request.url ?? '/', this.url).pathname
    this.requests.push(path)
    const special = Object.entries(this.behaviour.answers ?? {}).find(([part]) => path.includes(part))
    if (special) return special[1](request, response)
    const json = (body: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    switch (path) {
      case '/.well-known/openid-configuration':
        return json({
          issuer: this.url,
          authorization_endpoint: `${this.url}/authorize`,
          token_endpoint: `${this.url}/token`,
          userinfo_endpoint: `${this.url}/userinfo`,
          jwks_uri: `${this.url}/jwks`,
          end_session_endpoint: `${this.url}/end`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['ES256'],
          token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
          ...this.behaviour.metadata,
        })
      case '/jwks':
        return json({
          keys: [{ ...(await jose.exportJWK(this.#keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }],
        })
      case '/authorize': {
        if (!this.user)
          return response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in at Company</h1>')
        const back = new URL(request.url ?? '', this.url).searchParams.get('redirect_uri')
        const location = `${back}?${this.authorize(new URL(request.url ?? '', this.url).href, this.user)}`
        return response.writeHead(302, { location }).end()
      }
      case '/favicon.ico':
        return response.writeHead(204).end()
      case '/end':
        return response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Signed out of Company</h1>')
      case '/token':
        return this.#token(await formOf(request), json)
      case '/userinfo':
        return json(this.behaviour.userInfo ?? { sub: this.#lastSubject })
      default:
        return json({ error: 'not_found' }, 404)
    }
  }

  async #token(form: URLSearchParams, json: (body: unknown, status?: number) => void) {
    const given = this.#codes.get(form.get('code') ?? '')
    // A code works once, with the verifier and the redirect URI of its request, and with the client's secret.
    this.#codes.delete(form.get('code') ?? '')
    const challenge = jose.base64url.encode(
      new Uint8Array(await crypto.subtle.digest('SHA-256', Buffer.from(form.get('code_verifier') ?? ''))),
    )
    if (
      !given ||
      given.challenge !== challenge ||
      given.redirectUri !== form.get('redirect_uri') ||
      form.get('client_secret') !== this.clientSecret
    ) {
      return json({ error: 'invalid_grant' }, 400)
    }
    this.#lastSubject = given.person.sub
    const iat = Math.floor(this.now().getTime() / 1000)
    const { claims = {}, idToken } = this.behaviour
    const payload = {
      iss: this.url,
      aud: this.clientId,
      iat,
      exp: iat + 300,
      auth_time: iat,
      nonce: given.nonce,
      ...given.person,
      ...claims,
    }
    const id_token = await (idToken ? idToken(payload, this) : this.sign(payload))
    json({ access_token: 'an access token', token_type: 'Bearer', expires_in: 300, id_token })
  }
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return new URLSearchParams(Buffer.concat(chunks).toString())
}

/** The settings of a service with these providers, each with the values of its issuer. */
export function ssoSettings(...providers: { issuer: TestIssuer | string; [setting: string]: unknown }[]) {
  const path = join(mkdtempSync(join(tmpdir(), 'baton-sso-')), 'sso.json')
  const entries = providers.map(({ issuer, ...settings }, index) => ({
    id: index === 0 ? 'company' : `company-${index + 1}`,
    name: index === 0 ? 'Company' : `Company ${index + 1}`,
    ...(typeof issuer === 'string'
      ? { issuer, client_id: 'baton', client_secret: 'x' }
      : { issuer: issuer.url, client_id: issuer.clientId, client_secret: issuer.clientSecret }),
    ...settings,
  }))
  writeFileSync(path, JSON.stringify({ providers: entries }))
  return { BATON_SSO_FILE: path }
}
