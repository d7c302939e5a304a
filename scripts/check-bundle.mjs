// Measures what a browser loads before it can show /issues: the page's entry, the shell and the issues screen with
// everything that they import statically, JavaScript and CSS, compressed; and the charts, and what /insights adds. Fails
// above the limits.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const limitBytes = 170_000
const chartBytes = 8000
const insightsBytes = 25_000
const screens = ['src/shell/shell.tsx', 'src/issues/issues-screen.tsx']

const web = fileURLToPath(new URL('../web/', import.meta.url))
const dist = join(web, 'dist')
const manifest = JSON.parse(readFileSync(join(dist, '.vite', 'manifest.json'), 'utf8'))

/** vite.config.ts puts both screens into the chunk `list`; a screen with a separate chunk is named by its path. */
function chunkOf(screen) {
  if (!existsSync(join(web, screen))) throw new Error(`web/${screen} does not exist; update scripts/check-bundle.mjs`)
  if (manifest[screen]) return screen
  const list = Object.keys(manifest).find((name) => manifest[name].name === 'list')
  if (!list) throw new Error(`web/dist/.vite/manifest.json has no chunk for ${screen}; build the web app first`)
  return list
}

/** The files that a browser loads for these chunks: JavaScript and CSS. */
function filesOf(names) {
  const seen = new Set()
  const files = new Set()
  const load = (name) => {
    if (seen.has(name)) return
    seen.add(name)
    const chunk = manifest[name]
    if (!chunk) throw new Error(`web/dist/.vite/manifest.json has no ${name}; build the web app first`)
    files.add(chunk.file)
    for (const file of chunk.css ?? []) files.add(file)
    for (const imported of chunk.imports ?? []) load(imported)
  }
  for (const name of names) load(name)
  return [...files]
}

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`

function check(what, files, limitBytes) {
  const sizes = files
    .map((file) => ({ file, bytes: gzipSync(readFileSync(join(dist, file)), { level: 9 }).length }))
    .sort((a, b) => b.bytes - a.bytes)
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  console.log(`${what} ${kilobytes(total)} compressed, of at most ${kilobytes(limitBytes)}`)
  if (total <= limitBytes) return
  for (const { file, bytes } of sizes) console.log(`  ${kilobytes(bytes).padStart(9)}  ${file}`)
  process.exitCode = 1
}

const list = filesOf(['index.html', ...screens.map(chunkOf)])
check('The list of issues loads', list, limitBytes)

// insight.weight
const charts = Object.keys(manifest).find((name) => manifest[name].name === 'chart')
if (!charts) throw new Error('web/dist/.vite/manifest.json has no chunk for web/src/ui/chart; build the web app first')
check('The charts weigh', [manifest[charts].file, ...(manifest[charts].css ?? [])], chartBytes)
const insights = filesOf(['src/insights/insights-screen.tsx']).filter((file) => !list.includes(file))
check('Insights load beyond the shell', insights, insightsBytes)
