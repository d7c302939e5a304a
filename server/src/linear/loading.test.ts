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

test(
  'the libraries for GraphQL and A2A are loaded at first use',
  verifies('linear.loaded-on-first-use'),
  async ({ app }) => {
    const files = [...loadedAtStart(new URL('server/src/main.ts', rootDir))]
    for (const name of ['/linear/routes.ts', '/a2a/runner.ts'])
      expect(files.some((file) => file.endsWith(name))).toBe(true)
    const isImport = /^(?:import|export) (?!type )[^'()]*'(?:graphql|@a2a-js\/sdk)['/]/m
    const importing = files.filter((file) => isImport.test(readFileSync(new URL(file), 'utf8')))
    expect(importing).toEqual([])

    const { owner } = await app.workspace()
    await installedLinearApp(app, owner)
    const loaded = Object.keys(createRequire(import.meta.url).cache)
    expect(loaded.some((file) => /node_modules\/graphql\//.test(file))).toBe(true)
    const { workspaces } = JSON.parse(readFileSync(new URL('package.json', rootDir), 'utf8'))
    expect(workspaces).not.toContain('foreign')
  },
)
