// Compares the requirements with those that passed tests cite.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from './setup.mjs'

/** Each command of a CI run writes the requirements here that its passed tests cite, one file each. */
const shownDir = join(root, 'node_modules', '.cache', 'shown')

const entries = () => Object.entries(JSON.parse(readFileSync(join(root, 'conformance', 'requirements.json'), 'utf8')))

/** Those that `npm test` has to show. */
export const requirementsOf = () => idsOf(entries(), undefined)

/** An entry is a text, or `{ text, shown_by }` with the command of its own that shows the requirement. */
const idsOf = (all, command) => all.filter(([, entry]) => entry.shown_by === command).map(([id]) => id)

/** Those that `command` has to show and no passed test cites. */
export const missingOf = (command, cited, all = entries()) => idsOf(all, command).filter((id) => !cited.has(id))

/** Those that only a command of its own shows and no test names. */
export function unnamed(all = entries(), texts = testTexts()) {
  const ids = all.filter(([, entry]) => entry.shown_by).map(([id]) => id)
  return { ids, missing: ids.filter((id) => !texts.some((text) => text.includes(`'${id}'`))) }
}

const testTexts = () =>
  filesUnder(root)
    .filter((file) => /\.test\.(ts|mjs)$|^faults\/scenarios\/|^bench\/rows\//.test(relative(root, file)))
    .map((file) => readFileSync(file, 'utf8'))

const filesUnder = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist', 'bundle', '.git'].includes(entry.name)) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesUnder(path) : [path]
  })

/**
 * Every requirement must be cited by a passed test of one of the suites, or be left by tests that were skipped there,
 * because they need PostgreSQL or a browser. Each suite has `cited` and `left`.
 */
export function compare(all, suites) {
  const cited = new Set(suites.flatMap((suite) => suite.cited))
  const left = new Set(suites.flatMap((suite) => suite.left).filter((id) => !cited.has(id)))
  return {
    shown: all.filter((id) => cited.has(id)),
    left: all.filter((id) => left.has(id)),
    missing: all.filter((id) => !cited.has(id) && !left.has(id)),
  }
}

export function saveShown(command, ids) {
  mkdirSync(shownDir, { recursive: true })
  writeFileSync(join(shownDir, `${command.replaceAll(/[^a-z]+/g, '-')}.json`), JSON.stringify([...ids]))
}

export const forgetShown = () => rmSync(shownDir, { recursive: true, force: true })

/** Requirements of tests and of these commands that nothing since `forgetShown` has shown. */
export function neverShown(commands, all = entries()) {
  const files = existsSync(shownDir) ? readdirSync(shownDir) : []
  const shown = new Set(files.flatMap((file) => JSON.parse(readFileSync(join(shownDir, file), 'utf8'))))
  const due = ([, { shown_by: command }]) => command === undefined || commands.includes(command)
  return all.filter((entry) => due(entry) && !shown.has(entry[0])).map(([id]) => id)
}
