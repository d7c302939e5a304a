import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure } from './failure.ts'
import { isMissing } from './files.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const templates = here('../templates/agent')
const typescriptTemplates = here('../templates/typescript')

export const examples = ['echo', 'triage'] as const
export type Example = (typeof examples)[number]

/** In the package, a copy of the example; in a checkout, the example itself. */
async function javascriptOf(example: Example): Promise<string> {
  const packed = await readFile(here(`../templates/examples/${example}.js`), 'utf8').catch(() => undefined)
  return packed ?? readFile(here(`../../examples/${example}/agent.js`), 'utf8')
}

/** The smallest example needs no type annotation, so it is TypeScript as it is. */
const typescriptOf = (example: Example) =>
  example === 'echo' ? javascriptOf(example) : readFile(join(typescriptTemplates, `${example}.ts`), 'utf8')

/** npm does not pack files with these names, so the templates have others. */
const names: Record<string, string> = { gitignore: '.gitignore', 'env.example': '.env.example' }

export interface Project {
  name: string
  example: Example
  typescript: boolean
  /** The instance that the agent is for. */
  url: string
  /** What package.json requires of SDK and CLI: a URL, a version, or `file:` and a path. */
  sdk: string
  cli: string
}

/** Writes a new project. If a file exists already, writes nothing and throws. */
export async function writeProject(directory: string, project: Project): Promise<string[]> {
  const { name, example, typescript, url, sdk, cli } = project
  const main = typescript ? 'agent.ts' : 'agent.js'
  const files = (await readdir(templates)).map((file) => ({
    to: names[file] ?? file,
    read: () => readFile(join(templates, file), 'utf8'),
  }))
  files.push(
    { to: main, read: () => (typescript ? typescriptOf(example) : javascriptOf(example)) },
    { to: 'package.json', read: async () => packageJson(project, main) },
  )
  if (typescript) {
    files.push({ to: 'tsconfig.json', read: () => readFile(join(typescriptTemplates, 'tsconfig.json'), 'utf8') })
  }
  await refuseToOverwrite(directory, files)
  await mkdir(directory, { recursive: true })
  const written: string[] = []
  for (const { read, to } of files) {
    const values = Object.entries({ name, main, url, sdk, cli })
    const text = values.reduce((filled, [key, value]) => filled.replaceAll(`{{${key}}}`, value), await read())
    // wx: fails if the file was created in the meantime.
    await writeFile(join(directory, to), text, { flag: 'wx' })
    written.push(to)
  }
  return written
}

/** Whether this Node runs TypeScript by itself (22.18 and later). */
export const runsTypeScript = () => Boolean((process.features as { typescript?: unknown }).typescript)

function packageJson({ name, typescript, sdk, cli }: Project, main: string): string {
  const needsTsx = typescript && !runsTypeScript()
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    main,
    engines: { node: typescript && !needsTsx ? '>=22.18' : '>=20.19' },
    scripts: {
      start: `node ${needsTsx ? '--import tsx ' : ''}--env-file=.env ${main}`,
      dev: 'baton dev',
      ...(typescript && { check: 'tsc' }),
    },
    dependencies: { '@baton/sdk': sdk, ...(needsTsx && { tsx: '^4.23.15' }) },
    devDependencies: {
      '@baton/cli': cli,
      ...(typescript && { '@types/node': '^20.19.43', typescript: '^7.0.2' }),
    },
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

async function refuseToOverwrite(directory: string, files: { to: string }[]) {
  const there = await readdir(directory).catch((error) => {
    if (isMissing(error)) return [] as string[]
    throw new Failure(`${directory} cannot be used: ${(error as Error).message}`)
  })
  const taken = files.filter(({ to }) => there.includes(to)).map(({ to }) => to)
  if (taken.length === 0) return
  throw new Failure(`${directory} already contains ${taken.join(', ')}; nothing was written.`, {
    code: 'FILES_EXIST',
    advice: 'Choose another directory.',
  })
}
