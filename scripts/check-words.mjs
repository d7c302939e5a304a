// Checks that no source outside tests uses the vague words below, and that no text for readers has them run a package of
// others.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './setup.mjs'
import { runIfMain, sourceFiles } from './sources.mjs'

const folders = ['protocol/src', 'server/src', 'sdk/src', 'cli/src', 'web/src']
const forbidden = /\b(?:somebody|nobody|whoever|by and by)\b/gi

/** The phrase with which a file says that its `npx baton` is for a project, where that is the command of Baton. */
const inProject = {
  'cli/README.md': 'In a project created by `init`',
  'cli/src/commands/init.ts': 'create a small agent project that runs',
  'cli/src/origin.ts': '`npx baton` would fetch a package of others',
  'docs/guides/building-agents.md': 'In the new project the command is `npx baton`',
  'docs/guides/cli.md': 'Inside a project that `init` created',
  'examples/echo/README.md': '`npx baton dev` in that project',
  'examples/set-up.mjs': 'in a project created by `baton init`',
  'examples/triage/README.md': '`npx baton dev` in the new directory',
}

export const wordProblems = () => [
  ...folders.flatMap((folder) =>
    sourceFiles(join(root, folder)).flatMap(({ path, text }) => [
      ...problemsOfText(`${folder}/${path}`, text),
      ...packageProblems(`${folder}/${path}`, text),
    ]),
  ),
  ...readTexts().flatMap(({ path, text }) => packageProblems(path, text)),
]

/** Texts for readers that are no sources. */
function readTexts() {
  const within = (folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/node_modules|\bdist\b/.test(entry.parentPath))
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length))
      .filter((path) => !/\.(png|svg|woff2|test\.\w+)$/.test(path))
  const folders = ['docs/guides', 'cli/templates', 'examples', 'deploy', 'server/bin', 'cli/bin']
  const readmes = ['README.md', 'cli/README.md', 'sdk/README.md', 'foreign/README.md', 'web/index.html']
  return [...readmes, ...folders.flatMap(within)].map((path) => ({
    path,
    text: readFileSync(join(root, path), 'utf8'),
  }))
}

/**
 * The name `baton` on npm's registry is a package of others, and `@baton` can become one: only a project that depends on
 * `@baton/cli` has the command by that name. Elsewhere texts give the address of the instance.
 */
export function packageProblems(path, text) {
  const isForProjects = path.startsWith('cli/templates/') || text.includes(inProject[path] ?? '\0')
  return text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(/\bnpx (?:--yes |-y )?(?:(@baton\/)|baton\b)/g)]
        .filter(([, scoped]) => scoped || !isForProjects)
        .map(([command]) => `${path}:${index + 1} has "${command}"; write npx {root_url}/packages/cli.tgz`),
    )
}

export const problemsOfText = (path, text) =>
  text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(forbidden)].map(
        ([word]) => `${path}:${index + 1} has "${word}"; name the user, member or caller`,
      ),
    )

runIfMain(import.meta.url, wordProblems)
