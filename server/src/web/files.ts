import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Three steps up, from the sources as from the build. */
export const webDir = fileURLToPath(new URL('../../../web/dist', import.meta.url))

type Encoding = 'br' | 'gzip' | 'identity'

export interface WebFile {
  type: string
  /** As it is, and as the build compressed it. */
  bodies: Partial<Record<Encoding, Buffer>>
}

/** The web app as it was built: its page, and every other file by its path. */
export interface WebFiles {
  page: Buffer
  files: ReadonlyMap<string, WebFile>
}

const compressed: Record<string, Encoding> = { '.br': 'br', '.gz': 'gzip' }

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

/**
 * Reads everything once, so that what is served is known by name before anybody asks: no path of a request ever
 * reaches the disk, and a build that happens meanwhile takes nothing away from the pages that are open. Null: it has
 * not been built.
 */
export function readWebFiles(dir = webDir): WebFiles | null {
  const files = new Map<string, WebFile>()
  for (const name of filesIn(dir)) {
    const encoding = compressed[extname(name)] ?? 'identity'
    const path = encoding === 'identity' ? name : name.slice(0, -extname(name).length)
    const file = files.get(path) ?? { type: types[extname(path)] ?? 'application/octet-stream', bodies: {} }
    file.bodies[encoding] = readFileSync(join(dir, name))
    files.set(path, file)
  }
  const page = files.get('/index.html')?.bodies.identity
  files.delete('/index.html')
  return page ? { page, files } : null
}

/** Neither what is hidden nor where links lead. */
function filesIn(dir: string): string[] {
  try {
    return readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => `/${relative(dir, join(parentPath, name)).split(sep).join('/')}`)
      .filter((path) => !path.includes('/.'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** The smallest form that the browser takes. */
export function bodyFor({ bodies }: WebFile, acceptEncoding = ''): { encoding: Encoding; body: Buffer } | undefined {
  const taken = acceptEncoding.split(',').flatMap((part) => {
    const [coding = '', ...params] = part.split(';').map((text) => text.trim().toLowerCase())
    return params.some((param) => /^q=0(\.0*)?$/.test(param)) ? [] : [coding]
  })
  for (const encoding of ['br', 'gzip', 'identity'] as const) {
    const body = bodies[encoding]
    if (body && (encoding === 'identity' || taken.includes(encoding))) return { encoding, body }
  }
}
