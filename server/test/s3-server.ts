import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listen } from './loopback-server.ts'

const hash = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')
const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

const credentials = { keyId: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', region: 'eu-west-1' }

/** A bucket that verifies every request as Signature Version 4 is documented, and can be down. */
export class S3Server {
  readonly objects = new Map<string, { bytes: Buffer; writtenAt: Date }>()
  /** One line for each request that was not signed correctly. */
  readonly refused: string[] = []
  requests = 0
  /** `error`: answers 503. `silent`: never answers. `broken`: breaks connections. */
  state: 'up' | 'error' | 'silent' | 'broken' = 'up'
  /** Entries in one page of a list. */
  pageSize = 2
  #port = 0

  /** For as long as the test runs. */
  static async start(): Promise<S3Server> {
    const bucket = new S3Server()
    bucket.#port = await listen(createServer((request, response) => void bucket.#answer(request, response)))
    return bucket
  }

  get env(): Record<string, string> {
    return {
      BATON_S3_URL: `http://127.0.0.1:${this.#port}/bucket/`,
      BATON_S3_REGION: credentials.region,
      BATON_S3_KEY_ID: credentials.keyId,
      BATON_S3_SECRET: credentials.secret,
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse) {
    this.requests++
    if (this.state === 'broken') return void request.socket.destroy()
    if (this.state === 'silent') return
    const body = await buffer(request).catch(() => null)
    if (!body) return
    if (this.state === 'error') return void response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')
    const problem = problemOf(request, body)
    if (problem) {
      this.refused.push(`${request.method} ${request.url}: ${problem}`)
      return void response.writeHead(403).end()
    }
    const url = new URL(request.url ?? '', 'http://localhost')
    const key = url.pathname.replace(/^\/bucket\//, '')
    if (key === '') return this.#list(url.searchParams, response)
    const stored = this.objects.get(key)
    if (request.method === 'PUT') {
      this.objects.set(key, { bytes: body, writtenAt: new Date() })
      response.writeHead(200).end()
    } else if (request.method === 'DELETE') {
      this.objects.delete(key)
      response.writeHead(204).end()
    } else if (!stored) response.writeHead(404).end()
    else {
      const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      if (start === undefined) response.writeHead(200).end(stored.bytes)
      else response.writeHead(206).end(stored.bytes.subarray(Number(start), Number(end) + 1))
    }
  }

  #list(query: URLSearchParams, response: ServerResponse) {
    const prefix = query.get('prefix') ?? ''
    const after = Number(query.get('continuation-token') ?? 0)
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort()
    const next = after + this.pageSize < keys.length
    const entries = keys.slice(after, after + this.pageSize).map((key) => {
      const { bytes, writtenAt } = this.objects.get(key) as { bytes: Buffer; writtenAt: Date }
      return `<Contents><Key>${key}</Key><LastModified>${writtenAt.toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`
    })
    response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end(
        `<?xml version="1.0"?><ListBucketResult><IsTruncated>${next}</IsTruncated>${entries.join('')}${
          next ? `<NextContinuationToken>${after + this.pageSize}</NextContinuationToken>` : ''
        }</ListBucketResult>`,
      )
  }
}

/** Undefined if the request has the signature of its method, path, query, headers and content. */
function problemOf({ method, url = '', headers }: IncomingMessage, body: Buffer): string | undefined {
  const [, keyId, date, region, names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    ) ?? []
  if (keyId !== credentials.keyId || region !== credentials.region) return 'no credentials'
  if (headers['x-amz-content-sha256'] !== hash(body)) return 'another content'
  if (method === 'PUT' && Number(headers['content-length']) !== body.length) return 'no length'
  for (const needed of ['host', 'x-amz-content-sha256', 'x-amz-date']) {
    if (!names.split(';').includes(needed)) return `${needed} is not signed`
  }
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const query = [...searchParams].map((pair) => pair.map(encodeURIComponent).join('=')).sort()
  const signed = names.split(';').map((name) => `${name}:${headers[name]}\n`)
  const canonical = [method, pathname, query.join('&'), signed.join(''), names, hash(body)].join('\n')
  const scope = `${date}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash(canonical)].join('\n')
  const key = [date as string, region as string, 's3', 'aws4_request'].reduce<string | Buffer>(
    (previous, part) => mac(previous, part),
    `AWS4${credentials.secret}`,
  )
  return mac(key, text).toString('hex') === signature ? undefined : 'another signature'
}
