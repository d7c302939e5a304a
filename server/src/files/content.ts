import { Readable } from 'node:stream'
import type { File } from '@baton/protocol'
import type { Context } from '../context.ts'
import { type Headers, Reply } from '../http/route.ts'
import { disposition } from './name.ts'
import { keyOf, storageOf } from './store.ts'

/** Nothing in a file may run, and no other site may show it. */
const inert = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
}

/** The bytes, or the part that the request names. Never a redirect: the storage is not reachable from outside. */
export async function contentOf(
  ctx: Context,
  { file, sha256 }: { file: File; sha256: Buffer },
  headers: Headers,
  caching = 'private, max-age=300',
) {
  const etag = `"${sha256.toString('base64url')}"`
  const known = String(headers['if-none-match'] ?? '').split(',')
  const common = { ...inert, etag, 'cache-control': caching, 'accept-ranges': 'bytes' }
  // Proxies that compress mark the tag as weak.
  if (known.some((one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*')) {
    return new Reply(undefined, common, 304)
  }
  const range = headers['if-range'] === undefined || headers['if-range'] === etag ? headers.range : undefined
  const part = rangeOf(range, file.bytes)
  if (part === 'unsatisfiable')
    return new Reply(undefined, { ...common, 'content-range': `bytes */${file.bytes}` }, 416)
  const storage = storageOf(ctx)
  const length = part ? part.end - part.start + 1 : file.bytes
  // An empty object has no range, and needs none.
  const body = length === 0 ? Readable.from([]) : await storage.read(keyOf(file.id), part)
  return new Reply(
    body,
    {
      ...common,
      'content-type': file.media_type === 'text/plain' ? 'text/plain; charset=utf-8' : file.media_type,
      'content-length': String(length),
      'content-disposition': disposition(file.inline, file.name),
      ...(part ? { 'content-range': `bytes ${part.start}-${part.end}/${file.bytes}` } : {}),
    },
    part ? 206 : 200,
  )
}

/** RFC 9110 14.2: a header that is invalid or names several ranges is ignored. */
function rangeOf(header: string | string[] | undefined, bytes: number) {
  const [, from = '', to = ''] = (typeof header === 'string' && /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header)) || []
  if (from === '' && to === '') return undefined
  if (from === '')
    return Number(to) === 0 || bytes === 0
      ? 'unsatisfiable'
      : { start: Math.max(0, bytes - Number(to)), end: bytes - 1 }
  const [start, end] = [Number(from), to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1)]
  if (to !== '' && Number(to) < start) return undefined
  return start >= bytes ? 'unsatisfiable' : { start, end }
}
