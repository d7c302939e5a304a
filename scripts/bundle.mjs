// Bundles the server from its sources into the folder given, which becomes server/bundle. npm start runs it: finding and
// reading a thousand modules takes longer than everything else at the start.
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { bundleExternals } from './setup.mjs'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** V8 keeps a source with characters beyond Latin-1 in two bytes for each character. */
const asciiOnly = {
  name: 'ascii-only',
  generateBundle(_, files) {
    const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
    for (const file of Object.values(files)) {
      if (file.type === 'chunk') file.code = file.code.replace(/[^\0-\x7f]/g, escaped)
    }
  },
}

/** A start compiles a megabyte of sources in about 50 ms. */
const mostBytesAtStart = 4_200_000
const boundedStart = {
  name: 'bounded-start',
  generateBundle(_, files) {
    const atStart = new Set(['main.js'])
    for (const name of atStart) for (const imported of files[name]?.imports ?? []) atStart.add(imported)
    const bytes = [...atStart].reduce((sum, name) => sum + (files[name]?.code.length ?? 0), 0)
    if (bytes > mostBytesAtStart) {
      this.error(`A start loads ${bytes} bytes, more than ${mostBytesAtStart}: import what few use at its first use`)
    }
  },
}

await build({
  configFile: false,
  root: path('server'),
  logLevel: 'warn',
  plugins: [asciiOnly, boundedStart],
  resolve: { conditions: ['source'] },
  ssr: {
    noExternal: true,
    external: bundleExternals,
    resolve: { conditions: ['source'] },
  },
  build: {
    ssr: true,
    target: 'node20',
    outDir: process.argv[2],
    emptyOutDir: true,
    minify: false,
    sourcemap: true,
    license: { fileName: 'licenses.md' },
    rollupOptions: {
      input: {
        main: path('server/src/main.ts'),
        run: path('server/src/run.ts'),
        operate: path('server/src/operate/operate.ts'),
        health: path('server/src/health.ts'),
        'backup/child': path('server/src/backup/child.ts'),
        'db/embedded-thread': path('server/src/db/embedded-thread.ts'),
      },
      output: {
        chunkFileNames: '[name]-[hash].js',
        entryFileNames: '[name].js',
        // licenses.md has the texts of licenses.
        comments: false,
      },
    },
  },
})
