// Writes the package to the directory given: it contains what it needs of the protocol and of the event stream parser,
// and depends on nothing. It leaves sdk/dist unchanged, which the compiler believes to be its own.
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { importBuiltFiles } from '../scripts/built-files.mjs'
import { declarations } from './declarations.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const [target] = process.argv.slice(2)
const dist = join(target, 'dist')
const protocol = join(root, 'protocol', 'dist')

execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', join(root, 'sdk')], {
  stdio: 'inherit',
})
rmSync(target, { recursive: true, force: true })
mkdirSync(dist, { recursive: true })
const isPacked = (path) => !/\.(map|tsbuildinfo)$/.test(path)
cpSync(join(root, 'sdk', 'dist'), dist, { recursive: true, filter: isPacked })
copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
copyFileSync(join(root, 'sdk', 'README.md'), join(target, 'README.md'))
const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(root, 'sdk', 'package.json'), 'utf8'))
writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
for (const file of ['routes.js', 'routes.d.ts']) writeWithoutMap(join(protocol, file), join(dist, file))
includeEventSourceParser()
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
importBuiltFiles(dist)
check(text)

/** Copies the library, one file without imports, with its license, and makes our import name the copy. */
function includeEventSourceParser() {
  const library = createRequire(import.meta.url).resolve('eventsource-parser/package.json')
  const license = readFileSync(join(dirname(library), 'LICENSE'), 'utf8')
  const { version } = JSON.parse(readFileSync(library, 'utf8'))
  const heading = `/*!\neventsource-parser ${version}\n\n${license}*/\n`
  writeWithoutMap(join(dirname(library), 'dist', 'index.js'), join(dist, 'eventsource-parser.js'), heading)
  const importer = join(dist, 'event-stream.js')
  const importing = readFileSync(importer, 'utf8')
  writeFileSync(importer, importing.replace("from 'eventsource-parser'", "from './eventsource-parser.js'"))
}

function writeWithoutMap(from, to, heading = '') {
  writeFileSync(to, heading + readFileSync(from, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n'))
}

/** Every exported type must have been printed, and no file may import another package. */
function check(printed) {
  const source = readFileSync(new URL('src/operations.ts', import.meta.url), 'utf8')
  const [, list = ''] = source.match(/export type \{([^}]*)\}/) ?? []
  const names = list.split(',').map((item) => item.trim().split(' as ').at(-1))
  for (const name of [...names.filter(Boolean), 'NewAgentActivity', 'Operations']) {
    if (!new RegExp(`export (interface|type) ${name}\\b`).test(printed)) throw new Error(`${name} was not printed`)
  }
  for (const file of readdirSync(dist).filter((name) => /\.(js|d\.ts)$/.test(name))) {
    const foreign = readFileSync(join(dist, file), 'utf8').match(/(?:from|import\()\s*["'](?!\.|node:)[^"']+/)
    if (foreign) throw new Error(`dist/${file} imports another package: ${foreign[0]}`)
  }
}
