import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Failure } from './failure.ts'
import { isMissing } from './files.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const templates = here('../templates/agent')

/** What a project can begin from. */
export const examples = ['echo', 'triage'] as const
export type Example = (typeof examples)[number]

/** Beside this command in its package; in a checkout, the examples themselves. */
async function sourceOf(example: Example): Promise<string> {
  const packed = await readFile(here(`../templates/examples/${example}.js`), 'utf8').catch(() => undefined)
  return packed ?? readFile(here(`../../examples/${example}/agent.js`), 'utf8')
}

/** npm keeps files of these names out of packages, so that they have others in ours. */
const names: Record<string, string> = { gitignore: '.gitignore', 'env.example': '.env.example' }

/** Writes a new project. A file that is there already stops it before anything is written. */
export async function writeProject(
  directory: string,
  example: Example,
  words: { name: string; sdk: string; cli: string },
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
    const filled = Object.entries(words).reduce((so, [key, word]) => so.replaceAll(`{{${key}}}`, word), text)
    // wx: also if somebody made it in the meantime.
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
  throw new Failure(`${directory} has ${taken.join(', ')} already; nothing was written.`, {
    code: 'FILES_EXIST',
    advice: 'Choose another directory.',
  })
}

/** What npm is to install: the release that is in use here, or in a checkout the directory itself. */
async function specOf(directory: string): Promise<string> {
  if (!directory.includes(`${sep}node_modules${sep}`)) return `file:${directory}`
  const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
  return `^${version}`
}

/** The SDK that goes with this command. */
export const sdkSpec = () => specOf(dirname(dirname(createRequire(import.meta.url).resolve('@baton/sdk'))))

/** This command itself. */
export const cliSpec = () => specOf(dirname(dirname(fileURLToPath(import.meta.url))))
