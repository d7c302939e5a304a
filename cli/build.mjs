// Writes the package to the first directory given: it contains what it needs of the protocol, of the examples and of the
// SDK, whose package is in the second directory (sdk/build.mjs), and the library of the Agent Client Protocol. It depends on
// nothing.
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const [target, sdk] = process.argv.slice(2)
const to = (path) => join(target, path)
const isPacked = (path) => !/\.(map|d\.ts|tsbuildinfo)$/.test(path)

execFileSync(process.execPath, [here('../node_modules/typescript/bin/tsc'), '-b', '.'], {
  cwd: here('.'),
  stdio: 'inherit',
})
rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
for (const part of ['bin', 'dist', 'templates', 'README.md']) {
  cpSync(here(part), to(part), { recursive: true, filter: isPacked })
}
cpSync(join(sdk, 'dist'), to('dist/sdk'), { recursive: true, filter: isPacked })
copyFileSync(here('../protocol/dist/scope-words.js'), to('dist/scope-words.js'))
copyFileSync(here('../scripts/end-with-npm.mjs'), to('dist/end-with-npm.js'))
copyFileSync(here('../LICENSE'), to('LICENSE'))
mkdirSync(to('templates/examples'), { recursive: true })
for (const example of ['echo', 'triage']) {
  copyFileSync(here(`../examples/${example}/agent.js`), to(`templates/examples/${example}.js`))
}
await bundle('run/acp-sdk')
mkdirSync(to('licenses'))
for (const [name, file] of Object.entries({ 'agent-client-protocol': '@agentclientprotocol/sdk', zod: 'zod' })) {
  copyFileSync(here(`../node_modules/${file}/LICENSE`), to(`licenses/${name}`))
}
for (const name of readdirSync(to('dist'), { recursive: true }).filter((file) => file.endsWith('.js'))) {
  makeSelfContained(to(`dist/${name}`))
}
const {
  devDependencies: _dev,
  dependencies: _own,
  ...manifest
} = JSON.parse(readFileSync(here('package.json'), 'utf8'))
writeFileSync(to('package.json'), `${JSON.stringify(manifest, null, 2)}\n`)

/** Makes a file import the copy of the SDK, and fails if it imports another package. */
function makeSelfContained(file) {
  const from = relative(dirname(file), to('dist/sdk')).replaceAll('\\', '/')
  const path = from.startsWith('.') ? from : `./${from}`
  const text = readFileSync(file, 'utf8').replace(
    /(from |import\()(["'])@baton\/sdk(?:\/([\w-]+))?\2/g,
    (_, start, quote, part = 'index') => `${start}${quote}${path}/${part}.js${quote}`,
  )
  const foreign = text.match(/(?:\bfrom\s+|^\s*import\s+|\bimport\(\s*)["'](?!\.|node:)[^"']+/m)
  if (foreign) throw new Error(`${file} imports a package that the CLI does not contain: ${foreign[0]}`)
  writeFileSync(file, text)
}

/** Replaces a file of `dist` by one that contains the packages which it imports. */
async function bundle(name) {
  await build({
    configFile: false,
    root: here('.'),
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      target: 'node20',
      outDir: join(to('dist'), dirname(name)),
      emptyOutDir: false,
      copyPublicDir: false,
      minify: true,
      rollupOptions: { input: { [basename(name)]: here(`dist/${name}.js`) }, output: { entryFileNames: '[name].js' } },
    },
  })
}
