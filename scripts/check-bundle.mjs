// Measures what a browser loads before it can show /issues: the entry, the shell and the issues screen with all static
// imports, JavaScript and CSS, compressed. Fails above the limit.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const limitBytes = 180_000
const entries = ['index.html', 'src/shell/shell.tsx', 'src/issues/issues-screen.tsx']

const dist = fileURLToPath(new URL('../web/dist/', import.meta.url))
const manifest = JSON.parse(readFileSync(join(dist, '.vite', 'manifest.json'), 'utf8'))

const seen = new Set()
const files = new Set()
function load(name) {
  if (seen.has(name)) return
  seen.add(name)
  const chunk = manifest[name]
  if (!chunk)
    throw new Error(
      `web/dist/.vite/manifest.json has no ${name}; build the web app, or update \`entries\` in this script`,
    )
  files.add(chunk.file)
  for (const file of chunk.css ?? []) files.add(file)
  for (const imported of chunk.imports ?? []) load(imported)
}
for (const name of entries) load(name)

const sizes = [...files]
  .map((file) => ({ file, bytes: gzipSync(readFileSync(join(dist, file)), { level: 9 }).length }))
  .sort((a, b) => b.bytes - a.bytes)
const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`
console.log(`The issues list loads ${kilobytes(total)} compressed; the limit is ${kilobytes(limitBytes)}`)
if (total > limitBytes) {
  for (const { file, bytes } of sizes) console.log(`  ${kilobytes(bytes).padStart(9)}  ${file}`)
  process.exitCode = 1
}
