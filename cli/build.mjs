// Makes the package stand alone: what `init` begins from is copied from the examples.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
execFileSync(process.execPath, [here('../node_modules/typescript/bin/tsc'), '-b', '.'], {
  cwd: here('.'),
  stdio: 'inherit',
})
mkdirSync(here('templates/examples'), { recursive: true })
for (const example of ['echo', 'triage']) {
  copyFileSync(here(`../examples/${example}/agent.js`), here(`templates/examples/${example}.js`))
}
