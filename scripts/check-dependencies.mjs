// npm run check:dependencies: checks every lockfile without network. When run as a command it also asks npm for known
// vulnerabilities, if the registry offers that.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './setup.mjs'

const oldestNode = [20, 19, 0]
const licenses = new Set([
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT', 'MIT-0'],
  ...['MPL-2.0', 'OFL-1.1', 'Python-2.0', 'Unlicense'],
])

/**
 * What is allowed of packages that only tests use, by the folder of their lockfile. They are installed with
 * --ignore-scripts. The lockfile has no license of packages that state none, or state it in an old form.
 */
const allowed = {
  'bench/peers': { 'install script': ['msgpackr-extract'] },
  'cli/test/agents/opencode': { license: ['opencode-linux-arm64', 'opencode-linux-x64'] },
  'cli/test/tsx': { 'install script': ['esbuild'] },
  foreign: {
    license: ['@ewoudenberg/difflib', 'busboy', 'dicer', 'dreamopt', 'humanize-number', 'only', 'streamsearch'],
  },
  'scripts/postgres-versions': {
    'install script': ['16', '17', '18'].flatMap((version) => [`postgres-${version}-arm64`, `postgres-${version}-x64`]),
  },
  'scripts/nodes': { license: ['node-20.19-arm64', 'node-20.19-x64'] },
}

export const dependencyProblems = () =>
  lockfiles(root).flatMap((file) => {
    const folder = relative(root, join(file, '..')).split(sep).join('/')
    return problemsOfLock(folder, JSON.parse(readFileSync(file, 'utf8')))
  })

function lockfiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return ['node_modules', 'dist', '.git'].includes(entry.name) ? [] : lockfiles(path)
    return entry.name === 'package-lock.json' ? [path] : []
  })
}

/** A line for each entry that is not as it has to be. Links to folders of the repository are not packages. */
export function problemsOfLock(folder, { packages }) {
  const entries = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
  return entries.flatMap(([path, entry]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const problems = {
      integrity: entry.integrity ? undefined : 'has no integrity',
      'install script': entry.hasInstallScript ? 'has an install script' : undefined,
      license: hasLicense(entry.license)
        ? undefined
        : `has the license ${entry.license ?? '(none)'}, which is not listed`,
      engines: allowsOldestNode(entry.engines) ? undefined : `does not run on Node 20.19 (${entry.engines.node})`,
    }
    return Object.entries(problems)
      .filter(([kind, problem]) => problem && !allowed[folder]?.[kind]?.includes(name))
      .map(([, problem]) => `${folder ? `${folder}/` : ''}package-lock.json: ${name} ${entry.version} ${problem}`)
  })
}

/** One listed license is enough where an expression offers several. */
function hasLicense(expression) {
  if (typeof expression !== 'string') return false
  const all = (text) => text.split(' AND ').every((id) => licenses.has(id.trim()))
  return expression
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some(all)
}

/** Of the forms of ranges, those that packages use for Node; another form counts as excluded, so that it is noticed. */
function allowsOldestNode(engines) {
  const range = (Array.isArray(engines) ? undefined : engines?.node) ?? '*'
  return range.split('||').some((part) =>
    part
      .trim()
      .replaceAll(/([<>=^~]+)\s+/g, '$1')
      .split(/\s+/)
      .every(allowsIt),
  )
}

function allowsIt(comparator) {
  const [, sign, text] = /^(>=|<=|>|<|\^|~|=|)v?(\*|[\dx*.]+)$/.exec(comparator) ?? []
  if (text === undefined) return false
  const parts = text.split('.').filter((part) => /^\d+$/.test(part))
  const order = compare(oldestNode, [...parts.map(Number), 0, 0, 0])
  const samePlaces = (count) => parts.slice(0, count).every((part, index) => Number(part) === oldestNode[index])
  if (parts.length === 0) return true
  if (sign === '>=') return order >= 0
  if (sign === '>') return order > 0
  if (sign === '<=') return order <= 0
  if (sign === '<') return order < 0
  if (sign === '^') return order >= 0 && samePlaces(1)
  if (sign === '~') return order >= 0 && samePlaces(2)
  return samePlaces(3)
}

function compare(a, b) {
  const place = a.findIndex((part, index) => part !== b[index])
  return place < 0 ? 0 : a[place] - b[place]
}

/** Known vulnerabilities of what Baton itself uses, or null if the registry does not say. */
function audit() {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--package-lock-only', '--json'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  })
  try {
    return JSON.parse(stdout).metadata.vulnerabilities
  } catch {
    return null
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const problems = dependencyProblems()
  for (const problem of problems) console.error(problem)
  const found = audit()
  console.log(
    found
      ? `Known vulnerabilities: ${found.total}`
      : 'Known vulnerabilities: not checked, the registry does not answer',
  )
  if (problems.length > 0 || found?.high > 0 || found?.critical > 0) process.exitCode = 1
}
