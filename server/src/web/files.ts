import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rootDir } from '../paths.ts'

export const webDir = fileURLToPath(new URL('web/dist', rootDir))

type Encoding = 'br' | 'gzip' | 'identity'

export interface WebFile {
  type: string
  /** Uncompressed, and as compressed by the build. */
  bodies: Partial<Record<Encoding, Buffer>>
}

/** The built web app: its page, and every other file by path. */
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
 * Reads all files at the start, so that no path of a request reaches the disk, and a later build does not remove files
 * of pages that are open. Null if the web app has not been built.
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

/** Without dotfiles and symbolic links. */
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

/** The smallest encoding that the browser accepts. */
export function bodyFor({ bodies }: WebFile, acceptEncoding = ''): { encoding: Encoding; body: Buffer } | undefined {
  const accepted = acceptEncoding.split(',').flatMap((part) => {
    const [coding = '', ...params] = part.split(';').map((text) => text.trim().toLowerCase())
    return params.some((param) => /^q=0(\.0*)?$/.test(param)) ? [] : [coding]
  })
  for (const encoding of ['br', 'gzip', 'identity'] as const) {
    const body = bodies[encoding]
    if (body && (encoding === 'identity' || accepted.includes(encoding))) return { encoding, body }
  }
}
