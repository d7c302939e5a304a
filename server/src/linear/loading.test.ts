import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { installedLinearApp, registerLinearApp } from '../../test/linear.ts'
import { rootDir } from '../paths.ts'

const isLoaded = () =>
  Object.keys(createRequire(import.meta.url).cache).some((file) => /node_modules\/graphql\//.test(file))

test('the GraphQL library is loaded with the first query', verifies('linear.loaded-on-first-use'), async ({ app }) => {
  const { owner } = await app.workspace()
  await owner.get('/issues')
  await registerLinearApp(owner)
  expect(isLoaded()).toBe(false)
  await installedLinearApp(app, owner)
  expect(isLoaded()).toBe(true)
  const { workspaces } = JSON.parse(readFileSync(new URL('package.json', rootDir), 'utf8'))
  expect(workspaces).not.toContain('foreign')
})
