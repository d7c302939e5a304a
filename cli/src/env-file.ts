import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { Failure } from './failure.ts'
import { readIfThere, writePrivate } from './files.ts'

export type Settings = Record<string, string>

export async function readEnv(path: string): Promise<Settings> {
  return parseEnv((await readIfThere(path)) ?? '') as Settings
}

/** For where nothing can be waited for. */
export const readEnvNow = (path: string) => (existsSync(path) ? (parseEnv(readFileSync(path, 'utf8')) as Settings) : {})

/** Changes these settings and leaves every other line as it is. Only the owner can read the file afterwards. */
export async function changeEnv(path: string, settings: Settings) {
  const lines = ((await readIfThere(path)) ?? '').split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (const [name, value] of Object.entries(settings)) {
    // Some come from the service: a line feed in one would make a setting of its choice.
    if (typeof value !== 'string' || /\p{Cc}/u.test(value)) throw new Failure(`${name} cannot be written to ${path}.`)
    const line = `${name}=${value}`
    const at = lines.findIndex((one) => one.startsWith(`${name}=`))
    if (at < 0) lines.push(line)
    else lines[at] = line
  }
  await writePrivate(path, `${lines.join('\n')}\n`)
}
