import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { test as base, TestApp } from '../../test/harness.ts'

const page = '<!doctype html><title>Baton</title><script type="module" src="/assets/main-1a2b.js"></script>'
const script = `console.log(${JSON.stringify('Baton '.repeat(200))})`

const dir = mkdtempSync(join(tmpdir(), 'baton-web-'))
function put(path: string, content: string | Buffer) {
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  writeFileSync(join(dir, path), content)
}

beforeAll(() => {
  put('dist/index.html', page)
  put('dist/icon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')
  put('dist/assets/main-1a2b.js', script)
  put('dist/assets/main-1a2b.js.gz', gzipSync(script))
  put('dist/assets/main-1a2b.js.br', brotliCompressSync(script))
  put('dist/assets/main-3c4d.css', 'body { color: teal }')
  put('dist/assets/font-5e6f.woff2', 'font')
  put('dist/assets/odd', 'odd')
  put('dist/.env', 'SECRET=1')
  put('dist/assets/.hidden.js', 'hidden')
  put('secret.txt', 'SECRET=2')
  symlinkSync(join(dir, 'secret.txt'), join(dir, 'dist/assets/linked.txt'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const test = base.extend<{ web: TestApp }>({
  web: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
    async ({}, use) => {
      const app = await TestApp.start({}, undefined, join(dir, 'dist'))
      await use(app)
      await app.stop()
    },
    { scope: 'file' },
  ],
})

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

/** Sends the path unchanged; fetch would normalize it. */
async function ask(app: TestApp, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { hostname, port } = new URL(app.rootUrl)
  const request = httpRequest({ hostname, port, path, method, headers })
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }
}

describe('files', () => {
  test('under assets are immutable and have their types', async ({ web }) => {
    for (const [path, type, content] of [
      ['main-1a2b.js', 'text/javascript; charset=utf-8', script],
      ['main-3c4d.css', 'text/css; charset=utf-8', 'body { color: teal }'],
      ['font-5e6f.woff2', 'font/woff2', 'font'],
      ['odd', 'application/octet-stream', 'odd'],
    ]) {
      const { status, headers, body } = await ask(web, `/assets/${path}?v=1`)
      expect({ path, status, body: body.toString() }).toEqual({ path, status: 200, body: content })
      expect(headers).toMatchObject({
        'content-type': type,
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        'content-length': String(body.length),
        'x-request-id': expect.stringMatching(/^req_/),
      })
      expect(headers['content-encoding']).toBeUndefined()
    }
  })

  test('outside assets are cached for an hour', async ({ web }) => {
    const { status, headers } = await ask(web, '/icon.svg', html)
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=3600' })
  })

  test('are sent compressed to browsers that accept it', async ({ web }) => {
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'br'],
      ['GZIP', 'gzip'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['br;q=0.0, deflate', undefined],
      ['identity', undefined],
    ] as const) {
      const { headers, body } = await ask(web, '/assets/main-1a2b.js', { 'accept-encoding': accepted })
      expect({ accepted, encoding: headers['content-encoding'] }).toEqual({ accepted, encoding })
      expect(headers).toMatchObject({ vary: 'accept-encoding', 'content-type': 'text/javascript; charset=utf-8' })
      if (encoding === 'gzip') expect(gunzipSync(body).toString()).toBe(script)
    }
    const { headers } = await ask(web, '/assets/main-3c4d.css', { 'accept-encoding': 'gzip' })
    expect(headers['content-encoding']).toBeUndefined()
  })

  test('that do not exist are 404, also for browsers that accept a page', async ({ web }) => {
    for (const path of ['/assets/main-old.js', '/assets/', '/assets', '/assets/main-1a2b.js.gz', '/icon.png']) {
      expect(JSON.parse((await ask(web, path, { accept: '*/*' })).body.toString())).toMatchObject({
        code: 'ROUTE_NOT_FOUND',
      })
    }
    expect((await ask(web, '/assets/main-old.js', html)).status).toBe(404)
  })
})

describe('the page', () => {
  const policy =
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "font-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

  test('is served at every path that a browser opens and no operation has', async ({ web }) => {
    for (const path of [
      '/',
      '/sign-in?next=%2Fissues',
      '/oauth/consent?request=x',
      '/issues',
      '/issue/ENG-12',
      '/a/',
    ]) {
      const { status, headers, body } = await ask(web, path, html)
      expect({ path, status, body: body.toString() }).toEqual({ path, status: 200, body: page })
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
      })
    }
  })

  test('and files answer HEAD without a body', async ({ web }) => {
    for (const [path, length] of [
      ['/', page.length],
      ['/issues', page.length],
      ['/assets/main-1a2b.js', script.length],
    ] as const) {
      const { status, headers, body } = await ask(web, path, html, 'HEAD')
      expect({ path, status, length: headers['content-length'], body: body.length }).toEqual({
        path,
        status: 200,
        length: String(length),
        body: 0,
      })
    }
  })

  test('is not served for other media types or methods', async ({ web }) => {
    for (const [method, accept] of [
      ['GET', '*/*'],
      ['GET', 'application/json'],
      ['POST', 'text/html'],
      ['DELETE', 'text/html'],
    ] as const) {
      const { status, body } = await ask(web, '/issues', { accept }, method)
      expect({ method, accept, status, code: JSON.parse(body.toString()).code }).toEqual({
        method,
        accept,
        status: 404,
        code: 'ROUTE_NOT_FOUND',
      })
    }
    expect((await ask(web, '/issues')).status).toBe(404)
  })

  test('does not replace the API, the documentation or other routes', async ({ web }) => {
    for (const [path, status] of [
      ['/api/v1/nothing', 404],
      ['/api', 404],
      ['/api/v1/auth/sign-in', 405],
      ['/mcp', 405],
      ['/metrics/x', 404],
      ['/healthz/', 404],
      ['/readyz/x', 404],
      ['/.well-known/nothing', 404],
      ['/llms.txt/', 404],
    ] as const) {
      const answer = await ask(web, path, html)
      expect({ path, status: answer.status }).toEqual({ path, status })
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(answer.body.toString()).toContain('"code"')
    }
    for (const path of ['/docs/nothing', '/docs/reference/nothing', '/docs/a/b/c', '/docs/api/']) {
      const missing = await ask(web, path, html)
      expect({ path, status: missing.status, type: missing.headers['content-type'] }).toEqual({
        path,
        status: 404,
        type: 'text/html; charset=utf-8',
      })
      expect(missing.body.toString()).toMatch(/<title>Page not found[\s\S]*<a href="\/docs\/api"/)
      expect((await ask(web, path, html, 'HEAD')).status).toBe(404)
      const json = await ask(web, path)
      expect(json.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(JSON.parse(json.body.toString()).code).toMatch(/_NOT_FOUND$/)
    }
    expect(await ask(web, '/docs/', html)).toMatchObject({ status: 308, headers: { location: '/docs' } })
    expect((await ask(web, '/docs/nothing', html, 'POST')).status).toBe(405)
    const docs = await ask(web, '/docs', html)
    expect(docs.headers).toMatchObject({
      'content-security-policy': "default-src 'self';frame-ancestors 'none';base-uri 'none';object-src 'none'",
      'cache-control': 'public, max-age=300',
    })
  })
})

test('no path reaches files outside the build or dotfiles', async ({ web }) => {
  const ways = [
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/%2e%2e/%2e%2e/secret.txt',
    '/assets/..%5c..%5csecret.txt',
    '/assets/..\\..\\secret.txt',
    '/%2e%2e/secret.txt',
    '/%2e%2e%2fsecret.txt',
    '/a%2fb',
    '/.env',
    '/%2eenv',
    '/assets/.hidden.js',
    '/assets/linked.txt',
    '/assets/main-1a2b.js%00.txt',
    '/%00',
    '/issues%0d%0aset-cookie:x',
    '//secret.txt',
    '/%zz',
    '/%c3%28',
    'http://elsewhere.example/issues',
  ]
  for (const path of ways) {
    for (const headers of [html, { accept: '*/*' }]) {
      const { status, body } = await ask(web, path, headers)
      expect({ path, status }).toEqual({ path, status: 404 })
      expect(body.toString()).not.toMatch(/SECRET|hidden|<title>/)
    }
  }
})

test('without a build the home page explains how to build it, and there are no other pages', async ({
  app,
  startApp,
}) => {
  for (const plain of [app, await startApp({}, undefined, join(dir, 'nothing here'))]) {
    const home = await ask(plain, '/', html)
    expect(home.status).toBe(200)
    expect(home.body.toString()).toContain('npm run build --workspace web')
    expect((await ask(plain, '/issues', html)).status).toBe(404)
    expect((await ask(plain, '/assets/main-1a2b.js')).status).toBe(404)
  }
})

test('a worker serves no pages', async ({ startApp }) => {
  const worker = await startApp({ BATON_ROLE: 'worker' }, undefined, join(dir, 'dist'))
  for (const path of ['/', '/issues', '/assets/main-1a2b.js']) expect((await ask(worker, path, html)).status).toBe(404)
  expect((await ask(worker, '/healthz')).status).toBe(200)
})
