// The packages of protocol, SDK, CLI and server, which install without this repository.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withBuildLock } from './build-lock.mjs'
import { importBuiltFiles } from './built-files.mjs'
import { build, buildPackages, buildWeb, builtPackages, bundleExternals, bundleServer, root, step } from './setup.mjs'

const names = ['protocol', 'sdk', 'cli', 'server']
const from = (...path) => join(root, ...path)
const readJson = (...path) => JSON.parse(readFileSync(from(...path), 'utf8'))
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)

/** Writes the four packages to a directory and returns their files, by the name of their folder. */
export async function packPackages(to) {
  await build('Building the packages', 'protocol', 'sdk', 'cli')
  await bundleServer()
  await buildWeb()
  await buildPackages()
  await withBuildLock(root, async (lock) => {
    const staged = from('node_modules', '.cache', 'packages')
    stageProtocol(join(staged, 'protocol'))
    stageServer(join(staged, 'server'))
    mkdirSync(to, { recursive: true })
    const folders = names.map((name) => join(['sdk', 'cli'].includes(name) ? builtPackages : staged, name))
    const args = ['pack', ...folders, '--ignore-scripts', '--silent', '--pack-destination', to]
    await step('Packing', 'npm', args, { lock })
  })
  const fileOf = (name) => readdirSync(to).find((file) => new RegExp(`^baton-${name}-\\d.*\\.tgz$`).test(file))
  return Object.fromEntries(names.map((name) => [name, join(to, fileOf(name))]))
}

const isPacked = (path) => !/\.(map|tsbuildinfo|test\.yml)$|\.sources$/.test(path)
const copy = (source, to, filter = isPacked) => cpSync(source, to, { recursive: true, filter })

function stageProtocol(to) {
  rmSync(to, { recursive: true, force: true })
  copy(from('protocol', 'dist'), join(to, 'dist'))
  importBuiltFiles(join(to, 'dist'))
  copy(from('LICENSE'), join(to, 'LICENSE'))
  const { exports, ...manifest } = readJson('protocol', 'package.json')
  const published = Object.entries(exports).map(([path, { source: _, ...built }]) => [path, built])
  writeJson(join(to, 'package.json'), { ...manifest, exports: Object.fromEntries(published) })
}

/** The bundle instead of the build: its dependencies are in it, except those that load files of their own. */
function stageServer(to) {
  rmSync(to, { recursive: true, force: true })
  copy(from('server', 'bundle'), join(to, 'dist'))
  for (const file of ['sdk.tgz', 'cli.tgz']) copy(join(builtPackages, file), join(to, 'dist', 'packages', file))
  // Browsers accept Brotli wherever they accept Baton: on https, and on loopback.
  copy(from('web', 'dist'), join(to, 'web', 'dist'), (path) => isPacked(path) && !path.endsWith('.gz'))
  for (const part of ['guides', 'pictures', 'style.css', 'docs.js']) copy(from('docs', part), join(to, 'docs', part))
  // Served as a page of the documentation.
  copy(from('sdk', 'README.md'), join(to, 'sdk', 'README.md'))
  for (const part of ['LICENSE', 'README.md']) copy(from(part), join(to, part))
  // Not its tests.
  copy(from('deploy'), join(to, 'deploy'), (path) => isPacked(path) && path !== from('deploy', 'check'))
  for (const part of ['bin', 'migrations', 'otel.mjs']) {
    if (existsSync(from('server', part))) copy(from('server', part), join(to, part))
  }
  copy(from('scripts', 'end-with-npm.mjs'), join(to, 'bin', 'end-with-npm.mjs'))
  chmodSync(join(to, 'bin', 'baton-server.mjs'), 0o755)
  const { dependencies, devDependencies: _, ...manifest } = readJson('server', 'package.json')
  const kept = Object.fromEntries(bundleExternals.map((name) => [name, dependencies[name]]))
  writeJson(join(to, 'package.json'), { ...manifest, dependencies: kept })
  writeJson(join(to, 'npm-shrinkwrap.json'), lockOf({ ...manifest, dependencies: kept }))
}

/** The entries of the lockfile that the package needs, so that npm installs and verifies the same files everywhere. */
function lockOf({ name, version, license, engines, bin, dependencies }) {
  const { packages } = readJson('package-lock.json')
  const needed = new Map()
  const add = (names) => {
    for (const path of names.map((dependency) => `node_modules/${dependency}`)) {
      const entry = packages[path]
      if (!entry || needed.has(path)) continue
      needed.set(path, entry)
      add(Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
    }
  }
  add(Object.keys(dependencies))
  const sorted = [...needed].sort(([a], [b]) => (a < b ? -1 : 1))
  const own = { name, version, license, bin, dependencies, engines }
  const [lockfileVersion, requires] = [3, true]
  return { name, version, lockfileVersion, requires, packages: { '': own, ...Object.fromEntries(sorted) } }
}
