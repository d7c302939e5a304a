import { limits } from '@baton/protocol'
import { describe, expect, test } from 'vitest'
import { pkce } from '../../server/test/oauth.ts'
import type { ServiceProcess } from '../../server/test/service-process.ts'
import { withService } from '../service.ts'

const password = 'correct horse battery staple'
let addresses = 0
/** A new address each time. */
const newAddress = () => `10.1.${++addresses >> 8}.${addresses & 255}`

interface Answer {
  status: number
  headers: Headers
  text: string
  ms: number
}

class Guesser {
  readonly #url: string

  constructor(service: ServiceProcess) {
    this.#url = service.url
  }

  async post(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
    const started = performance.now()
    const isForm = body instanceof URLSearchParams
    const response = await fetch(`${this.#url}/api/v1${path}`, {
      method: 'POST',
      headers: { ...(isForm ? {} : { 'content-type': 'application/json' }), ...headers },
      body: isForm ? body : JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, ms: performance.now() - started }
  }

  signIn = (email: string, typed: string, from = newAddress()) =>
    this.post('/auth/sign-in', { email, password: typed }, { 'x-forwarded-for': from })

  async signUp(email: string): Promise<string> {
    const { text } = await this.post(
      '/auth/sign-up',
      { email, password, name: 'A' },
      { 'x-forwarded-for': newAddress() },
    )
    return JSON.parse(text).token
  }

  async me(token: string) {
    return (await fetch(`${this.#url}/api/v1/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status
  }
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index)
const statuses = (answers: Answer[]) => answers.map(({ status }) => status)
const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number
/** Guesses that are close to the secret, and some that are not. */
const near = (secret: string) =>
  [
    secret.slice(0, -1),
    `${secret}A`,
    secret.toUpperCase(),
    `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`,
    ` ${secret}`,
    secret.replace(/_.*/, '_'),
    '',
    '%',
    'x'.repeat(200),
    "' or '1'='1",
  ].filter((guess) => guess !== secret)

describe('passwords', () => {
  test('are limited to ten guesses per account and network, concurrently', { timeout: 120_000 }, async () => {
    await withService({ BATON_TRUST_PROXY: '127.0.0.1' }, async (service) => {
      const guesser = new Guesser(service)
      const token = await guesser.signUp('ada@example.com')
      const from = newAddress()
      const guesses = await Promise.all(times(40).map((n) => guesser.signIn('ADA@example.com', `guess ${n}`, from)))
      // One more guess is allowed each minute.
      const reached = statuses(guesses).filter((status) => status === 401).length
      expect([0, 1]).toContain(reached - limits.signInFailuresPerEmail)
      const refused = guesses.filter(({ status }) => status !== 401)
      expect(new Set(statuses(refused))).toEqual(new Set([429]))
      expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
      // Changing the password counts too.
      const body = { current_password: 'a guess', new_password: 'another one' }
      const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': from }
      expect((await guesser.post('/auth/password', body, headers)).status).toBe(429)
      expect(await guesser.me(token)).toBe(200)
      // The owner signs in elsewhere.
      expect((await guesser.signIn('ada@example.com', password)).status).toBe(200)
    })
  })

  test('are limited to fifty guesses per account from all networks', { timeout: 120_000 }, async () => {
    await withService({ BATON_TRUST_PROXY: '127.0.0.1' }, async (service) => {
      const guesser = new Guesser(service)
      await guesser.signUp('ada@example.com')
      const home = newAddress()
      expect((await guesser.signIn('ada@example.com', password, home)).status).toBe(200)
      const allowed = limits.signInFailuresPerEmailElsewhere
      const guesses = await Promise.all(times(allowed + 30).map((n) => guesser.signIn('ADA@example.com', `guess ${n}`)))
      const reached = statuses(guesses).filter((status) => status === 401).length
      expect([0, 1]).toContain(reached - allowed)
      expect((await guesser.signIn('ada@example.com', password)).status).toBe(429)
      expect((await guesser.signIn('ada@example.com', password, home)).status).toBe(200)
    })
  })

  test('of many accounts are limited to sixty guesses per network', { timeout: 120_000 }, async () => {
    const allowed = limits.signInFailuresPerAddress
    const allowedEveryMs = (limits.signInPeriodSeconds * 1000) / allowed
    const guess = async (env: Record<string, string>, from: (n: number) => string) =>
      withService(env, async (service) => {
        const guesser = new Guesser(service)
        const started = Date.now()
        const answers = await Promise.all(
          times(allowed + 20).map((n) => guesser.signIn(`unknown-${n}@example.com`, 'a guess', from(n))),
        )
        const reached = statuses(answers).filter((status) => status === 401).length
        expect(reached).toBeGreaterThanOrEqual(allowed)
        expect(reached).toBeLessThanOrEqual(allowed + Math.ceil((Date.now() - started) / allowedEveryMs))
      })
    await guess({ BATON_TRUST_PROXY: '127.0.0.1' }, (n) => `2001:db8:1:2::${n.toString(16)}`)
    // Without a proxy, X-Forwarded-For is ignored.
    await guess({}, newAddress)
  })

  test('take as long to refuse for an unknown account', { timeout: 120_000 }, async () => {
    await withService({ BATON_TRUST_PROXY: '127.0.0.1' }, async (service) => {
      const guesser = new Guesser(service)
      for (const n of times(8)) await guesser.signUp(`known-${n}@example.com`)
      const took: { known: number[]; unknown: number[] } = { known: [], unknown: [] }
      const texts = new Set<string>()
      // Alternating, so that other load affects both.
      for (const n of times(64)) {
        for (const who of ['known', 'unknown'] as const) {
          const { ms, text } = await guesser.signIn(`${who}-${n % 8}@example.com`, 'a wrong guess')
          took[who].push(ms)
          texts.add(text)
        }
      }
      const [known, unknown] = [median(took.known), median(took.unknown)]
      console.log(
        `sign-in, median: ${known.toFixed(1)} ms for a known account, ${unknown.toFixed(1)} ms for an unknown one`,
      )
      expect(texts.size).toBe(1)
      expect(known / unknown).toBeGreaterThan(0.6)
      expect(known / unknown).toBeLessThan(1.67)
    })
  })
})

test('refuses guessed tokens, codes, secrets and invitations without ending the real ones', {
  timeout: 120_000,
}, async () => {
  await withService({}, async (service) => {
    const guesser = new Guesser(service)
    const login = await guesser.signUp('ada@example.com')
    const person = { authorization: `Bearer ${login}` }
    const { id } = await service.call('POST', '/workspaces', { name: 'Acme' }, person)
    const headers = { ...person, 'x-workspace-id': id }
    const redirect_uri = 'https://robots.example.com/callback'
    const manifest = {
      schemaVersion: '1.0.0',
      name: 'Robot',
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: [redirect_uri], scopes: ['read'] },
    }
    const { client_id, client_secret } = await service.call('POST', '/agent-apps', manifest, headers)
    const { verifier, challenge } = pkce()
    const query = {
      client_id,
      redirect_uri,
      response_type: 'code',
      actor: 'app',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }
    const redirected = await fetch(`${service.url}/api/v1/oauth/authorize?${new URLSearchParams(query)}`, {
      headers,
      redirect: 'manual',
    })
    const request = new URL(redirected.headers.get('location') ?? '').searchParams.get('request')
    const { redirect_to } = await service.call(
      'POST',
      `/oauth/requests/${request}/approve`,
      { all_teams: true },
      headers,
    )
    const code = new URL(redirect_to).searchParams.get('code') ?? ''
    const token = (change: object) =>
      guesser.post(
        '/oauth/token',
        new URLSearchParams({
          grant_type: 'authorization_code',
          code,
          redirect_uri,
          code_verifier: verifier,
          client_id,
          client_secret,
          ...change,
        }),
      )

    // Known and unknown clients get the same response.
    const wrong = await Promise.all(near(client_secret).map((guess) => token({ client_secret: guess })))
    expect(new Set(statuses(wrong))).toEqual(new Set([401]))
    const unknown = await token({ client_id: 'cli_00000000000000000000000000' })
    expect(new Set([...wrong, unknown].map(({ text }) => text)).size).toBe(1)
    for (const guess of near(code)) {
      const { status, text } = await token({ code: guess })
      expect([status, text]).toEqual([400, expect.stringMatching(/"error":"invalid_(grant|request)"/)])
    }
    const got = await token({})
    const { access_token, refresh_token } = JSON.parse(got.text)
    for (const guess of near(refresh_token)) {
      expect((await token({ grant_type: 'refresh_token', refresh_token: guess })).status).toBe(400)
    }
    expect((await token({ grant_type: 'refresh_token', refresh_token })).status).toBe(200)
    for (const guess of [...near(login), ...near(access_token), 'svc_at_', 'psn_']) {
      // Header values are trimmed in transit.
      if (guess.trim() !== login && guess.trim() !== access_token)
        expect([guess, await guesser.me(guess)]).toEqual([guess, 401])
    }
    expect(await guesser.me(access_token)).toBe(200)

    const invited = await service.call(
      'POST',
      '/workspaces/me/invitations',
      { email: 'ben@example.com', role: 'owner' },
      headers,
    )
    const ben = { authorization: `Bearer ${await guesser.signUp('ben@example.com')}` }
    for (const guess of near(invited.token)) {
      expect([404, 422]).toContain((await guesser.post('/invitations/accept', { token: guess }, ben)).status)
    }
    expect((await guesser.post('/invitations/accept', { token: invited.token }, ben)).status).toBe(200)
  })
})
