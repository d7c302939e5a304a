import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { expect, onTestFinished } from 'vitest'
import { type TestApp, test, verifies } from '../server/test/harness.ts'
import { ssoSettings } from '../server/test/issuer.ts'
import { SsoBrowser } from '../server/test/sso.ts'

/** oidc-provider with one client, and pages for sign-in and consent that a script can use. */
async function startProvider(rootUrl: string, backChannel: () => string) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  const provider = new Provider(url, {
    clients: [
      {
        client_id: 'baton',
        client_secret: 'a client secret',
        redirect_uris: [`${rootUrl}/sso/callback/company`],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        backchannel_logout_uri: 'http://localhost:9/replaced',
        backchannel_logout_session_required: true,
      },
    ],
    cookies: { keys: ['a key for the cookies of a test'] },
    pkce: { required: () => true },
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    features: {
      devInteractions: { enabled: true },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    findAccount: async (_: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: `${id}@example.com`, email_verified: true, name: 'Ada Lovelace' }),
    }),
    // Where the service listens is known only after it was started with the address of this issuer.
    fetch: (target: string | URL, options: RequestInit) => {
      const replaced = String(target).includes('localhost:9/') ? backChannel() : target
      const { dispatcher: _, ...rest } = options as RequestInit & { dispatcher?: unknown }
      return fetch(replaced, rest)
    },
  } as never)
  const problems: string[] = []
  for (const event of ['server_error', 'backchannel.error', 'authorization.error', 'grant.error']) {
    provider.on(event as never, ((_: unknown, error: Error) => problems.push(`${event}: ${error?.message}`)) as never)
  }
  server.on('request', provider.callback())
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url, problems }
}

/** A browser at the provider: keeps its cookies, follows redirects and sends forms, until it is sent to `rootUrl`. */
class ProviderBrowser {
  readonly #cookies = new Map<string, string>()
  readonly #rootUrl: string

  constructor(rootUrl: string) {
    this.#rootUrl = rootUrl
  }

  async signIn(start: string, login: string): Promise<URL> {
    let { response, url } = await this.open(start)
    for (let page = 0; page < 5; page++) {
      if (url.origin === this.#rootUrl) return url
      const html = await response.text()
      const action = /<form[^>]+action="([^"]+)"/.exec(html)?.[1]
      if (!action) throw new Error(`no form at ${url}: ${html.slice(0, 300)}`)
      const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1] ?? ''
      const form = new URLSearchParams(prompt === 'login' ? { prompt, login, password: 'x' } : { prompt })
      ;({ response, url } = await this.open(new URL(action, url).href, form))
    }
    throw new Error(`not sent back from ${url}`)
  }

  async open(address: string, form?: URLSearchParams): Promise<{ response: Response; url: URL }> {
    let url = new URL(address)
    let body = form
    for (let redirects = 0; redirects < 10; redirects++) {
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
        ...(body ? { method: 'POST', body } : {}),
      })
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        this.#cookies.set(name, value)
      }
      const location = response.headers.get('location')
      if (!location) return { response, url }
      url = new URL(location, url)
      body = undefined
      if (url.origin === this.#rootUrl) return { response, url }
    }
    throw new Error(`too many redirects to ${url}`)
  }

  /** Signs out at the provider. */
  async signOut(url: string) {
    const { response, url: page } = await this.open(`${url}/session/end`)
    const html = await response.text()
    const action = /<form[^>]+action="([^"]+)"/.exec(html)?.[1] ?? ''
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
    await this.open(new URL(action, page).href, new URLSearchParams({ xsrf, logout: 'yes' }))
  }
}

test(
  'signs in through oidc-provider, which ends the login later',
  verifies('sso.signs-in-real-provider', 'sso.back-channel-logout'),
  async ({ startApp }) => {
    const rootUrl = 'http://localhost:3000'
    let app: TestApp | undefined
    const provider = await startProvider(rootUrl, () => `${app?.rootUrl}/sso/back-channel/company`)
    const settings = ssoSettings({
      issuer: provider.url,
      client_secret: 'a client secret',
      allowed_domains: ['example.com'],
    })
    app = await startApp(settings)
    // oidc-provider reads the clock of the system.
    app.clock.advance({ milliseconds: Date.now() - app.clock.now().getTime() })
    const visitor = new SsoBrowser(app)
    const { redirectTo } = await visitor.begin({ next: '/inbox' })
    const asked = new URL(redirectTo).searchParams
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${rootUrl}/sso/callback/company`,
    })
    expect(asked.get('state')).toMatch(/^[\w-]{43}$/)
    expect(asked.get('nonce')).toMatch(/^[\w-]{43}$/)
    const atProvider = new ProviderBrowser(rootUrl)
    const back = await atProvider.signIn(redirectTo, 'ada')
    expect(provider.problems).toEqual([])
    const { location, token } = await visitor.finish(back.searchParams)
    expect({ location, token }).toEqual({ location: '/inbox', token: expect.stringMatching(/^psn_/) })
    const person = app.anonymous.with({ cookie: `baton_session=${token}` })
    expect((await person.get('/auth/me')).body.user).toMatchObject({ email: 'ada@example.com' })

    await atProvider.signOut(provider.url)
    expect(provider.problems).toEqual([])
    expect((await person.get('/auth/me')).status).toBe(401)
  },
)
