import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { Failure } from './failure.ts'
import { readIfExists, writePrivate } from './files.ts'

export type Settings = Record<string, string>

export async function readEnv(path: string): Promise<Settings> {
  return parseEnv((await readIfExists(path)) ?? '') as Settings
}

export const readEnvSync = (path: string) =>
  existsSync(path) ? (parseEnv(readFileSync(path, 'utf8')) as Settings) : {}

/** Sets these settings and keeps all other lines. The file gets mode 0600. */
export async function updateEnv(path: string, settings: Settings) {
  const lines = ((await readIfExists(path)) ?? '').split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (const [name, value] of Object.entries(settings)) {
    // Some values come from the service: a line feed could inject another setting.
    if (typeof value !== 'string' || /\p{Cc}/u.test(value))
      throw new Failure(`${name} cannot be written to ${path}: its value contains control characters.`)
    const line = `${name}=${value}`
    const at = lines.findIndex((one) => one.startsWith(`${name}=`))
    if (at < 0) lines.push(line)
    else lines[at] = line
  }
  await writePrivate(path, `${lines.join('\n')}\n`)
}
