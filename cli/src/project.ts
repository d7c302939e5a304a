import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure } from './failure.ts'
import { isMissing } from './files.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const templates = here('../templates/agent')

export const examples = ['echo', 'triage'] as const
export type Example = (typeof examples)[number]

/** In the package, a copy of the example; in a checkout, the example itself. */
async function sourceOf(example: Example): Promise<string> {
  const packed = await readFile(here(`../templates/examples/${example}.js`), 'utf8').catch(() => undefined)
  return packed ?? readFile(here(`../../examples/${example}/agent.js`), 'utf8')
}

/** npm does not pack files with these names, so the templates have others. */
const names: Record<string, string> = { gitignore: '.gitignore', 'env.example': '.env.example' }

/** Writes a new project. If a file exists already, writes nothing and throws. */
export async function writeProject(
  directory: string,
  example: Example,
  values: { name: string; sdk: string; cli: string },
): Promise<string[]> {
  const files = (await readdir(templates)).map((file) => ({
    to: names[file] ?? file,
    read: () => readFile(join(templates, file), 'utf8'),
  }))
  files.push({ to: 'agent.js', read: () => sourceOf(example) })
  await refuseToOverwrite(directory, files)
  await mkdir(directory, { recursive: true })
  const written: string[] = []
  for (const { read, to } of files) {
    const text = await read()
    const filled = Object.entries(values).reduce((filled, [key, value]) => filled.replaceAll(`{{${key}}}`, value), text)
    // wx: fails if the file was created in the meantime.
    await writeFile(join(directory, to), filled, { flag: 'wx' })
    written.push(to)
  }
  return written
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

/** The version for package.json: that of this release, or in a checkout the directory. */
async function specOf(directory: string): Promise<string> {
  if (!directory.includes(`${sep}node_modules${sep}`)) return `file:${directory}`
  const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
  return `^${version}`
}

export const sdkSpec = () => specOf(dirname(dirname(createRequire(import.meta.url).resolve('@baton/sdk'))))

export const cliSpec = () => specOf(dirname(dirname(fileURLToPath(import.meta.url))))
