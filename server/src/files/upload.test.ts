import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { contentAs, png, storedKeys, upload } from '../../test/files.ts'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { createApp } from '../app.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'
import { DiskStorage } from '../storage/disk.ts'
import type { Storage } from '../storage/storage.ts'
import { checkFiles } from './check.ts'

/** Sends bytes as they are, and returns what is received until the connection closes or `enough` is received. */
async function send(rootUrl: string, parts: (string | Buffer)[], { pauseMs = 0, enough = /\r\n\r\n/ } = {}) {
  const socket = connect(Number(new URL(rootUrl).port), '127.0.0.1')
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  for (const part of parts) {
    if (socket.destroyed) break
    socket.write(part)
    await sleep(pauseMs)
  }
  await Promise.race([closed, expect.poll(() => received, { timeout: 10_000 }).toMatch(enough)])
  socket.destroy()
  return received
}

const head = (person: TestPerson, headers: string[], path = '/api/v1/files?name=a.png') =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${person.token}`,
    `X-Workspace-ID: ${person.workspaceId}`,
    ...headers,
    '',
    '',
  ].join('\r\n')

/** The same service with short timeouts. */
async function quick(app: TestApp, requestMs: number, uploadMs?: number) {
  const { http } = await createApp(app.ctx, { stopping: false }, undefined, null, { requestMs, uploadMs })
  await http.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => void (await http.close()))
  return `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`
}

const rows = async (app: TestApp) => (await app.ctx.db.rows(sql`select 1 from files`)).length

describe('an upload', () => {
  test(
    'is read back as it was sent',
    verifies('file.upload-and-read', 'file.no-row-without-bytes'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const bytes = Buffer.concat([png(640, 480), Buffer.alloc(300_000, 7)])
      const { status, body } = await upload(owner, bytes, 'door.png')
      expect(status).toBe(201)
      expect(body).toMatchObject({
        name: 'door.png',
        bytes: bytes.length,
        media_type: 'image/png',
        inline: true,
        width: 640,
        height: 480,
        uploader_id: owner.user.id,
      })
      expect((await owner.get(`/files/${body.id}`)).body).toEqual(body)
      const read = await contentAs(app, owner, body.id)
      expect(read.status).toBe(200)
      expect(read.bytes.equals(bytes)).toBe(true)
      expect(read.headers.get('content-type')).toBe('image/png')
      expect((await upload(owner, '', 'empty')).body).toMatchObject({
        bytes: 0,
        media_type: 'application/octet-stream',
      })
      const problems = []
      for await (const problem of checkFiles(app.ctx.db, app.ctx.storage as never, app.clock.now(), {
        content: true,
      })) {
        problems.push(problem)
      }
      expect(problems).toEqual([])
    },
  )

  test('with another type and name is what its content is', verifies('file.type-by-content'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body } = await owner.post('/files?name=a.png', undefined, {
      raw: '<!doctype html><script>alert(1)</script>',
      headers: { 'content-type': 'image/png' },
    })
    expect(body).toMatchObject({ media_type: 'application/octet-stream', inline: false, width: null })
  })

  test('needs its length', verifies('file.upload-length-required'), async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    await app.unchanged(async () => {
      const chunked = head(owner, ['Transfer-Encoding: chunked', 'Connection: close'])
      expect(await send(app.rootUrl, [`${chunked}5\r\nhello\r\n0\r\n\r\n`], { enough: /details/ })).toMatch(
        /^HTTP\/1.1 400 [\s\S]*"INVALID_REQUEST"/,
      )
      expect(await send(app.rootUrl, [head(owner, ['Connection: close'])], { enough: /details/ })).toMatch(
        /^HTTP\/1.1 400 /,
      )
    })
    expect(await storedKeys(app)).toEqual([])
  })

  test('of another length leaves nothing', verifies('file.upload-short-or-long'), async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const put = vi.spyOn(app.ctx.storage as Storage, 'put')
    await app.unchanged(async () => {
      const short = connect(Number(new URL(app.rootUrl).port), '127.0.0.1')
      short.write(Buffer.concat([Buffer.from(head(owner, ['Content-Length: 100'])), png()]))
      await expect.poll(() => rows(app)).toBe(1)
      short.destroy()
      await expect.poll(() => rows(app)).toBe(0)
      const long = Buffer.concat([Buffer.from(head(owner, ['Content-Length: 20'])), png(), png()])
      await send(app.rootUrl, [long])
      const settled = () => put.mock.settledResults.filter(({ type }) => type !== 'incomplete').length
      await expect.poll(settled, { timeout: 10_000 }).toBe(2)
      await expect.poll(() => rows(app)).toBe(0)
    })
    await sweep(app.ctx)
    expect(await storedKeys(app)).toEqual([])
  })

  test('may have exactly the largest size', verifies('file.size-limit'), async ({ startApp }) => {
    const app = await startApp({ BATON_FILE_BYTES: '1000' })
    const { owner } = await app.workspace()
    expect((await app.anonymous.get('/instance')).body.files).toEqual({ max_bytes: 1000 })
    expect((await upload(owner, Buffer.alloc(1000))).status).toBe(201)
    await app.unchanged(async () => {
      // Answered although no byte of the body was sent.
      const answer = await send(app.rootUrl, [head(owner, ['Content-Length: 1001'])], { enough: /details/ })
      expect(answer).toMatch(/^HTTP\/1.1 413 [\s\S]*"BODY_TOO_LARGE"/)
      expect(await upload(owner, Buffer.alloc(1001))).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } })
    })
  })

  test('over the limit of the workspace is refused', verifies('file.workspace-limit'), async ({ startApp }) => {
    const app = await startApp({ BATON_WORKSPACE_BYTES: '1000' })
    const { owner, member } = await app.workspace()
    expect((await upload(owner, Buffer.alloc(600))).status).toBe(201)
    const refused = await app.unchanged(() => upload(member, Buffer.alloc(401)))
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'STORAGE_LIMIT_REACHED', details: { limit: 1000, used: 600 } },
    })
    const { body } = await upload(member, Buffer.alloc(400))
    expect((await owner.get('/workspaces/me/storage')).body).toMatchObject({ used: 1000, limit: 1000, files: 2 })
    expect((await upload(owner, 'x')).status).toBe(409)
    await member.delete(`/files/${body.id}`)
    expect((await upload(owner, 'x')).status).toBe(201)
    expect((await member.get('/workspaces/me/storage')).status).toBe(403)
  })

  test('is refused before its body is read', verifies('file.refused-before-body', 'file.csrf'), async ({ app }) => {
    const { owner } = await app.workspace()
    const reader = await app.installed(owner, { scopes: ['read'] })
    const size = ['Content-Length: 1000']
    const answer = (headers: string[], path?: string) =>
      send(app.rootUrl, [head(owner, [...size, ...headers], path)], { enough: /details/ })
    await app.unchanged(async () => {
      const anonymous = head(owner, size).replace(/Authorization.*\r\n/, '')
      expect(await send(app.rootUrl, [anonymous], { enough: /details/ })).toMatch(/^HTTP\/1.1 401 /)
      const asReader = head(owner, size).replace(owner.token, reader.token)
      expect(await send(app.rootUrl, [asReader], { enough: /details/ })).toMatch(
        /^HTTP\/1.1 403 [\s\S]*INSUFFICIENT_SCOPE/,
      )
      expect(await answer([], '/api/v1/files')).toMatch(/^HTTP\/1.1 422 [\s\S]*"name"/)
      expect(await answer([], '/api/v1/files?name=a&target_type=issue&target_id=iss_none')).toMatch(/^HTTP\/1.1 404 /)
      expect(await answer([], '/api/v1/files?name=a&target_type=issue')).toMatch(/^HTTP\/1.1 422 [\s\S]*target_id/)
      const cookie = head(owner, [...size, `Cookie: baton_session=${owner.token}`, 'Origin: https://evil.example'])
      const byCookie = cookie.replace(/Authorization.*\r\n/, '')
      expect(await send(app.rootUrl, [byCookie], { enough: /details/ })).toMatch(/^HTTP\/1.1 403 [\s\S]*CSRF_REFUSED/)
      // The client waits for permission, and gets the refusal in its place.
      expect(await answer(['Expect: 100-continue'], '/api/v1/files')).toMatch(/^HTTP\/1.1 422 /)
    })
    const allowed = head(owner, ['Content-Length: 2', 'Expect: 100-continue', 'Connection: close'])
    expect(await send(app.rootUrl, [allowed], { enough: /100 Continue/ })).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\n$/)
  })

  test('may take long, but not pause', verifies('file.slow-upload'), async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const url = await quick(app, 400)
    const parts = Array.from({ length: 10 }, () => 'x'.repeat(10))
    const begun = Date.now()
    const slow = await send(url, [head(owner, ['Content-Length: 100', 'Connection: close']), ...parts], {
      pauseMs: 150,
      enough: /created_at/,
    })
    expect(Date.now() - begun).toBeGreaterThan(1000)
    expect(slow).toMatch(/^HTTP\/1.1 201 /)
    await app.unchanged(async () => {
      const silent = await send(url, [head(owner, ['Content-Length: 100']), 'x'], { enough: /details/ })
      expect(silent).toMatch(/^HTTP\/1.1 408 [\s\S]*"REQUEST_TIMEOUT"/)
    })
    expect((await storedKeys(app)).length).toBe(1)
    // The limit of other bodies stays as it was.
    const json = await send(
      url,
      [head(owner, ['Content-Length: 100', 'Content-Type: application/json'], '/api/v1/teams'), '{'],
      {
        enough: /details/,
      },
    )
    expect(json).toMatch(/^HTTP\/1.1 408 /)
    const endless = await quick(app, 400, 1000)
    await app.unchanged(async () => {
      const answer = await send(endless, [head(owner, ['Content-Length: 10000']), ...Array(40).fill('x')], {
        pauseMs: 50,
        enough: /details/,
      })
      expect(answer).toMatch(/^HTTP\/1.1 408 /)
    })
  })

  test('is not kept in memory', async ({ startApp }) => {
    const app = await startApp({ BATON_FILE_BYTES: '200000000' })
    const { owner } = await app.workspace()
    const size = 160 * 1024 * 1024
    const chunk = Buffer.alloc(256 * 1024)
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    const request = httpRequest(`${app.rootUrl}/api/v1/files?name=a`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.token}`, 'x-workspace-id': owner.workspaceId, 'content-length': size },
    })
    for (let sent = 0; sent < size; sent += chunk.length) {
      if (!request.write(chunk)) await once(request, 'drain')
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }
    request.end()
    const [response] = await once(request, 'response')
    expect(response.statusCode).toBe(201)
    response.resume()
    expect(most).toBeLessThan(size / 2)
  })

  test('needs a place for files', verifies('file.not-configured'), async ({ startApp }) => {
    const key = Buffer.alloc(32).toString('base64')
    const app = await startApp({ DATABASE_URL: 'postgres://localhost/none', BATON_SECRET_KEY: key })
    const { owner } = await app.workspace()
    expect((await app.anonymous.get('/instance')).body.files).toBeNull()
    const refused = await app.unchanged(() => upload(owner, 'x'))
    expect(refused).toMatchObject({ status: 409, body: { code: 'FILES_NOT_CONFIGURED' } })
    // The embedded database has a directory for them.
    const embedded = await startApp()
    expect((await upload((await embedded.workspace()).owner, 'x')).status).toBe(201)
  })

  test('is 503 while the disk is full', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const dir = app.ctx.config.files?.kind === 'directory' ? app.ctx.config.files.path : ''
    let free = 256 * 1024 * 1024 + 9
    app.ctx.storage = new DiskStorage(dir, async () => free)
    await app.unchanged(async () => expect((await upload(owner, Buffer.alloc(10))).status).toBe(503))
    free++
    expect((await upload(owner, Buffer.alloc(10))).status).toBe(201)
  })

  test('is possible 60 times a minute, and 200 times for an item', async ({ startApp }) => {
    const app = await startApp()
    const { owner, member } = await app.workspace()
    const { body: issue } = await owner.post('/issues', { title: 'One' })
    const place = { target_type: 'issue', target_id: issue.id } as const
    for (let count = 0; count < 60; count++) expect((await upload(owner, 'x')).status).toBe(201)
    expect(await app.unchanged(() => upload(owner, 'x'))).toMatchObject({ status: 429 })
    expect((await upload(member, 'x')).status).toBe(201)
    await app.ctx.db.run(sql`
      insert into files (id, workspace_id, name, bytes, media_type, inline, sha256, state, created_at)
      select 'fil_' || n, ${owner.workspaceId}, 'a', 0, 'text/plain', false, '', 'ready', now()
      from generate_series(1, 199) n`)
    await app.ctx.db.run(sql`
      insert into file_links select id, workspace_id, 'issue', ${issue.id}, now() from files where bytes = 0`)
    expect((await upload(member, 'x', 'a', place)).status).toBe(201)
    app.clock.advance({ minutes: 2 })
    const refused = await app.unchanged(() => upload(member, 'x', 'a', place))
    expect(refused).toMatchObject({ status: 422, body: { details: { target_id: expect.stringContaining('200') } } })
    const { body: draft } = await upload(member, 'x')
    await member.put(`/issues/${issue.id}`, { description: `[a](${draft.id})` })
    expect((await owner.get(`/files/${draft.id}`)).status).toBe(404)
  })
})
