import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { verifies } from '../conformance/requirements.ts'
import { dependencyProblems, problemsOfLock } from './check-dependencies.mjs'
import { freePort, root } from './setup.mjs'

const run = promisify(execFile)
/** Nothing listens there, so that a request to the registry fails. */
const withoutRegistry = async () => ({ ...process.env, npm_config_registry: `http://127.0.0.1:${await freePort()}/` })

describe('the check of dependencies', () => {
  const checked = verifies('safety.dependency-check')

  const fine = { version: '1.0.0', integrity: 'sha512-x', license: 'MIT', engines: { node: '>=18' } }
  const problems = (change, folder = '') =>
    problemsOfLock(folder, { packages: { '': {}, server: {}, 'node_modules/a': { ...fine, ...change } } })

  test('accepts every lockfile of the repository', checked, () => {
    expect(dependencyProblems()).toEqual([])
  })

  test.for([
    [{ integrity: undefined }, 'has no integrity'],
    [{ hasInstallScript: true }, 'has an install script'],
    [{ license: 'GPL-3.0-only' }, 'has the license GPL-3.0-only, which is not listed'],
    [{ license: 'MIT AND GPL-3.0-only' }, 'has the license MIT AND GPL-3.0-only, which is not listed'],
    [{ license: undefined }, 'has the license (none), which is not listed'],
    [{ engines: { node: '>=20.19.1' } }, 'does not run on Node 20.19 (>=20.19.1)'],
    [{ engines: { node: '>= 22' } }, 'does not run on Node 20.19 (>= 22)'],
    [{ engines: { node: '^22.0.0 || ^18.0.0' } }, 'does not run on Node 20.19 (^22.0.0 || ^18.0.0)'],
    [{ engines: { node: '>=18 <20' } }, 'does not run on Node 20.19 (>=18 <20)'],
    [{ engines: { node: 'latest' } }, 'does not run on Node 20.19 (latest)'],
  ])('reports %o', checked, ([change, problem]) => {
    expect(problems(change)).toEqual([`package-lock.json: a 1.0.0 ${problem}`])
  })

  test.for([
    {},
    { license: '(GPL-3.0-only OR MIT)' },
    { engines: undefined },
    ...['>=20.19', '>=20.19.0', '>= 20', '^20.19.0 || >=22.12.0', '20.x', '*', '>=18 <21'].map((node) => ({
      engines: { node },
    })),
  ])('accepts %o', checked, (change) => {
    expect(problems(change)).toEqual([])
  })

  test('allows an install script only of named packages in named folders', checked, () => {
    const lock = (name) => ({ packages: { [`node_modules/${name}`]: { ...fine, hasInstallScript: true } } })
    expect(problemsOfLock('cli/test/tsx', lock('esbuild'))).toEqual([])
    expect(problemsOfLock('', lock('esbuild'))).toHaveLength(1)
    expect(problemsOfLock('cli/test/tsx', lock('other'))).toHaveLength(1)
  })

  test('needs no network, and says that vulnerabilities were not checked', checked, async () => {
    const env = await withoutRegistry()
    const { stdout } = await run(process.execPath, ['scripts/check-dependencies.mjs'], { cwd: root, env })
    expect(stdout).toContain('not checked')
  })
})

test('npm run sbom lists every production package with version and license', verifies('safety.sbom'), async () => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-sbom-'))
  try {
    const env = await withoutRegistry()
    const write = async (name) => {
      const file = join(dir, name)
      await run('npm', ['run', '--silent', 'sbom', '--', file], { cwd: root, env })
      return readFileSync(file, 'utf8')
    }
    const text = await write('one.json')
    const document = JSON.parse(text)
    expect(document).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' })
    const listed = new Map(document.components.map((one) => [`${one.name}@${one.version}`, one]))
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
    const production = Object.entries(packages).filter(
      ([path, { dev, devOptional, link }]) => path.includes('node_modules/') && !dev && !devOptional && !link,
    )
    expect(production.length).toBeGreaterThan(100)
    for (const [path, { version, license, name = path.split('node_modules/').at(-1) }] of production) {
      const component = listed.get(`${name}@${version}`)
      expect([name, component?.licenses]).toEqual([name, [{ license: { id: license } }]])
    }
    expect(listed.has('vitest@4.1.12')).toBe(false)
    expect([...listed.values()].filter(({ licenses }) => !licenses?.length)).toEqual([])
    expect(await write('two.json')).toBe(text)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
