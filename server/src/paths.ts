import { existsSync } from 'node:fs'

/** The folder of the server, or of its package: one level up from the sources, the build (dist) and the bundle. */
export const serverDir = new URL('../', import.meta.url)
/** The folder that has docs and web: the repository, or the package, which contains them (scripts/packages.mjs). */
export const rootDir = existsSync(new URL('docs/guides/', serverDir)) ? serverDir : new URL('../', serverDir)
/** JavaScript of this version. Node 20 runs no TypeScript, so tests of the sources run threads from the build. */
export const compiledDir = import.meta.url.endsWith('.ts')
  ? new URL('dist/', serverDir)
  : new URL('./', import.meta.url)
