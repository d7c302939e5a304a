import { homedir } from 'node:os'
import { join } from 'node:path'
import { Failure } from './failure.ts'
import { readIfExists, writePrivate } from './files.ts'

/** A login at one URL. */
export interface Login {
  email: string
  token: string
  workspace: { id: string; name: string } | null
}

interface Config {
  /** The URL of the latest login. */
  current: string | null
  logins: Record<string, Login>
}

type Env = Record<string, string | undefined>

export function configDirectory(env: Env = process.env, platform = process.platform): string {
  if (platform === 'win32') return join(env.APPDATA || join(homedir(), 'AppData', 'Roaming'), 'baton')
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'baton')
}

const path = () => join(configDirectory(), 'config.json')

export async function readConfig(): Promise<Config> {
  const text = await readIfExists(path())
  if (text === null) return { current: null, logins: {} }
  try {
    const { current, logins } = JSON.parse(text)
    return { current: current ?? null, logins: { ...logins } }
  } catch {
    throw new Failure(`${path()} is not valid JSON.`, { advice: 'Delete it and log in again.' })
  }
}

export const writeConfig = (config: Config) =>
  writePrivate(path(), `${JSON.stringify(config, null, 2)}\n`, configDirectory())
