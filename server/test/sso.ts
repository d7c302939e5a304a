import { expect, onTestFinished } from 'vitest'
import { sql } from '../src/db/sql.ts'
import type { TestApp } from './harness.ts'
import { type IssuerPerson, ssoSettings, TestIssuer } from './issuer.ts'

/** An issuer for as long as the test runs. */
export async function startIssuer(): Promise<TestIssuer> {
  const issuer = await TestIssuer.start()
  onTestFinished(() => issuer.stop())
  return issuer
}

/** A browser that signs in with a provider: it keeps cookies, and follows the redirects that it is told to. */
export class SsoBrowser {
  readonly #app: TestApp
  readonly cookies = new Map<string, string>()

  constructor(app: TestApp, login?: string) {
    this.#app = app
    if (login) this.cookies.set('baton_session', login)
  }

  get headers(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return { origin: this.#app.ctx.config.rootUrl, ...(cookie ? { cookie } : {}) }
  }

  /** The answer of the service, and where the browser would go at the provider. */
  async begin(body: object = {}, provider = 'company') {
    const response = await this.#app.anonymous.post(`/auth/sso/${provider}`, body, { headers: this.headers })
    this.#keep(response.headers)
    return { ...response, redirectTo: response.body?.redirect_to as string }
  }

  /** Opens the callback. Returns the path that the service sends the browser to, and the login if one began. */
  async finish(parameters: URLSearchParams | string, provider = 'company') {
    const response = await this.#app.anonymous.getRoot(`/sso/callback/${provider}?${parameters}`, {
      headers: this.headers,
    })
    const set = this.#keep(response.headers)
    const location = new URL(response.headers.get('location') ?? 'http://none/')
    return {
      status: response.status,
      location: `${location.pathname}${location.search}${location.hash}`,
      origin: location.origin,
      token: set.get('baton_session'),
    }
  }

  /** Both, with a person who agrees at once. */
  async signIn(issuer: TestIssuer, person: IssuerPerson, body: object = {}, provider = 'company') {
    const { redirectTo } = await this.begin(body, provider)
    return this.finish(issuer.authorize(redirectTo, person), provider)
  }

  #keep(headers: Headers) {
    const set = new Map(
      headers.getSetCookie().map((line): [string, string] => {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        return [name, value]
      }),
    )
    for (const [name, value] of set) this.cookies.set(name, value)
    return set
  }
}

/** All rows, and the number of logins. An attempt is used up by a refusal too. */
export async function storedBySso(app: TestApp) {
  const rows = JSON.parse(await app.everything()) as { name: string; row: string }[]
  const { count } = (await app.ctx.db.row<{ count: number }>(sql`select count(*)::int as count from logins`)) ?? {}
  return { rows: rows.filter(({ name }) => name !== 'sso_attempts'), logins: count }
}

/** Runs a callback that must be refused, and expects that it changed nothing else. */
export async function expectRefusal(
  app: TestApp,
  problem: string,
  work: () => Promise<{ status: number; location: string; token: string | undefined }>,
) {
  const before = await storedBySso(app)
  const { status, location, token } = await work()
  expect({ status, location, token }).toEqual({ status: 303, location: problem, token: undefined })
  expect(await storedBySso(app)).toEqual(before)
}

/** An issuer, and a service that trusts it. */
export async function ssoScene(
  startApp: (env?: Record<string, string>) => Promise<TestApp>,
  settings: Record<string, unknown> = { allowed_domains: ['example.com'] },
  env: Record<string, string> = {},
) {
  const issuer = await startIssuer()
  const app = await startApp({ ...ssoSettings({ issuer, ...settings }), ...env })
  issuer.now = () => app.clock.now()
  return { app, issuer, browser: () => new SsoBrowser(app) }
}
