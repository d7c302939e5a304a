// Bundles the server from its sources into server/bundle, which npm start runs: finding and reading a thousand modules
// takes longer than everything else at the start.
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { bundleExternals } from './setup.mjs'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

await build({
  configFile: false,
  root: path('server'),
  logLevel: 'warn',
  resolve: { conditions: ['source'] },
  ssr: {
    noExternal: true,
    external: bundleExternals,
    resolve: { conditions: ['source'] },
  },
  build: {
    ssr: true,
    target: 'node20',
    outDir: path('server/bundle'),
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
