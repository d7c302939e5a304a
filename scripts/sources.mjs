// Helpers for the checks of the source tree.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The TypeScript files under `folder`, without tests: their paths with forward slashes, and their texts. */
export const sourceFiles = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((file) => ({ path: relative(folder, file).split(sep).join('/'), text: readFileSync(file, 'utf8') }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))

/** The first part of a path under a source folder: a folder, or a file without its ending. */
export const roomOf = (path) => path.split('/')[0].replace(/\.tsx?$/, '')

/** Runs a check when its file is the program that was started; scripts/test.mjs imports the check instead. */
export function runIfMain(moduleUrl, findProblems) {
  if (moduleUrl !== pathToFileURL(process.argv[1] ?? '').href) return
  const problems = findProblems()
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}
