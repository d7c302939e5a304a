// Compares the requirements with those that passed tests cite.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from './setup.mjs'

/** Requirements that the last `npm test` left to PostgreSQL. */
const leftFile = join(root, 'node_modules', '.cache', 'left-to-postgres.json')

const entries = () => Object.entries(JSON.parse(readFileSync(join(root, 'conformance', 'requirements.json'), 'utf8')))

/** Those that `npm test` has to show. */
export const allRequirements = () => idsOf(entries(), undefined)

/** An entry is a text, or `{ text, shown_by }` with the command of its own that shows the requirement. */
const idsOf = (all, command) => all.filter(([, entry]) => entry.shown_by === command).map(([id]) => id)

/** Those that `command` has to show and no passed test cites. */
export const missingOf = (command, cited, all = entries()) => idsOf(all, command).filter((id) => !cited.has(id))

/** Those that only a command of its own shows and no test names. */
export function unnamed(all = entries(), texts = testTexts()) {
  const ids = all.filter(([, entry]) => entry.shown_by).map(([id]) => id)
  return { count: ids.length, missing: ids.filter((id) => !texts.some((text) => text.includes(`'${id}'`))) }
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
 * Every requirement must be cited by a passed test, or be left to PostgreSQL or a browser by tests that were skipped
 * here, or to the long tests that CI did not run. Each suite has `cited` and `left`.
 */
export function compare(all, embedded, browser) {
  const shown = new Set([...embedded.cited, ...browser.cited])
  const left = (suite) => suite.left.filter((id) => !shown.has(id))
  const toPostgres = left(embedded)
  const toBrowser = left(browser)
  const other = all.filter((id) => ![...shown, ...toPostgres, ...toBrowser].includes(id))
  const toNextCommit = other.filter((id) => embedded.notRun?.includes(id))
  const missing = other.filter((id) => !toNextCommit.includes(id))
  return { missing, toPostgres, toBrowser, toNextCommit }
}

/** Those left to PostgreSQL that no test passed there cites. */
export const unverified = (all, left, { cited }) => left.filter((id) => all.includes(id) && !cited.includes(id))

export function saveLeft(ids) {
  mkdirSync(dirname(leftFile), { recursive: true })
  writeFileSync(leftFile, JSON.stringify(ids))
}

export const forgetLeft = () => rmSync(leftFile, { force: true })

/** Null if `npm test` has not run to its end. */
export const readLeft = () => (existsSync(leftFile) ? JSON.parse(readFileSync(leftFile, 'utf8')) : null)
