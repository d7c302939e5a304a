// Bundles the server from its sources into server/bundle, which npm start runs: finding and reading a thousand modules
// takes longer than everything else at the start.
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))

await build({
  configFile: false,
  root: path('server'),
  logLevel: 'warn',
  resolve: { conditions: ['source'] },
  ssr: {
    noExternal: true,
    // They load files of their packages: WebAssembly, native code.
    external: ['@electric-sql/pglite', '@node-rs/argon2'],
    resolve: { conditions: ['source'] },
  },
  build: {
    ssr: true,
    target: 'node20',
    outDir: path('server/bundle'),
    emptyOutDir: true,
    minify: false,
    sourcemap: true,
    rollupOptions: {
      input: {
        main: path('server/src/main.ts'),
        run: path('server/src/run.ts'),
        operate: path('server/src/operate.ts'),
        'db/embedded-thread': path('server/src/db/embedded-thread.ts'),
      },
      output: {
        chunkFileNames: '[name]-[hash].js',
        entryFileNames: '[name].js',
      },
    },
  },
})
