// Builds of folders that are replaced as a whole. Uses only Node's own modules, because nothing may be installed yet.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { withBuildLock } from './build-lock.mjs'

/**
 * Builds `folder` if its sources changed since the build that wrote it, or `isComplete` says that other results are missing.
 * `buildInto` writes beside it, at the same depth because source maps have relative paths, so that `folder` is always a
 * complete build. Writes nothing if the build is current: the checkout may be read-only.
 */
export async function ifChanged({ root, sources, folder, isComplete = () => true }, buildInto) {
  const target = join(root, folder)
  const isCurrent = (digest) => readIfExists(join(target, '.sources')) === digest && isComplete()
  if (isCurrent(digestOf(root, sources))) return
  await withBuildLock(root, async (lock) => {
    // Before the build: what changes meanwhile is built the next time.
    const digest = digestOf(root, sources)
    if (isCurrent(digest)) return
    const beside = `${target}.new`
    rmSync(beside, { recursive: true, force: true })
    try {
      await buildInto(beside, lock)
      lock.signal.throwIfAborted()
      writeFileSync(join(beside, '.sources'), digest)
      replaceFolder(target, beside)
    } finally {
      rmSync(beside, { recursive: true, force: true })
    }
  })
}

function replaceFolder(target, by) {
  const aside = `${target}.old`
  rmSync(aside, { recursive: true, force: true })
  if (existsSync(target)) renameSync(target, aside)
  renameSync(by, target)
  rmSync(aside, { recursive: true, force: true })
}

/** With relative paths: a checkout can be moved or mounted elsewhere. */
function digestOf(root, names) {
  const hash = createHash('sha256')
  const files = names.flatMap((name) => filesIn(join(root, name)))
  for (const [name, file] of files.map((file) => [relative(root, file).replaceAll(sep, '/'), file]).sort(byName)) {
    hash.update(`${name}\0`).update(readFileSync(file))
  }
  return hash.digest('hex')
}

const byName = ([a], [b]) => (a < b ? -1 : 1)

const filesIn = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .filter((file) => !builtFiles.test(relative(path, file)))
    : [path]

/** What builds write into the folders of sources. */
const builtFiles = /^(dist|node_modules)[\\/]/

const readIfExists = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)
