import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Compressed once here, so that no server has to do it at every request. */
const compressed = (): Plugin => ({
  name: 'compressed',
  apply: 'build',
  async writeBundle({ dir }) {
    const assets = join(dir ?? 'dist', 'assets')
    for (const name of await readdir(assets)) {
      if (!/\.(js|css|svg)$/.test(name)) continue
      const bytes = await readFile(join(assets, name))
      await writeFile(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }))
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
      await writeFile(join(assets, `${name}.br`), brotliCompressSync(bytes, { params }))
    }
  },
})

/** The words of the app's sources: routes and limits are used by name, so the others are not used. */
const wordsOfApp = () => {
  const sources = join(import.meta.dirname, 'src')
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
  return new Set(files.flatMap((name) => readFileSync(join(sources, name), 'utf8').match(/\w+/g) ?? []))
}

/** Leaves out routes and limits that the app does not use, and who may call a route, which only the service checks. */
const onlyUsed = (): Plugin => {
  let words = new Set<string>()
  return {
    name: 'only-used',
    apply: 'build',
    enforce: 'pre',
    buildStart: () => {
      words = wordsOfApp()
    },
    transform(code, id) {
      if (/protocol[\\/]src[\\/]index\.ts$/.test(id))
        this.error(
          'The app imports a value of @baton/protocol, and with it all schemas. Import types, or from one of its files.',
        )
      if (!/protocol[\\/]src[\\/](routes|limits)\.ts$/.test(id)) return null
      const entry = /^ {2}(\w+): (?:.*,\n|\{\n(?: {4}.*\n)+ {2}\},\n)/gm
      const callers = /,\s+(?:(?:caller|scope|programScope): (?:'[^']*'|null)|recent: true|whilePendingDeletion: true)/g
      return code.replace(entry, (text, name) => (words.has(name) ? text : '')).replace(callers, '')
    },
  }
}
const server = process.env.BATON_ROOT_URL ?? 'http://localhost:3000'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [onlyUsed(), react(), tailwindcss(), compressed()],
  // The sources of protocol and sdk, not their builds.
  resolve: { conditions: ['source', 'module', 'browser', 'development|production'] },
  build: {
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    manifest: true,
    // Of the packages that the app contains: .vite/license.md.
    license: true,
    // Nothing is inlined: the policy allows no data: scripts, and styles come as files.
    assetsInlineLimit: 0,
    // The names of a screen's chunks are part of the first script. Only the screen that is opened most loads all of its
    // chunks at once; others load theirs one level after the other.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (chunk, needed) =>
        /issue-(screen|detail)-/.test(chunk) ? needed : needed.filter((name) => name.endsWith('.css')),
    },
    // Two chunks for the first screen, instead of one for each set of modules that some routes share: fewer requests,
    // and better compression. Groups take the imports of their modules along.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'base', tags: ['$initial'], priority: 2 },
            { name: 'list', test: /src[\\/](shell[\\/]shell|issues[\\/]issues-screen)\.tsx$/, priority: 1 },
            { name: 'chart', test: /src[\\/]ui[\\/]chart[\\/]/, minShareCount: 2 },
            // Otherwise each shared icon, and each small part of other screens, is a chunk, whose name is listed in the
            // chunks above.
            { name: 'icons', test: /lucide-react/, minShareCount: 2 },
            {
              name: 'parts',
              test: /src[\\/](ui[\\/](amounts|copy|crumbs|csv|date-button|download|form|layout|loaded|one-line|rows|sentence)|data[\\/](cli|templates|webhooks)|planning[\\/](label-colors|same-name)|deliveries[\\/]standard-secret|workspaces[\\/](managers-only|team-key))\.tsx?$/,
              minShareCount: 2,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': server, '/docs': server } },
})
