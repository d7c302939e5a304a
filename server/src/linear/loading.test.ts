import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { installedLinearApp } from '../../test/linear.ts'
import { rootDir } from '../paths.ts'

/** The files that the process loads at its start, without types and without what `import()` loads later. */
function loadedAtStart(file: URL, known = new Set<string>()): Set<string> {
  if (known.has(file.href) || !existsSync(file)) return known
  known.add(file.href)
  const imports = readFileSync(file, 'utf8').matchAll(
    /^(?:import|export) (?!type )(?:[\w*{},\s]+ from )?'(\.[^']+\.ts)'/gm,
  )
  for (const [, path = ''] of imports) loadedAtStart(new URL(path, file), known)
  return known
}

test('the GraphQL library is loaded with the first query', verifies('linear.loaded-on-first-use'), async ({ app }) => {
  const files = [...loadedAtStart(new URL('server/src/main.ts', rootDir))]
  expect(files.some((file) => file.endsWith('/linear/routes.ts'))).toBe(true)
  const importing = files.filter((file) => /from '(graphql|@a2a-js)\//.test(readFileSync(new URL(file), 'utf8')))
  expect(importing).toEqual([])

  const { owner } = await app.workspace()
  await installedLinearApp(app, owner)
  const loaded = Object.keys(createRequire(import.meta.url).cache)
  expect(loaded.some((file) => /node_modules\/graphql\//.test(file))).toBe(true)
  const { workspaces } = JSON.parse(readFileSync(new URL('package.json', rootDir), 'utf8'))
  expect(workspaces).not.toContain('foreign')
})
