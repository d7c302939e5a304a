import { createServer } from 'node:http'
import { expect, onTestFinished, vi } from 'vitest'
import type { TestApp } from '../../server/test/harness.ts'
import { test } from '../../server/test/harness.ts'
import { listen } from '../../server/test/loopback-server.ts'
import { approve, cookieFrom, installerFor, installSecret, registered } from '../test/scene.ts'
import { BatonClient } from './client.ts'
import { createInstaller, nodeHandler } from './oauth.ts'
import { memoryTokens, TokenManager, type TokenStore } from './tokens.ts'

const address = (secret: string) =>
  new Request(`https://robots.example.com/install?secret=${encodeURIComponent(secret)}`)

async function scene(app: TestApp, store: TokenStore = memoryTokens()) {
  const at = await registered(app, null)
  return { ...at, store, installer: installerFor(app, at, store) }
}

const installations = async ({ owner }: Awaited<ReturnType<typeof scene>>) =>
  (await owner.get('/installations')).body.data

test('stores the tokens by installation after a manager has installed the app', async ({ app }) => {
  const at = await scene(app)
  const started = await at.installer.start(address(installSecret))
  expect(started.status).toBe(302)
  expect(started.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Lax; Secure$/)
  const finished = await at.installer.callback(await approve(at.owner, started))
  expect(finished.status).toBe(200)
  expect(finished.headers.get('set-cookie')).toContain('Max-Age=0')
  const [installation] = await installations(at)
  const tokens = await at.store.get(installation.id)
  expect(tokens).toMatchObject({ workspace_id: at.id, app_user_id: installation.app_user_id })
  const client = new BatonClient({ baseUrl: app.rootUrl, token: tokens?.access_token ?? '', workspaceId: at.id })
  expect(await client.getMe()).toMatchObject({ installation_id: installation.id })
})

test('refuses to start without the secret', async ({ app }) => {
  const { installer } = await scene(app)
  for (const wrong of ['', 'let me', `${installSecret}!`]) {
    const refused = await installer.start(address(wrong))
    expect(refused.status).toBe(403)
    expect(refused.headers.get('set-cookie')).toBeNull()
  }
  expect(() => createInstaller({ installSecret: '' } as never)).toThrow('installSecret')
})

test('stores nothing for a wrong state or iss, or a missing, changed or expired cookie', async ({ app }) => {
  const at = await scene(app)
  const started = await at.installer.start(address(installSecret))
  const back = await approve(at.owner, started)
  const changed = (change: Record<string, string>, cookie = cookieFrom(started)) => {
    const url = new URL(back.url)
    for (const [key, value] of Object.entries(change)) url.searchParams.set(key, value)
    return new Request(url, { headers: { cookie } })
  }
  const [installation] = await installations(at)
  const [name, sealed = ''] = cookieFrom(started).split('=')
  const flipped = `${name}=${sealed.startsWith('A') ? 'B' : 'A'}${sealed.slice(1)}`
  for (const refused of [
    changed({ state: 'another' }),
    changed({ iss: 'https://evil.example.com' }),
    changed({}, ''),
    changed({}, flipped),
    changed({}, cookieFrom(await at.installer.start(address(installSecret)))),
  ]) {
    expect((await at.installer.callback(refused)).status).toBe(400)
    expect(await at.store.get(installation.id)).toBeNull()
  }
  app.clock.advance({ minutes: 10, milliseconds: 1 })
  expect((await at.installer.callback(changed({}))).status).toBe(400)
  expect(await at.store.get(installation.id)).toBeNull()
})

test('shows a denied consent and an invalid code as text', async ({ app }) => {
  const at = await scene(app)
  const started = await at.installer.start(address(installSecret))
  const state = new URL(started.headers.get('location') ?? '').searchParams.get('state') ?? ''
  const back = (query: Record<string, string>) => {
    const asked = new URLSearchParams({ state, iss: app.ctx.config.rootUrl, ...query })
    return new Request(`https://robots.example.com/callback?${asked}`, { headers: { cookie: cookieFrom(started) } })
  }
  const denied = await at.installer.callback(back({ error: '<b>access_denied' }))
  expect(denied.status).toBe(400)
  expect(denied.headers.get('content-type')).toMatch(/^text\/plain/)
  expect((await at.installer.callback(back({ code: 'nonsense' }))).status).toBe(502)
})

test('reports invalid tokens and a failing store, and keeps serving', async ({ app }) => {
  const full = { ...memoryTokens(), set: () => Promise.reject(new Error('ENOSPC: no space left on device')) }
  const at = await scene(app, full)
  const started = await at.installer.start(address(installSecret))
  const back = await approve(at.owner, started)
  const port = await listen(createServer(nodeHandler(at.installer.callback)))
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => logged.mockRestore())
  const come = () =>
    fetch(`http://127.0.0.1:${port}${new URL(back.url).pathname}${new URL(back.url).search}`, {
      headers: { cookie: cookieFrom(started) },
    })
  const answered = await come()
  expect(answered.status).toBe(500)
  expect(await answered.text()).toContain('log')
  expect(String(logged.mock.calls)).toContain('ENOSPC')
  expect((await come()).status).toBe(502)

  const options = { clientId: 'c', clientSecret: 's', baseUrl: app.rootUrl, store: memoryTokens() }
  const whole = { installation_id: 'i', app_user_id: 'u', workspace_id: 'w', access_token: 'a', refresh_token: 'r' }
  const response = { ...whole, scope: 'read', expires_in: 3600, token_type: 'Bearer' }
  const tokens = new TokenManager(options)
  for (const wrong of [{ access_token: 5 }, { refresh_token: '' }, { expires_in: 'soon' }, { installation_id: null }]) {
    const saved = tokens.save({ ...response, ...wrong } as never)
    await expect(saved).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER' })
    expect(await options.store.get('i')).toBeNull()
  }
})

test('works with node:http', async ({ app }) => {
  const { installer } = await scene(app)
  const port = await listen(createServer(nodeHandler(installer.start)))
  const answer = await fetch(`http://127.0.0.1:${port}/install?secret=${encodeURIComponent(installSecret)}`, {
    redirect: 'manual',
  })
  expect(answer.status).toBe(302)
  expect(answer.headers.get('location')).toContain('/oauth/authorize?')
  expect(cookieFrom(answer)).toMatch(/^baton_install=/)
})
