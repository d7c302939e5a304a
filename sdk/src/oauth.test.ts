import { createServer } from 'node:http'
import { expect } from 'vitest'
import type { TestApp } from '../../server/test/harness.ts'
import { test } from '../../server/test/harness.ts'
import { listen } from '../../server/test/loopback-server.ts'
import { approve, cookieFrom, installerFor, installSecret, registered } from '../test/scene.ts'
import { BatonClient } from './client.ts'
import { createInstaller, nodeHandler } from './oauth.ts'
import { memoryTokens, type TokenStore } from './tokens.ts'

const address = (secret: string) =>
  new Request(`https://robots.example.com/install?secret=${encodeURIComponent(secret)}`)

async function scene(app: TestApp, store: TokenStore = memoryTokens()) {
  const at = await registered(app, null)
  return { ...at, store, installer: installerFor(app, at, store) }
}

const installations = async ({ owner }: Awaited<ReturnType<typeof scene>>) =>
  (await owner.get('/installations')).body.data

test('a manager installs, and the tokens are stored by installation', async ({ app }) => {
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

test('nobody begins without the secret', async ({ app }) => {
  const { installer } = await scene(app)
  for (const wrong of ['', 'let me', `${installSecret}!`]) {
    const refused = await installer.start(address(wrong))
    expect(refused.status).toBe(403)
    expect(refused.headers.get('set-cookie')).toBeNull()
  }
  expect(() => createInstaller({ installSecret: '' } as never)).toThrow('installSecret')
})

test('an answer with another state, another iss, no cookie, a changed one or an old one stores nothing', async ({
  app,
}) => {
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

test('a refusal of the manager and a code that does not work are told to the browser as text', async ({ app }) => {
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

test('node:http can serve it', async ({ app }) => {
  const { installer } = await scene(app)
  const port = await listen(createServer(nodeHandler(installer.start)))
  const answer = await fetch(`http://127.0.0.1:${port}/install?secret=${encodeURIComponent(installSecret)}`, {
    redirect: 'manual',
  })
  expect(answer.status).toBe(302)
  expect(answer.headers.get('location')).toContain('/oauth/authorize?')
  expect(cookieFrom(answer)).toMatch(/^baton_install=/)
})
