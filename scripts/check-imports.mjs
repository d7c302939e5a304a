// Checks the imports of each source tree: the order of its rooms, and that no files import each other in a circle.
// A room is a folder or a file directly under the tree's source folder.
import { join, posix } from 'node:path'
import { root } from './setup.mjs'
import { roomOf, runIfMain, sourceFiles } from './sources.mjs'

/**
 * folder          source folder, from the root of the repository
 * order           rooms, lowest first: a room imports only rooms of earlier lines. Each room must be listed.
 *                 Without `order` only circles are checked.
 * importers       by room: the rooms that may import its files. The files of such a room do not import each other.
 * environmentIn   rooms that may read process.env; without it, all may
 */
const trees = [
  {
    folder: 'server/src',
    order: [
      ['sso-config', 'setting-files', 'database-url'],
      ['clock', 'wakeable-sleep', 'single-flight', 'ids', 'crypto', 'log', 'trace', 'counters', 'paths', 'config'],
      ['outbound'],
      ['storage'],
      ['db'],
      ['backup'],
      ['relay'],
      ['hooks'],
      ['context', 'addresses'],
      ['unit-of-work'],
      ['http'],
      ['mail'],
      ['login'],
      ['passkeys'],
      ['live'],
      ['audit'],
      ['views'],
      ['workspaces'],
      ['sso', 'personal-tokens'],
      ['inbox'],
      ['delivery'],
      ['linear-shape'],
      ['events'],
      ['webhooks'],
      ['installations'],
      ['files'],
      ['agent-sessions'],
      ['planning'],
      ['templates'],
      ['issues'],
      ['projects'],
      ['comments'],
      ['suggestions'],
      ['reviews'],
      ['automations'],
      ['insights'],
      ['git'],
      ['imports'],
      ['exports'],
      ['related'],
      ['icons'],
      ['agent-apps'],
      ['delete-team', 'deletion'],
      ['a2a'],
      ['tools'],
      ['agents'],
      ['oauth'],
      ['linear'],
      ['mcp'],
      ['demo'],
      ['web'],
      ['mails'],
      ['service', 'figures', 'packages', 'docs', 'key-check', 'storage-check', 'housekeeping'],
      ['operate'],
      ['app'],
      ['start', 'warnings'],
      ['run'],
      ['main', 'health'],
    ],
    environmentIn: ['config', 'run'],
  },
  { folder: 'protocol/src' },
  { folder: 'sdk/src' },
  { folder: 'cli/src', importers: { commands: ['main'] } },
  {
    folder: 'web/src',
    order: [
      ['ui'],
      ['data'],
      ['planning', 'login'],
      ['workspaces'],
      ['files'],
      ['pull-requests'],
      ['delegation'],
      ['agent-sessions'],
      ['comments'],
      ['deliveries'],
      ['agent-apps'],
      ['sso', 'personal-tokens'],
      ['inbox'],
      ['webhooks'],
      ['oauth'],
      ['agents'],
      ['issues'],
      ['projects'],
      ['suggestions', 'reviews'],
      ['audit', 'automations', 'git', 'imports', 'insights', 'settings'],
      ['tour'],
      ['shell'],
      ['routes'],
      ['main', 'operate'],
    ],
  },
  {
    folder: 'web/src/issues',
    order: [
      ['fields'],
      ['templates'],
      ['views'],
      ['edit'],
      ['create'],
      ['issue'],
      ['list'],
      ['board'],
      ['preview', 'filters', 'display', 'row-actions', 'export-csv'],
      ['selection-bar', 'row-commands', 'toolbar'],
      ['issues-screen'],
    ],
  },
]

export const importProblems = () => trees.flatMap((tree) => problemsOfTree(root, tree))

export function problemsOfTree(base, tree) {
  const files = sourceFiles(join(base, tree.folder)).map(({ path, text }) => ({
    path,
    text,
    imports: importsOf(path, text),
  }))
  return [
    ...files.flatMap((file) => problemsOfFile(file, tree).map((problem) => `${tree.folder}/${file.path} ${problem}`)),
    ...circles(files).map((circle) => `${tree.folder} has a circle of imports: ${circle.join(' → ')}`),
  ]
}

/** Paths of the files that a file imports, types included; packages are left out. */
const importsOf = (path, text) =>
  [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, target]) =>
    posix.join(posix.dirname(path), target),
  )

function problemsOfFile({ path, text, imports }, { order, importers = {}, environmentIn }) {
  const from = roomOf(path)
  const rank = (room) => order.findIndex((rooms) => rooms.includes(room))
  const problems = []
  if (order && rank(from) < 0)
    problems.push(`is in ${from}, which is missing in the order of scripts/check-imports.mjs`)
  if (environmentIn && !environmentIn.includes(from) && text.includes('process.env'))
    problems.push(`reads process.env; only ${environmentIn.join(' and ')} may`)
  for (const target of imports) {
    const to = roomOf(target)
    if (order && to !== from && rank(to) >= rank(from)) problems.push(`imports ${to}, which is not below ${from}`)
    if (importers[to] && !importers[to].includes(from))
      problems.push(`imports ${target}, which only ${importers[to].join(' and ')} may import`)
  }
  return problems
}

/** Circles of imports, at least one for each group of files that import each other; each ends where it begins. */
export function circles(files) {
  const importsByPath = new Map(files.map(({ path, imports }) => [path, imports]))
  const finished = new Set()
  const found = []
  const visit = (path, chain) => {
    if (chain.includes(path)) found.push([...chain.slice(chain.indexOf(path)), path])
    else if (importsByPath.has(path) && !finished.has(path)) {
      for (const target of importsByPath.get(path)) visit(target, [...chain, path])
      finished.add(path)
    }
  }
  for (const { path } of files) visit(path, [])
  return found
}

runIfMain(import.meta.url, importProblems)
