// Compares the requirements with those that passed tests cite.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './setup.mjs'

/** Requirements that the last `npm test` left to PostgreSQL. */
const leftFile = join(root, 'node_modules', '.cache', 'left-to-postgres.json')

export const allRequirements = () =>
  Object.keys(JSON.parse(readFileSync(join(root, 'conformance', 'requirements.json'), 'utf8')))

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
