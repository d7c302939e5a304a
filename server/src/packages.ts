import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { api } from '@baton/protocol'
import { notFound } from './http/errors.ts'
import { Reply, route } from './http/route.ts'
import { serverDir } from './paths.ts'

/** scripts/pack.mjs writes them here. */
const directory = new URL('dist/packages/', serverDir)

/** No other name reaches the disk. */
const names: readonly string[] = ['sdk.tgz', 'cli.tgz']

/**
 * The packages of this version, so that developers need no registry: the names that npm would look up there belong to
 * others. Stored copies are compared at each use, because an upgrade changes them.
 */
export const packageRoutes = [
  route(api.getPackage, async ({ params: { file }, headers }) => {
    const { bytes, etag } = await readPackage(file)
    const caching = { etag, 'cache-control': 'public, no-cache' }
    const known = String(headers['if-none-match'] ?? '').split(',')
    // Proxies that compress mark the tag as weak.
    if (known.some((one) => one.trim().replace(/^W\//, '') === etag)) return new Reply(undefined, caching, 304)
    return new Reply(bytes, { ...caching, 'content-type': 'application/gzip', 'x-content-type-options': 'nosniff' })
  }),
]

const cache = new Map<string, { bytes: Buffer; etag: string }>()

async function readPackage(file: string) {
  const cached = cache.get(file)
  if (cached) return cached
  if (!names.includes(file)) throw notFound()
  const bytes = await readFile(new URL(file, directory)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? notFound() : error
  })
  const found = { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` }
  cache.set(file, found)
  return found
}
