import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, vi } from 'vitest'
import { test } from '../../test/harness.ts'
import { createApp } from '../app.ts'

/** Connects, sends the text, and returns what is received until the connection closes. */
async function answerTo(rootUrl: string, text: string) {
  const socket = connect(Number(new URL(rootUrl).port), '127.0.0.1', () => socket.write(text))
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  await once(socket, 'close')
  return received
}

describe('connections', () => {
  test('that never send a byte are closed, all of them, and no others', async ({ app }) => {
    const { http } = await createApp(app.ctx, { stopping: false }, undefined, null, { requestMs: 3000 })
    await http.listen({ host: '127.0.0.1', port: 0 })
    const { port } = http.server.address() as AddressInfo
    const sockets: Socket[] = []
    for (let i = 0; i < 50; i++) {
      // Neither reads nor closes, as an attacker would.
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      socket.on('error', () => {})
      sockets.push(socket)
      await once(socket, 'connect')
    }
    const left = () => new Promise<number>((resolve) => http.server.getConnections((_, count) => resolve(count)))
    expect(await left()).toBe(50)
    const used = httpRequest({ port, host: '127.0.0.1', path: '/healthz', headers: { connection: 'keep-alive' } }).end()
    const [response] = await once(used, 'response')
    expect(response.resume().statusCode).toBe(200)
    await expect.poll(left, { timeout: 20_000 }).toBe(1)
    const slow = answerTo(`http://127.0.0.1:${port}`, 'GET / HTTP/1.1\r\nHost: a\r\n')
    expect(await slow).toContain('HTTP/1.1 408')
    for (const socket of sockets) socket.destroy()
    await http.close()
  })
})

describe('a request', () => {
  test('with two hosts, an empty one or none is 400', async ({ app }) => {
    const get = (headers: string) =>
      answerTo(app.rootUrl, `GET /healthz HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`)
    expect(await get('Host: a\r\n')).toContain('HTTP/1.1 200')
    for (const hosts of ['Host: a\r\nHost: b\r\n', 'Host: a\r\nhost: a\r\n', 'Host:\r\n', '']) {
      const answer = await get(hosts)
      expect(answer).toContain('HTTP/1.1 400')
      expect(answer).toContain('"code":"INVALID_REQUEST"')
    }
  })

  test('with an encoded body is 415, and changes nothing', async ({ app }) => {
    const person = await app.person()
    const raw = gzipSync(JSON.stringify({ name: 'Acme' }))
    const post = (encoding: string, body: string | Buffer) =>
      fetch(`${app.rootUrl}/api/v1/workspaces`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${person.token}`,
          'content-type': 'application/json',
          'content-encoding': encoding,
        },
        body,
      })
    for (const encoding of ['gzip', 'GZIP', 'deflate', 'br', 'identity, gzip', 'nonsense']) {
      const response = await app.unchanged(() => post(encoding, raw))
      expect(response.status).toBe(415)
      expect(response.headers.get('accept-encoding')).toBe('identity')
      expect(await response.json()).toEqual({
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: 'Send the body without Content-Encoding.',
        details: {},
      })
    }
    for (const encoding of ['identity', 'Identity', '']) {
      expect((await post(encoding, '{"name":"Acme"}')).status).toBe(201)
    }
    // A caller without access learns only that.
    const anonymous = await fetch(`${app.rootUrl}/api/v1/workspaces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: raw,
    })
    expect(anonymous.status).toBe(401)
    // Without a body there is nothing to decode.
    const { status } = await person.get('/auth/me', { headers: { 'content-encoding': 'gzip' } })
    expect(status).toBe(200)
  })

  test('with an encoded body gets the error of OAuth on its routes', async ({ app }) => {
    const response = await fetch(`${app.rootUrl}/api/v1/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-encoding': 'gzip' },
      body: gzipSync('grant_type=refresh_token'),
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: 'invalid_request',
      error_description: 'Send the body without Content-Encoding.',
    })
  })

  test('whose body is aborted is neither an internal error nor one of the database', async ({ startApp }) => {
    const app = await startApp()
    const person = await app.person()
    const logged = {
      info: vi.spyOn(app.ctx.log, 'info'),
      warn: vi.spyOn(app.ctx.log, 'warn'),
      error: vi.spyOn(app.ctx.log, 'error'),
    }
    await app.unchanged(async () => {
      const lookedUp = vi.spyOn(app.ctx.db, 'row')
      const request = httpRequest(`${app.rootUrl}/api/v1/workspaces`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${person.token}`,
          'content-type': 'application/json',
          'content-length': '100',
        },
      })
      request.on('error', () => {})
      request.write('{"name":')
      // The login is looked up, then the body is read.
      await expect.poll(() => lookedUp.mock.settledResults.length).toBeGreaterThan(0)
      await setImmediate()
      request.destroy()
      await expect.poll(() => logged.info.mock.calls.length).toBe(1)
    })
    expect(logged.info.mock.calls).toMatchObject([
      [{ method: 'POST', route: '/api/v1/workspaces' }, 'the client disconnected within the body'],
    ])
    expect(logged.warn).not.toHaveBeenCalled()
    expect(logged.error).not.toHaveBeenCalled()
  })
})

describe('Cache-Control', () => {
  test('is no-store in every JSON response to a person or an app', async ({ app }) => {
    const { owner } = await app.workspace()
    const robot = await app.installed(owner)
    for (const { status, headers } of [
      await owner.get('/auth/me'),
      await owner.get('/teams'),
      await owner.get('/teams/team_none'),
      await owner.get('/no-such-path'),
      await owner.post('/teams', { name: '' }),
      await robot.get('/teams'),
      await robot.post('/teams', { name: 'Engineering', key: 'ENG' }),
      await app.anonymous.post('/auth/sign-in', { email: owner.user.email, password: owner.password }),
    ]) {
      expect({ status, policy: headers.get('cache-control') }).toEqual({ status, policy: 'no-store' })
    }
  })

  test('lets caches keep what is public', async ({ app }) => {
    const { headers } = await app.anonymous.getRoot('/docs')
    expect(headers.get('cache-control')).toContain('public')
    expect((await app.anonymous.get('/openapi.json')).headers.get('cache-control')).toBeNull()
  })
})

describe('unknown query parameters', () => {
  test('are ignored by pages', async ({ app }) => {
    for (const path of [
      '/',
      '/docs',
      '/docs/api',
      '/docs/errors',
      '/docs/style.css',
      '/healthz',
      '/readyz',
      '/llms.txt',
    ]) {
      const plain = await fetch(`${app.rootUrl}${path}`)
      const asked = await fetch(`${app.rootUrl}${path}?utm_source=mail&x=1&x=2&%00=1`)
      expect({ path, status: asked.status }).toEqual({ path, status: plain.status })
      expect(asked.status).toBe(200)
      expect(await asked.text()).toBe(await plain.text())
    }
  })

  test('are refused by the API', async ({ app }) => {
    const { owner } = await app.workspace()
    for (const path of ['/instance', '/openapi.json', '/auth/me', '/teams']) {
      const response = await owner.get(`${path}?utm_source=mail`)
      expect(response).toMatchObject({ status: 422, body: { details: { utm_source: expect.any(String) } } })
    }
  })
})
