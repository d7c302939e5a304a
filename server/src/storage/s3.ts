import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { AwsV4Signer } from 'aws4fetch'
import { Agent, type Dispatcher, request } from 'undici'
import { copyTo } from './disk.ts'
import { checkKey, NoSuchKey, type Storage, StorageUnavailable } from './storage.ts'
import { openTemporaryFile } from './temporary-file.ts'

export interface Bucket {
  /** Ends with `/`. */
  url: string
  region: string
  keyId: string
  secret: string
}

const nothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
/** A slow connection: what takes longer is given up. */
const slowestBytesPerMs = 64
const maxListBytes = 4 * 1024 * 1024

/** Objects of a bucket, by key. Requests are signed with their whole content, so the service verifies what it stores. */
export class S3Storage implements Storage {
  readonly #bucket: Bucket
  readonly #agent: Agent
  readonly #patienceMs: number

  constructor(bucket: Bucket, patienceMs = 30_000) {
    this.#bucket = bucket
    this.#patienceMs = patienceMs
    this.#agent = new Agent({
      connect: { timeout: Math.min(patienceMs, 10_000) },
      // The deadline of each request is shorter.
      headersTimeout: 0,
      bodyTimeout: patienceMs,
    })
  }

  /** The signature contains a hash of the bytes, so they are first collected on the disk. */
  async put(key: string, body: Readable, bytes: number): Promise<{ sha256: Buffer }> {
    try {
      return await withTemporaryFile(async (handle) => {
        const sha256 = await copyTo(handle, body, bytes)
        await this.#putObject(key, handle, bytes, sha256.toString('hex'))
        return { sha256 }
      })
    } finally {
      body.destroy()
    }
  }

  async #putObject(key: string, handle: FileHandle, bytes: number, hash: string) {
    const content = bytes > 0 ? handle.createReadStream({ start: 0, autoClose: false }) : null
    const deadlineMs = this.#patienceMs + bytes / slowestBytesPerMs
    try {
      const { status, response } = await this.#send('PUT', this.#url(key), { content, bytes, hash, deadlineMs })
      await response.dump()
      if (status !== 200) throw new StorageUnavailable(`S3 answered ${status}`)
    } catch (error) {
      // It may have been stored although the answer was lost.
      await this.remove(key).catch(() => {})
      throw error
    } finally {
      content?.destroy()
    }
  }

  async read(key: string, range?: { start: number; end: number }): Promise<Readable> {
    const headers: Record<string, string> = range ? { range: `bytes=${range.start}-${range.end}` } : {}
    const { status, response } = await this.#send('GET', this.#url(key), { headers })
    if (status === (range ? 206 : 200)) return response
    await response.dump()
    if (status === 404) throw new NoSuchKey(key)
    throw new StorageUnavailable(`S3 answered ${status}`)
  }

  async remove(key: string): Promise<void> {
    const { status, response } = await this.#send('DELETE', this.#url(key), { deadlineMs: this.#patienceMs })
    await response.dump()
    if (status >= 300 && status !== 404) throw new StorageUnavailable(`S3 answered ${status}`)
  }

  async *list(prefix: string): AsyncIterable<{ key: string; bytes: number; writtenAt: Date }> {
    checkKey(prefix.replace(/\/$/, ''))
    for (let next: string | undefined = ''; next !== undefined; ) {
      const url = new URL(this.#bucket.url)
      url.searchParams.set('list-type', '2')
      url.searchParams.set('prefix', prefix)
      if (next) url.searchParams.set('continuation-token', next)
      const page = await this.#listPage(url.href)
      for (const [, entry = ''] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const [key, bytes, writtenAt] = [element(entry, 'Key'), element(entry, 'Size'), element(entry, 'LastModified')]
        if (key !== undefined) yield { key, bytes: Number(bytes), writtenAt: new Date(writtenAt ?? 0) }
      }
      next = element(page, 'IsTruncated') === 'true' ? element(page, 'NextContinuationToken') : undefined
    }
  }

  async #listPage(url: string): Promise<string> {
    const { status, response } = await this.#send('GET', url, { deadlineMs: 2 * this.#patienceMs })
    const chunks: Buffer[] = []
    let bytes = 0
    await asUnavailable(async () => {
      for await (const chunk of response) {
        bytes += chunk.length
        if (bytes > maxListBytes) throw new StorageUnavailable('S3 answered a list that is too long')
        chunks.push(chunk)
      }
    })
    if (status !== 200) throw new StorageUnavailable(`S3 answered ${status}`)
    return Buffer.concat(chunks).toString()
  }

  async close() {
    await this.#agent.destroy()
  }

  async #send(
    method: 'GET' | 'PUT' | 'DELETE',
    url: string,
    {
      headers = {},
      content = null,
      bytes = 0,
      hash = nothing,
      deadlineMs,
    }: {
      headers?: Record<string, string>
      content?: Readable | null
      bytes?: number
      hash?: string
      /** Without it, only the answer's beginning and its pauses are limited. */
      deadlineMs?: number
    },
  ): Promise<{ status: number; response: Dispatcher.ResponseData['body'] }> {
    const { region, keyId, secret } = this.#bucket
    const signer = new AwsV4Signer({
      method,
      url,
      headers: { ...headers, 'x-amz-content-sha256': hash },
      accessKeyId: keyId,
      secretAccessKey: secret,
      service: 's3',
      region,
    })
    const signed = await signer.sign()
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), deadlineMs ?? this.#patienceMs)
    try {
      const { statusCode, body } = await request(signed.url, {
        method,
        headers: {
          ...Object.fromEntries(signed.headers),
          ...(method === 'PUT' ? { 'content-length': String(bytes) } : {}),
        },
        body: content,
        dispatcher: this.#agent,
        signal: late.signal,
      })
      if (deadlineMs !== undefined) body.once('close', () => clearTimeout(timer))
      else clearTimeout(timer)
      return { status: statusCode, response: body }
    } catch (error) {
      clearTimeout(timer)
      throw new StorageUnavailable(`S3 is unreachable: ${(error as Error).message}`)
    }
  }

  #url(key: string) {
    checkKey(key)
    return `${this.#bucket.url}${key}`
  }
}

const element = (xml: string, name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]

async function asUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error
    throw new StorageUnavailable(`S3 broke off: ${(error as Error).message}`)
  }
}

async function withTemporaryFile<T>(work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const { handle, close } = await asUnavailable(openTemporaryFile)
  try {
    return await work(handle)
  } finally {
    await close()
  }
}
