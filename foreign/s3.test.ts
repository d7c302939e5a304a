import { createHash, createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignatureV4 } from '@smithy/signature-v4'
import S3rver from 's3rver'
import { expect, onTestFinished } from 'vitest'
import { sweep } from '../server/src/housekeeping.ts'
import { contentAs, png, upload } from '../server/test/files.ts'
import { test, verifies } from '../server/test/harness.ts'
import { listen } from '../server/test/loopback-server.ts'

const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

class Sha256 {
  readonly #hash
  constructor(secret?: string | Uint8Array) {
    this.#hash = secret ? createHmac('sha256', secret) : createHash('sha256')
  }
  update(data: string | Uint8Array) {
    this.#hash.update(data)
  }
  async digest() {
    return new Uint8Array(this.#hash.digest())
  }
  reset() {}
}

const signer = new SignatureV4({
  service: 's3',
  region: 'us-east-1',
  credentials: keys,
  sha256: Sha256 as never,
  uriEscapePath: false,
  applyChecksum: false,
})

/** The header that AWS's own signer computes for a request with these signed headers. */
async function signatureOf({ method = '', url = '', headers }: IncomingMessage): Promise<string> {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? []
  const signed = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname: '',
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])),
    },
    { signingDate: dateOf(String(headers['x-amz-date'])), signableHeaders: new Set(names) },
  )
  return String(signed.headers.authorization)
}

const dateOf = (text: string) =>
  new Date(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))

test(
  'works with an S3 server, signed as AWS signs',
  verifies('file.s3-signature', 'file.upload-and-read'),
  async ({ startApp }) => {
    const directory = mkdtempSync(join(tmpdir(), 'baton-s3rver-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const server = new S3rver({
      port: 0,
      address: '127.0.0.1',
      silent: true,
      directory,
      configureBuckets: [{ name: 'baton' }],
    })
    const { port } = (await server.run()) as AddressInfo
    onTestFinished(() => server.close())
    const seen: { method: string; ours: string; theirs: string; hash: string; actual: string }[] = []
    // Stands between the two, and compares every request.
    const proxy = createServer(async (request, response) => {
      const theirs = await signatureOf(request)
      const actual = createHash('sha256')
      const { method, url, headers } = request
      const forwarded = httpRequest({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      request.on('data', (chunk) => {
        actual.update(chunk)
        forwarded.write(chunk)
      })
      request.on('end', () => {
        seen.push({
          method: method ?? '',
          ours: headers.authorization ?? '',
          theirs,
          hash: String(headers['x-amz-content-sha256']),
          actual: actual.digest('hex'),
        })
        forwarded.end()
      })
    })
    const app = await startApp({
      BATON_S3_URL: `http://127.0.0.1:${await listen(proxy)}/baton`,
      BATON_S3_REGION: 'us-east-1',
      BATON_S3_KEY_ID: keys.accessKeyId,
      BATON_S3_SECRET: keys.secretAccessKey,
    })
    const { owner } = await app.workspace()
    const bytes = Buffer.concat([png(), Buffer.alloc(500_000, 9)])
    const { body } = await upload(owner, bytes, 'door.png')
    expect((await contentAs(app, owner, body.id)).bytes.equals(bytes)).toBe(true)
    const part = await contentAs(app, owner, body.id, { range: 'bytes=100-199' })
    expect([part.status, part.bytes.equals(bytes.subarray(100, 200))]).toEqual([206, true])
    const listed = []
    for await (const { key, bytes } of app.ctx.storage?.list('files/') ?? []) listed.push([key, bytes])
    expect(listed).toEqual([[`files/${body.id}`, bytes.length]])
    await owner.delete(`/files/${body.id}`)
    app.clock.advance({ hours: 24 })
    await sweep(app.ctx)
    const left = []
    for await (const one of app.ctx.storage?.list('files/') ?? []) left.push(one)
    expect(left).toEqual([])

    expect([...new Set(seen.map(({ method }) => method))].sort()).toEqual(['DELETE', 'GET', 'PUT'])
    for (const { ours, theirs, hash, actual } of seen) {
      expect(ours).toBe(theirs)
      expect(hash).toBe(actual)
    }
  },
)
