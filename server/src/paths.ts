/** The folder of the server: one level up from the sources, the build (dist) and the bundle. */
export const serverDir = new URL('../', import.meta.url)
export const rootDir = new URL('../', serverDir)
/** JavaScript of this version. Node 20 runs no TypeScript, so tests of the sources run threads from the build. */
export const compiledDir = import.meta.url.endsWith('.ts')
  ? new URL('dist/', serverDir)
  : new URL('./', import.meta.url)
