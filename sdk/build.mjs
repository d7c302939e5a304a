// Makes dist/ stand alone: compiles, then puts plain files in the place of the two seams to the protocol.
//   dist/routes.*         a copy of the protocol's list of routes, which imports nothing
//   dist/operations.d.ts  every operation's types, written out from the schemas
import { execFileSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { declarations } from './declarations.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = fileURLToPath(new URL('dist', import.meta.url))
const protocol = join(root, 'protocol', 'dist')

execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', join(root, 'sdk')], {
  stdio: 'inherit',
})
copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
for (const file of ['routes.js', 'routes.d.ts']) copyWithoutMap(join(protocol, file), join(dist, file))
const part = (name) => import(new URL(`../protocol/dist/${name}.js`, import.meta.url))
const { api, errors } = await part('index')
const sessions = await part('agent-sessions')
const text = declarations(api, {
  ErrorCode: { enum: Object.keys(errors) },
  EndReason: sessions.EndReason,
  SessionState: sessions.SessionState,
  PlanItem: sessions.PlanItem,
  ExternalUrl: sessions.ExternalUrl,
  IssueData: (await part('issues')).IssueData,
  CommentData: (await part('comments')).CommentData,
  ProjectData: (await part('projects')).ProjectData,
})
writeFileSync(join(dist, 'operations.d.ts'), text)
for (const file of readdirSync(dist).filter((name) => name.endsWith('.d.ts'))) namingTheBuilt(join(dist, file))
check(text)

/** Declarations name the sources, which are not packed. */
function namingTheBuilt(path) {
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace(/(from |import\()(["']\.[^"']*)\.ts(["'])/g, '$1$2.js$3'))
}

function copyWithoutMap(from, to) {
  copyFileSync(from, to)
  writeFileSync(to, readFileSync(to, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n'))
}

/** Whatever the sources export is in the declarations, and nothing in dist needs another package. */
function check(written) {
  const source = readFileSync(new URL('src/operations.ts', import.meta.url), 'utf8')
  const [, list = ''] = source.match(/export type \{([^}]*)\}/) ?? []
  const names = list.split(',').map((item) => item.trim().split(' as ').at(-1))
  for (const name of [...names.filter(Boolean), 'NewAgentActivity', 'Operations']) {
    if (!new RegExp(`export (interface|type) ${name}\\b`).test(written)) throw new Error(`${name} was not written`)
  }
  for (const file of readdirSync(dist).filter((name) => /\.(js|d\.ts)$/.test(name))) {
    const foreign = readFileSync(join(dist, file), 'utf8').match(/(?:from|import\()\s*["'](?!\.|node:)[^"']+/)
    if (foreign) throw new Error(`dist/${file} needs another package: ${foreign[0]}`)
  }
}
