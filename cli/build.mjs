// Builds the package: it contains what it needs of the protocol and of the examples, and depends on the SDK only.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
execFileSync(process.execPath, [here('../node_modules/typescript/bin/tsc'), '-b', '.'], {
  cwd: here('.'),
  stdio: 'inherit',
})
copyFileSync(here('../protocol/dist/scope-words.js'), here('dist/scope-words.js'))
mkdirSync(here('templates/examples'), { recursive: true })
for (const example of ['echo', 'triage']) {
  copyFileSync(here(`../examples/${example}/agent.js`), here(`templates/examples/${example}.js`))
}

for (const file of readdirSync(here('dist'), { recursive: true }).filter((name) => name.endsWith('.js'))) {
  const text = readFileSync(here(`dist/${file}`), 'utf8')
  const foreign = text.match(/(?:from|import\()\s*["'](?!\.|node:|@baton\/sdk)[^"']+/)
  if (foreign) throw new Error(`dist/${file} imports a package that the CLI does not depend on: ${foreign[0]}`)
}
